// Garbage is collected once in each idle period of a thread.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { collectWhenIdle } from '../../../src/base/idle-memory.ts'
import { ROOT } from '../../support/source.ts'

test('an idle thread collects its garbage once, and again after the next burst', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let busyMs = 5000
  let collections = 0
  collectWhenIdle({ busyMs: () => busyMs, collect: () => collections++ })
  const pass = (used: number) => {
    busyMs += used
    t.mock.timers.tick(10_000)
    return collections
  }
  assert.deepEqual([pass(1000), pass(500), pass(200)], [0, 0, 0], 'a busy thread has no time for it')
  assert.deepEqual([pass(199), pass(0), pass(150), pass(0)], [0, 1, 1, 1])
  assert.deepEqual([pass(3000), pass(10), pass(10), pass(10)], [1, 1, 2, 2])
})

test('threads that start together each have a collector, where the process was started with it', async () => {
  const file = new URL('../../../src/base/idle-memory.ts', import.meta.url).href
  const start = `import(${JSON.stringify(file)}).then(({ collectWhenIdle }) => { collectWhenIdle(); process.stdout.write(typeof gc + '\\n') })`
  const script = `const { Worker } = require('node:worker_threads')
    for (let n = 0; n < 24; n++) new Worker(${JSON.stringify(start)}, { eval: true })`
  const run = async (options: string) => {
    const env = { ...process.env, NODE_OPTIONS: options }
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env })
    return stdout.trim().split('\n')
  }
  assert.deepEqual(await run('--expose-gc'), Array(24).fill('function'))
  assert.deepEqual(await run(''), Array(24).fill('undefined'), 'and starts without it as well')
})

test('everything that starts the appliance starts it with the collector', async () => {
  for (const path of ['scripts/run.js', 'Dockerfile', 'bench/mailstead.ts'])
    assert.match(await readFile(join(ROOT, path), 'utf8'), /NODE_OPTIONS\b.*--expose-gc/, path)
})
