// Parses the Date field: RFC 5322's format, the obsolete ones, and common deviations of mailers.

import { MINUTE_MS } from '../base/durations.ts'

/** Longest value that is parsed, in characters. */
const DATE_MAX = 200

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** RFC 5322 §4.3, in hours; military letters and unknown names count as UTC. */
const ZONES = new Map([
  ...[
    ['edt', -4],
    ['est', -5],
    ['cdt', -5],
    ['cst', -6],
    ['mdt', -6],
    ['mst', -7],
    ['pdt', -7],
    ['pst', -8],
  ],
  ...[
    ['bst', 1],
    ['cet', 1],
    ['cest', 2],
    ['eet', 2],
    ['eest', 3],
    ['msk', 3],
    ['jst', 9],
    ['kst', 9],
  ],
] as [string, number][])

const TIME = '(\\d{1,2}) ?[:.] ?(\\d{1,2})(?: ?[:.] ?(\\d{1,2})(?:[.,]\\d{1,9})?)?(?:\\s*([ap])\\.?m\\b\\.?)?'
const ZONE = '\\s*(?:(?:gmt|utc?)?\\s*([+-])(\\d{1,2}):?(\\d{2})?\\b|([a-z]{1,5})\\b)?'
/** RFC 5322 §4.3: white space and comments may stand before the comma. */
const DAY = '(?:[a-z]{2,9}\\.?(?:\\s*,|\\s)\\s*)?'

/** "Tue, 1 Jul 2003 10:52:37 +0200", "1-Jul-03 10:52 EST". */
const MAIL_DATE = new RegExp(
  `^,?\\s*${DAY}(\\d{1,2})[\\s-]+([a-z]{3})[a-z]*[.,]?[\\s-]+(\\d{2,4}),?\\s+${TIME}${ZONE}`,
  'i',
)
/** "Tue Jul  1 10:52:37 [CEST] 2003 [+0200]", what the C library prints. */
const C_DATE = new RegExp(
  `^${DAY}([a-z]{3})[a-z]*\\s+(\\d{1,2}),?\\s+${TIME}${ZONE}\\s+(\\d{4})(?:\\s*([+-]\\d{4}))?`,
  'i',
)
/** "Thursday, April 09, 2003 9:00 AM", "Fri, May 09 2017 10:52:37 +0200": the month first, as Americans write it. */
const US_DATE = new RegExp(
  `^,?\\s*${DAY}([a-z]{3})[a-z]*\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?(?:,\\s*|\\s+)(\\d{4}),?\\s+(?:at\\s+)?${TIME}${ZONE}`,
  'i',
)
/** "2003-07-01T10:52:37+02:00". */
const ISO_DATE = new RegExp(`^(\\d{4})-(\\d{1,2})-(\\d{1,2})(?:t|\\s+)${TIME}${ZONE}`, 'i')

/** The text of a Date field in ms since 1970; null when it is not a date. */
export function parseDate(text: string): number | null {
  return parseZonedDate(text)?.at ?? null
}

/** A moment, and the minutes east of UTC of the zone it was written in. */
export interface ZonedDate {
  at: number
  zoneMinutes: number
}

/** The same with its zone, null when it is not a date. */
export function parseZonedDate(text: string): ZonedDate | null {
  if (text.length > DATE_MAX) return null
  const plain = withoutComments(text).replace(/\s+/g, ' ').trim()
  const rfc = MAIL_DATE.exec(plain)
  if (rfc) return moment(yearOf(rfc[3]!), monthOf(rfc[2]!), rfc[1]!, rfc.slice(4, 8), rfc.slice(8))
  const c = C_DATE.exec(plain)
  if (c) return moment(Number(c[11]), monthOf(c[1]!), c[2]!, c.slice(3, 7), zoneOfC(c))
  const us = US_DATE.exec(plain)
  if (us) return moment(Number(us[3]), monthOf(us[1]!), us[2]!, us.slice(4, 8), us.slice(8))
  const iso = ISO_DATE.exec(plain)
  if (iso) return moment(Number(iso[1]), Number(iso[2]) - 1, iso[3]!, iso.slice(4, 8), iso.slice(8))
  return null
}

/** Removes nested comments (RFC 5322 §3.2.2), including one that never ends. */
function withoutComments(text: string): string {
  if (!text.includes('(')) return text
  let depth = 0
  return text.replace(/\\.|[()]|[^()\\]+|\\/gs, (run) => {
    if (run === '(' && ++depth > 0) return ' '
    if (run === ')' && depth > 0) return --depth === 0 ? ' ' : ''
    return depth > 0 ? '' : run
  })
}

function zoneOfC(found: RegExpExecArray): (string | undefined)[] {
  const after = found[12]
  return after ? [after[0], after.slice(1, 3), after.slice(3)] : found.slice(7, 11)
}

/** RFC 5322 4.3: two digits up to 49 are of this century, three count from 1900 ("0102" is what some wrote for 2002). */
function yearOf(text: string): number {
  const year = Number(text)
  if (year >= 1000) return year
  return text.length === 2 && year < 50 ? 2000 + year : 1900 + year
}

function monthOf(text: string): number {
  return MONTHS.indexOf(text.toLowerCase())
}

type Groups = (string | undefined)[]

function moment(year: number, month: number, dayText: string, time: Groups, zone: Groups): ZonedDate | null {
  const day = Number(dayText)
  const hour = hourOf(Number(time[0]), time[3])
  const minute = Number(time[1])
  const second = Number(time[2] ?? 0)
  // A leap second counts as second 59.
  if (month < 0 || month > 11 || hour > 23 || minute > 59 || second > 60 || year < 1900) return null
  const at = Date.UTC(year, month, day, hour, minute, Math.min(second, 59))
  const real = new Date(at)
  if (real.getUTCDate() !== day || real.getUTCMonth() !== month) return null
  const zoneMinutes = offsetMinutes(zone)
  return { at: at - zoneMinutes * MINUTE_MS, zoneMinutes }
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined || hour > 12) return hour
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

/** Minutes east of UTC. */
function offsetMinutes([sign, hours, minutes, name]: Groups): number {
  if (sign === undefined) return (ZONES.get((name ?? '').toLowerCase()) ?? 0) * 60
  const size = Number(hours) * 60 + Number(minutes ?? 0)
  return size > 24 * 60 ? 0 : sign === '-' ? -size : size
}
