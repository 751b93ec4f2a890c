// Callbacks of a signal: each runs once, unless it was removed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onAbort } from '../../../src/base/on-abort.ts'

test('callbacks run once when the signal aborts, in their order, and removed ones do not', () => {
  const controller = new AbortController()
  const ran: string[] = []
  const removed = onAbort(controller.signal, () => ran.push('removed'))
  onAbort(controller.signal, () => ran.push('first'))
  const removedMeanwhile = onAbort(controller.signal, () => ran.push('removed by the first'))
  removed()
  onAbort(controller.signal, () => {
    removedLater()
    ran.push('last')
  })
  const removedLater = onAbort(controller.signal, () => ran.push('removed by one before'))
  removedMeanwhile()
  controller.abort()
  controller.abort()
  assert.deepEqual(ran, ['first', 'last'])
})

test('one listener of the signal stands for all callbacks', () => {
  const controller = new AbortController()
  let listeners = 0
  const { signal } = controller
  const add = signal.addEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++
    add(...args)
  }
  for (let n = 0; n < 10; n++) onAbort(signal, () => {})
  assert.equal(listeners, 1)
})
