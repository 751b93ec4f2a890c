// The monotonic clock: it includes suspend, only grows, and reads the uptime seldom.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UptimeClock } from '../../../src/base/clock.ts'
import { DAY_MS } from '../../../src/base/durations.ts'

test('the uptime is read seldom, and a suspend counts from the next reading on', () => {
  let [uptime, awake, readings] = [5000, 10, 0]
  const clock = new UptimeClock(
    () => {
      readings++
      // In steps of 10 ms.
      return Math.floor(uptime / 10) * 10
    },
    () => awake,
    () => awake,
  )
  const pass = (ms: number) => {
    uptime += ms
    awake += ms
    return clock.ms()
  }
  assert.equal(pass(3), 5000)
  const times = Array.from({ length: 400 }, () => pass(0.7))
  assert.ok(times.every((time, at) => at === 0 || time >= times[at - 1]!))
  assert.ok(Math.abs(times.at(-1)! - uptime) <= 10)
  assert.equal(readings, 3)
  uptime += 3_600_000
  assert.ok(Math.abs(pass(100) - uptime) <= 10)
})

test('behind a suspend the uptime is read at once: the clock guard would take an old reading for a jump of the system clock', () => {
  let [uptime, system] = [5000, Date.UTC(2026, 0, 1)]
  const clock = new UptimeClock(
    () => uptime,
    () => 10,
    () => system,
  )
  assert.equal(clock.ms(), 5000)
  uptime += 3 * DAY_MS
  system += 3 * DAY_MS
  assert.equal(clock.ms(), uptime)
})
