// Pools of worker threads: tasks after their threads ended, and after the pool was closed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
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
