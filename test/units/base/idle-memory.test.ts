// Garbage is collected once in each idle period of a thread.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { collectWhenIdle } from '../../../src/base/idle-memory.ts'

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

test('the flags of V8 stay as they are: the compile cache holds code of the same flags only', () => {
  const before = runInNewContext('typeof gc')
  collectWhenIdle()
  assert.deepEqual([before, runInNewContext('typeof gc')], ['undefined', 'undefined'])
})
