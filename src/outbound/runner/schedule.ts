// When a delivery that was put off is tried again (decisions §6.2).

import { randomInt } from 'node:crypto'
import type { ClockDoubt } from '../../base/clock-guard.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Pauses after the first, second, third… try; the last one for all that follow. The example of decisions §9.4 counts this way. */
const PAUSES_MS = [1, 5, 15, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS)
/** A tenth more or less, so that what failed together does not come back together. */
const JITTER = 0.1
/** A try that was due at the end of the lifetime is still made when the appliance was away for a moment. */
const LATE_MS = HOUR_MS

/** @param random 0…1, for tests; by chance unless given. @returns ms, never after `expiresAt` */
export function nextTry(
  attempts: number,
  now: number,
  expiresAt: number,
  random: number = randomInt(1_000_000) / 1e6,
): number {
  const pause = PAUSES_MS[Math.min(Math.max(attempts, 1), PAUSES_MS.length) - 1]!
  return Math.min(Math.round(now + pause * (1 - JITTER + 2 * JITTER * random)), expiresAt)
}

/** True when the last try has been made: what it was told is final. */
export function wasLastTry(now: number, expiresAt: number): boolean {
  return now >= expiresAt
}

/** True when it is too late for another try. */
export function isExpired(now: number, expiresAt: number): boolean {
  return now > expiresAt + LATE_MS
}

/** When (ms) the lifetime of an email ends: never while the clock is in doubt. */
export function endOf({ guard }: { guard: ClockDoubt }, { expiresAt }: { expiresAt: number }): number {
  return guard.isHeld() ? Number.POSITIVE_INFINITY : expiresAt
}
