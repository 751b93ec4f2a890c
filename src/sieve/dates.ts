// Parts of dates as scripts test them (RFC 5260 §4).

import { DAY_MS, MINUTE_MS } from '../base/durations.ts'
import { parseZonedDate } from '../mime/date.ts'

/** RFC 5260 §4.2. */
export const DATE_PARTS = [
  ...[
    'year',
    'month',
    'day',
    'date',
    'julian',
    'hour',
    'minute',
    'second',
    'time',
    'iso8601',
    'std11',
    'zone',
    'weekday',
  ],
] as const

/** A time zone: minutes east of UTC; `original` is that of the field. */
export type SieveZone = number | 'original'

const ZONE = /^([+-])([0-9]{2})([0-5][0-9])$/
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** Days from 17 November 1858, the start of the modified Julian day, to 1970. */
const JULIAN_1970 = 40_587

/** `+0100` as minutes; null for other text. */
export function readZone(text: string): number | null {
  const [, sign, hours, minutes] = ZONE.exec(text) ?? []
  if (sign === undefined) return null
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** The date in the value of a field, behind the last semicolon as in Received; null without one. */
export function dateIn(value: string): { at: number; zone: number } | null {
  const date = parseZonedDate(value.slice(value.lastIndexOf(';') + 1).trim())
  return date && { at: date.at, zone: date.zoneMinutes }
}

/** @param at ms @param zone minutes east of UTC @param part one of DATE_PARTS */
export function datePart(at: number, zone: number, part: string): string {
  // A date whose UTC members are those of the zone.
  const local = new Date(at + zone * MINUTE_MS)
  const [year, month, day] = [pad(local.getUTCFullYear(), 4), pad(local.getUTCMonth() + 1), pad(local.getUTCDate())]
  const [hour, minute, second] = [pad(local.getUTCHours()), pad(local.getUTCMinutes()), pad(local.getUTCSeconds())]
  const sign = `${zone < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(zone) / 60))}`
  const rest = pad(Math.abs(zone) % 60)
  const weekday = local.getUTCDay()
  const parts: Record<string, string> = {
    ...{ year, month, day, hour, minute, second, weekday: String(weekday) },
    date: `${year}-${month}-${day}`,
    julian: String(Math.floor(local.getTime() / DAY_MS) + JULIAN_1970),
    time: `${hour}:${minute}:${second}`,
    // RFC 3339: Z stands for UTC, and other interpreters write it.
    iso8601: `${year}-${month}-${day}T${hour}:${minute}:${second}${zone === 0 ? 'Z' : `${sign}:${rest}`}`,
    std11: `${DAYS[weekday]}, ${day} ${MONTHS[local.getUTCMonth()]} ${year} ${hour}:${minute}:${second} ${sign}${rest}`,
    zone: `${sign}${rest}`,
  }
  return parts[part]!
}

function pad(value: number, length = 2): string {
  return String(value).padStart(length, '0')
}
