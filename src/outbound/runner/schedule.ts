// The retry schedule of deferred deliveries (docs/design/sending.md §7).

import { randomInt } from 'node:crypto'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'

/** Pauses after the first, second, third… attempt; the last one repeats. Matches the example of docs/design/events.md §4. */
const PAUSES_MS = [1, 5, 15, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS)
/** Random share of the pause, so that deliveries that failed together do not retry together. */
const JITTER = 0.1
/** The last attempt is still made this long after the end of the lifetime, because the appliance may have been down. */
const LATE_MS = HOUR_MS

/** @param random 0…1, given by tests only. @returns ms, never after `expiresAt` */
export function nextAttemptAt(
  attempts: number,
  now: number,
  expiresAt: number,
  random: number = randomInt(1_000_000) / 1e6,
): number {
  const pause = PAUSES_MS[Math.min(Math.max(attempts, 1), PAUSES_MS.length) - 1]!
  return Math.min(Math.round(now + pause * (1 - JITTER + 2 * JITTER * random)), expiresAt)
}

/** True when the last attempt has been made: its reply is final. */
export function wasLastAttempt(now: number, expiresAt: number): boolean {
  return now >= expiresAt
}

/** True when it is too late for another attempt. */
export function isExpired(now: number, expiresAt: number): boolean {
  return now > expiresAt + LATE_MS
}

/** When (ms) the lifetime of a message ends: never while the clock is in doubt. */
export function expiryOf({ guard }: { guard: ClockDoubt }, { expiresAt }: { expiresAt: number }): number {
  return guard.isHeld() ? Number.POSITIVE_INFINITY : expiresAt
}
