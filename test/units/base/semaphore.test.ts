// A shared amount is never exceeded, nobody is forgotten, and who asks for too much gets the whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Semaphore } from '../../../src/base/semaphore.ts'

test('takes what is left and no more', () => {
  const semaphore = new Semaphore(10)
  assert.equal(semaphore.tryAcquire(7), true)
  assert.equal(semaphore.tryAcquire(4), false)
  assert.equal(semaphore.tryAcquire(3), true)
  semaphore.release(10)
  assert.equal(semaphore.free, 10)
})

test('work waits in order, a failure gives back what it took', async () => {
  const semaphore = new Semaphore(10)
  const order: string[] = []
  let atWork = 0
  let most = 0
  const job = (name: string, amount: number, fail = false) =>
    semaphore.during(amount, async () => {
      atWork += Math.min(amount, 10)
      most = Math.max(most, atWork)
      await turn()
      order.push(name)
      atWork -= Math.min(amount, 10)
      if (fail) throw new Error(name)
    })
  const jobs = [job('a', 6), job('b', 6, true), job('c', 4), job('huge', 1000), job('d', 1)]
  const ends = await Promise.allSettled(jobs)
  assert.deepEqual(order, ['a', 'b', 'c', 'huge', 'd'])
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  assert.ok(most <= 10)
  assert.equal(semaphore.free, 10)
})
