// The retry schedule of webhook deliveries (docs/design/events.md §5).

import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'

const SECOND_MS = 1000

/** The first attempt and seven retries. */
export const ATTEMPTS_MAX = 8
/** No attempt starts later than this after the event, ms. */
export const LIFETIME_MS = 24 * HOUR_MS
/** Upper bound of Retry-After, ms. */
const RETRY_AFTER_MAX_MS = 6 * HOUR_MS
const JITTER = 0.1

/** The pause before attempt 2, 3, … 8. */
const PAUSES = [30 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 4 * HOUR_MS, 7 * HOUR_MS, 10 * HOUR_MS]

/**
 * @param attempt the attempt that has just failed, from 1
 * @param requested the Retry-After of the response, ms; 0 without one
 * @param random 0 to 1
 * @returns the time of the next attempt, null when there is none
 */
export function nextAttemptAt(
  attempt: number,
  now: number,
  endsAt: number,
  requested: number,
  random: number,
): number | null {
  const pause = PAUSES[attempt - 1]
  if (attempt >= ATTEMPTS_MAX || pause === undefined || now >= endsAt) return null
  const own = Math.round(pause * (1 - JITTER + 2 * JITTER * random))
  return Math.min(now + Math.max(own, Math.min(requested, RETRY_AFTER_MAX_MS)), endsAt)
}

/** Retry-After in ms: seconds or a date (RFC 9110 §10.2.3); 0 when absent or invalid. */
export function retryAfterMs(value: string | null, now: number): number {
  if (value === null) return 0
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim()) * SECOND_MS
  const date = Date.parse(value)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
