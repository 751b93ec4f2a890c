// Pools of worker threads: tasks after their threads ended, and after the pool was closed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { ThreadPool } from '../../../src/base/thread-pool.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import type { BodyTask } from '../../../src/workers/body-thread.ts'

const file = new URL('../../../src/workers/body-thread.ts', import.meta.url)
const bytes = Buffer.from('Subject: x\r\n\r\nHello there.\r\n')
const task: BodyTask = { bytes, root: parseMessage(bytes).structure! }

test('a task runs after the threads were ended; a closed pool rejects tasks and starts no thread', async () => {
  const pool = new ThreadPool<BodyTask, string>({ file, idleMs: 60_000 })
  assert.match(await pool.run(task), /Hello there/)
  await pool.endThreads()
  assert.match(await pool.run(task), /Hello there/)
  await pool.close()
  await assert.rejects(pool.run(task), /closed/)
})

test('a closed pool has no thread left, also of those that were idle', async () => {
  const started = Promise.withResolvers<Worker>()
  process.once('worker', started.resolve)
  const pool = new ThreadPool<BodyTask, string>({ file, idleMs: 1 })
  await pool.run(task)
  const thread = await started.promise
  const isEnding = Promise.withResolvers<void>()
  const terminate = thread.terminate.bind(thread)
  thread.terminate = () => {
    isEnding.resolve()
    return terminate()
  }
  await isEnding.promise
  await pool.finish()
  assert.equal(thread.threadId, -1)
})
