// When certificates are ordered, polled and renewed, and the limits of orders (docs/design/internet.md §2).

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts'

/** Pauses after failures in a row. */
const PAUSES_MS = [1, 5, 15, 60, 180, 360, 720, 1440].map((minutes) => minutes * MINUTE_MS)
const PAUSE_SPREAD = 0.2
/** Failures of one set of names within an hour before it waits for the hour to pass. */
export const FAILURES_AN_HOUR = 3
/** Certificates for one set of names in a week. */
export const ISSUED_A_WEEK = 3
const WEEK_MS = 7 * DAY_MS
/** Times of failures that are kept. */
export const FAILURES_KEPT = 5
/** A certificate with a shorter life is renewed after half of it. */
const SHORT_LIFE_MS = 10 * DAY_MS
/** Share of the life by which a renewal comes earlier, at most. */
const RENEWAL_SPREAD = 0.05
const POLL_FIRST_MS = 2000
const POLL_MAX_MS = MINUTE_MS
/** How often the authority is asked for its suggestion, unless it says (RFC 9773 §4.3.2), and the bounds of what it says. */
const ARI_EVERY_MS = 6 * HOUR_MS
const ARI_MIN_MS = MINUTE_MS
const ARI_MAX_MS = DAY_MS

/** The pause after so many failures in a row, ms. @param random 0 to 1 */
export function pauseAfter(failures: number, random: number): number {
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? PAUSES_MS[0]!
  return Math.round(pause * (1 - PAUSE_SPREAD + 2 * PAUSE_SPREAD * random))
}

/** The earliest time of another order after these failures, ms. */
export function afterFailures(failedAt: readonly number[], now: number): number {
  const recent = failedAt.filter((at) => at > now - HOUR_MS).toSorted((a, b) => a - b)
  return recent.length < FAILURES_AN_HOUR ? now : recent.at(-FAILURES_AN_HOUR)! + HOUR_MS
}

/** The earliest time of another certificate for a set of names that was issued at these times, ms. */
export function afterIssues(issuedAt: readonly number[], now: number): number {
  const recent = issuedAt.filter((at) => at > now - WEEK_MS).toSorted((a, b) => a - b)
  return recent.length < ISSUED_A_WEEK ? now : recent.at(-ISSUED_A_WEEK)! + WEEK_MS
}

/** When a certificate is renewed without a suggestion, ms: at two thirds of its life, spread so that many do not come together. */
export function renewalAt({ notBefore, notAfter }: { notBefore: number; notAfter: number }, random: number): number {
  const life = notAfter - notBefore
  const share = life < SHORT_LIFE_MS ? 1 / 2 : 2 / 3
  return Math.round(notBefore + life * (share - RENEWAL_SPREAD * random))
}

/** A time in the suggested window (RFC 9773 §4.2). */
export function renewalIn({ start, end }: { start: number; end: number }, random: number): number {
  return Math.round(start + (end - start) * random)
}

/** When the authority is asked again, ms. @param retryAt what its Retry-After says */
export function suggestionAt(retryAt: number | null, now: number): number {
  if (retryAt === null) return now + ARI_EVERY_MS
  return Math.min(Math.max(retryAt, now + ARI_MIN_MS), now + ARI_MAX_MS)
}

/** When an order is looked at again, ms. @param polls so far */
export function pollAt(polls: number, retryAt: number | null, now: number): number {
  const pause = Math.min(POLL_FIRST_MS * 2 ** Math.min(polls, 10), POLL_MAX_MS)
  return Math.max(now + pause, retryAt ?? 0)
}
