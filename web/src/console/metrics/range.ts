// Which time the page of metrics shows, from the address: the last days, or days that were chosen.

import type { Interval } from '../../panels/time-chart.tsx'
import type { Filters } from '../../parts/filters.tsx'
import { metrics as words } from '../../words/en/metrics.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const USUAL_DAYS = '7'
/** The API gives hours for 14 days. */
const HOURLY_DAYS = 14
const MOST_DAYS = 400

export interface Range {
  /** A number of days; null for days that were chosen. */
  days: string | null
  /** As the API takes them; null: until now. */
  after: string
  before: string | null
  /** Intervals that the API gives for it. */
  intervals: readonly Interval[]
  interval: Interval
  /** Points of the API in one point of the chart. */
  grouped: number
}

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

/** The day after a day, `2030-05-14`. */
const nextDay = (day: string) => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)

/** Rounded to the hour, so that the same question is asked for a while. */
export function rangeOf(filters: Filters, now = Date.now()): Range {
  const [from, to] = [filters.get('from'), filters.get('to')]
  const isChosen = isDay(from) && isDay(to) && from <= to
  const wanted = filters.get('days') ?? USUAL_DAYS
  const days = wanted in words.spans ? wanted : USUAL_DAYS
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS
  const length = isChosen ? Math.min(MOST_DAYS, (Date.parse(to) - Date.parse(from)) / DAY_MS + 1) : Number(days)
  // A tag is counted by whole days.
  const isHourly = length <= HOURLY_DAYS && filters.get('tag') === undefined
  const intervals: Interval[] = [...(isHourly ? ['hour' as const] : []), 'day', 'week', 'month']
  const usual: Interval = isHourly && length <= 7 ? 'hour' : length <= 100 ? 'day' : 'week'
  const interval = intervals.find((one) => one === filters.get('interval')) ?? usual
  return {
    days: isChosen ? null : days,
    after: isChosen ? from : new Date(hour - length * DAY_MS).toISOString(),
    before: isChosen ? nextDay(to) : null,
    intervals,
    interval,
    grouped: interval === 'hour' && length > 2 && filters.get('interval') === undefined ? 3 : 1,
  }
}
