// Under pressure, threads that have allocated much collect their garbage, with pauses; V8 decides alone while there is memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectUnderPressure } from '../../../src/base/memory-pressure.ts'

const MIB = 1024 * 1024

test('a thread collects while the process is near its memory, and only if it has something to give back', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const use = { process: 100 * MIB, thread: 60 * MIB }
  let collections = 0
  const collect = () => {
    collections++
    use.thread = 30 * MIB
  }
  collectUnderPressure({ usage: () => use, memory: 512 * MIB, collect })
  const pass = (process: number, thread: number) => {
    Object.assign(use, { process: process * MIB, thread: thread * MIB })
    t.mock.timers.tick(2000)
    return collections
  }
  assert.deepEqual([pass(200, 90), pass(280, 90)], [0, 0], 'there is memory')
  assert.equal(pass(300, 90), 1)
  assert.deepEqual([pass(300, 90), pass(300, 90), pass(300, 90), pass(300, 90)], [1, 1, 1, 1], 'it pauses')
  assert.equal(pass(300, 90), 2)
  assert.deepEqual([1, 2, 3, 4, 5, 6].map(() => pass(380, 37)).at(-1), 2, 'there is nothing to give back')
  assert.equal(pass(380, 38), 3)
  assert.deepEqual([pass(390, 90), pass(390, 90), pass(390, 90)], [3, 3, 3], 'it pauses below three quarters')
})

test('a thread of a process that has hardly any memory left collects at each look', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let thread = 0
  let collections = 0
  const collect = () => {
    collections++
    thread = 30 * MIB
  }
  collectUnderPressure({ usage: () => ({ process: 400 * MIB, thread }), memory: 512 * MIB, collect })
  for (let look = 0; look < 3; look++) {
    thread = 90 * MIB
    t.mock.timers.tick(2000)
  }
  assert.equal(collections, 3)
})

test('a process that was started without a collector is left alone', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const usage = () => assert.fail('it looked')
  collectUnderPressure({ usage, memory: MIB, collect: undefined })
  t.mock.timers.tick(10_000)
})
