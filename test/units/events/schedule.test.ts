// The retry schedule of webhooks: eight attempts within a day, with jitter and Retry-After.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ATTEMPTS_MAX, LIFETIME_MS, nextAttemptAt, retryAfterMs } from '../../../src/events/webhooks/schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Offsets of all tries when each fails at once. */
function offsets(random: number, asked = 0): number[] {
  const times = [0]
  for (let attempt = 1; ; attempt++) {
    const next = nextAttemptAt(attempt, times.at(-1)!, LIFETIME_MS, asked, random)
    if (next === null) return times
    times.push(next)
  }
}

test('the nominal schedule is the specified one', () => {
  const expected = [0, 0.5, 5.5, 35.5, 155.5, 395.5, 815.5, 1415.5].map((minutes) => minutes * MINUTE)
  assert.deepEqual(offsets(0.5), expected)
})

test('jitter changes a pause by at most a tenth, and no attempt starts after a day', () => {
  assert.equal(offsets(0)[1], 27_000)
  assert.equal(offsets(1)[1], 33_000)
  for (const random of [0, 0.25, 1 / 3, 0.75, 1]) {
    const times = offsets(random)
    assert.equal(times.length, ATTEMPTS_MAX)
    assert.ok(times.at(-1)! <= LIFETIME_MS)
    assert.ok(times.every(Number.isInteger))
  }
})

test('Retry-After can lengthen a pause, up to six hours, but never shorten it', () => {
  assert.equal(nextAttemptAt(1, 0, LIFETIME_MS, 2 * HOUR, 0.5), 2 * HOUR)
  assert.equal(nextAttemptAt(1, 0, LIFETIME_MS, 30 * HOUR, 0.5), 6 * HOUR)
  assert.equal(nextAttemptAt(4, 0, LIFETIME_MS, 1000, 0.5), 2 * HOUR)
  assert.equal(nextAttemptAt(7, 20 * HOUR, LIFETIME_MS, 6 * HOUR, 0.5), LIFETIME_MS)
  assert.equal(nextAttemptAt(3, LIFETIME_MS, LIFETIME_MS, 0, 0.5), null)
})

test('Retry-After is parsed as seconds or as a date', () => {
  const now = Date.UTC(2030, 0, 1)
  assert.equal(retryAfterMs('120', now), 120_000)
  assert.equal(retryAfterMs(' 7 ', now), 7000)
  assert.equal(retryAfterMs('Tue, 01 Jan 2030 00:10:00 GMT', now), 10 * MINUTE)
  for (const nothing of [null, '', 'soon', '-5', '1e9', '99999999999', 'Mon, 01 Jan 2029 00:00:00 GMT']) {
    assert.equal(retryAfterMs(nothing, now), 0, String(nothing))
  }
})
