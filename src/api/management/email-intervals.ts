// Hours, days, weeks and months in UTC: splits a range at their boundaries.

import { HOUR_MS } from '../../base/durations.ts'
import type { Span } from '../../store/log/reports.ts'

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

const DAY = 24
const WEEK = 7 * DAY
/** 1970-01-01 was a Thursday; weeks begin on Monday (ISO 8601). */
const FIRST_MONDAY = 4 * DAY

/** The intervals of a range, oldest first; the first and the last are cut at its ends. */
export function cut({ from, to }: Span, interval: Interval): Span[] {
  const spans: Span[] = []
  for (let start = from; start < to; ) {
    const end = Math.min(nextAfter(start, interval), to)
    spans.push({ from: start, to: end })
    start = end
  }
  return spans
}

/** The end of the interval an hour belongs to. */
function nextAfter(hour: number, interval: Interval): number {
  switch (interval) {
    case 'hour':
      return hour + 1
    case 'day':
      return (Math.floor(hour / DAY) + 1) * DAY
    case 'week':
      return (Math.floor((hour - FIRST_MONDAY) / WEEK) + 1) * WEEK + FIRST_MONDAY
    case 'month': {
      const date = new Date(hour * HOUR_MS)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / HOUR_MS
    }
  }
}
