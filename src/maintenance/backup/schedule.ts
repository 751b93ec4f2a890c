// When backups are due, and when the last one is too old. Without input or output.

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'

/** Without a schedule backups are made by hand: once a week at least. */
const UNSCHEDULED_MAX_MS = 7 * DAY_MS
/** A backup may take a part of its interval before the next one counts as missing. */
const SLACK = 1.5

/** @param times of the day in UTC, such as 03:15 @returns ms from midnight, in order */
function offsetsOf(times: readonly string[]): number[] {
  const offsets = times.map((time) => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * MINUTE_MS)
  return [...new Set(offsets)].sort((a, b) => a - b)
}

/** The last moment at or before `now` at which a backup was due, ms; null without a schedule. */
export function dueAt(times: readonly string[], now: number): number | null {
  const offsets = offsetsOf(times)
  if (offsets.length === 0) return null
  const midnight = Math.floor(now / DAY_MS) * DAY_MS
  const today = offsets.findLast((offset) => midnight + offset <= now)
  return today === undefined ? midnight - DAY_MS + offsets.at(-1)! : midnight + today
}

/** The next moment after `now` at which one is due, ms; null without a schedule. */
export function nextAt(times: readonly string[], now: number): number | null {
  const offsets = offsetsOf(times)
  if (offsets.length === 0) return null
  const midnight = Math.floor(now / DAY_MS) * DAY_MS
  const today = offsets.find((offset) => midnight + offset > now)
  return today === undefined ? midnight + DAY_MS + offsets[0]! : midnight + today
}

interface Lateness {
  times: readonly string[]
  lastGood: { at: number } | null
  /** Whether the last attempt failed. */
  hasFailed: boolean
  /** ms */
  now: number
}

/** Whether a backup is missing. The first one of a schedule is missing when it has failed. */
export function isLate({ times, lastGood, hasFailed, now }: Lateness): boolean {
  if (lastGood === null) return times.length > 0 && hasFailed
  return now - lastGood.at > ageMax(times)
}

/** How old the last good backup may be, ms. */
function ageMax(times: readonly string[]): number {
  const offsets = offsetsOf(times)
  if (offsets.length === 0) return UNSCHEDULED_MAX_MS
  const gaps = offsets.map((offset, index) => (offsets[index + 1] ?? offsets[0]! + DAY_MS) - offset)
  return SLACK * Math.max(...gaps)
}
