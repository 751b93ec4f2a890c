// The retry schedule of webhook deliveries (decisions §9.5).

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The first attempt and seven retries. */
export const ATTEMPTS_MAX = 8
/** No attempt starts later than this after the event, ms. */
export const LIFETIME_MS = 24 * HOUR
/** Upper bound of Retry-After, ms. */
const RETRY_AFTER_MAX_MS = 6 * HOUR
const JITTER = 0.1

/** The pause before attempt 2, 3, … 8. */
const PAUSES = [30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 4 * HOUR, 7 * HOUR, 10 * HOUR]

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
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim()) * SECOND
  const date = Date.parse(value)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
