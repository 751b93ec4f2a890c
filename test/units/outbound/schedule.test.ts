// When a mail that was put off is tried again: the decided pauses, a tenth more or less, never after its two days.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isExpired, nextAttemptAt, wasLastAttempt } from '../../../src/outbound/runner/outcomes.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const LIFETIME = 48 * HOUR

/** Times of all tries when each is put off at once, in minutes. */
function tries(random: number): number[] {
  const times = [0]
  while (!wasLastAttempt(times.at(-1)!, LIFETIME))
    times.push(nextAttemptAt(times.length, times.at(-1)!, LIFETIME, random))
  return times.map((time) => time / MINUTE)
}

test('pauses grow from a minute to six hours, and the last try is at the end of two days', () => {
  const times = tries(0.5)
  assert.deepEqual(times.slice(0, 9), [0, 1, 6, 21, 51, 111, 231, 471, 831])
  const pauses = times.slice(9, -1).map((time, i) => time - times[i + 8]!)
  assert.ok(pauses.every((pause) => pause === 360))
  assert.equal(times.at(-1), 48 * 60)
})

test('chance moves a pause by a tenth, and no try is after the end', () => {
  assert.equal(nextAttemptAt(1, 0, LIFETIME, 0), 0.9 * MINUTE)
  assert.equal(nextAttemptAt(1, 0, LIFETIME, 1), 1.1 * MINUTE)
  for (const random of [0, 1 / 3, 0.7, 1]) {
    const times = tries(random)
    assert.ok(times.every((time) => Math.abs(Math.round(time * MINUTE) - time * MINUTE) < 1e-6 && time <= 48 * 60))
  }
  assert.equal(nextAttemptAt(99, LIFETIME - HOUR, LIFETIME, 0.5), LIFETIME)
})

test('a try that is a little late is still made; much later it is too late', () => {
  assert.equal(isExpired(LIFETIME, LIFETIME), false)
  assert.equal(isExpired(LIFETIME + HOUR, LIFETIME), false)
  assert.equal(isExpired(LIFETIME + HOUR + 1, LIFETIME), true)
})
