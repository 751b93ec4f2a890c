// Dates and times as people read them: as their locale writes them, in their time zone, exact first and relative second.

const DAY_MS = 86_400_000

/** How dates and numbers are written. */
let locale = 'en-GB'
/** What sentences are written in: "3 minutes ago" is a part of one. */
let language = 'en'

export type Clock = '12' | '24'
let clock: Clock = '24'

/** Sets whether hours are counted to 12 or to 24. */
export function setClock(chosen: Clock): void {
  clock = chosen
}

/**
 * Sets how dates and numbers are written; `en` is read as British English, which has days before months.
 * @param chosen BCP 47 tag; empty: that of the browser, also where the pages are in another language
 * @param words the language of the pages
 */
export function setLocale(chosen: string, words = language): void {
  language = words
  const tag = chosen === '' ? navigator.language : chosen
  locale = tag === 'en' ? 'en-GB' : tag
}

/** Of the browser when it is undefined. */
let zone: string | undefined

/** Sets in which time zone times are shown. @param chosen IANA name; one that the browser does not know leaves its own */
export function setTimeZone(chosen: string | null): void {
  zone = chosen !== null && chosen !== '' && isTimeZone(chosen) ? chosen : undefined
}

/** The chosen time zone; undefined for that of the browser. */
export const chosenTimeZone = (): string | undefined => zone

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export function currentLocale(): string {
  return locale
}

const format = (date: Date, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale, {
    ...options,
    timeZone: options.timeZone ?? zone,
    ...(options.hour === undefined ? {} : { hourCycle: clock === '12' ? 'h12' : 'h23' }),
  }).format(date)

const HOUR_MS = 3_600_000

/** Year, month, day, hour, minute and second of a moment in the time zone of the person. */
function fieldsOf(date: Date) {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const parts = new Intl.DateTimeFormat('en', { ...numeric, second: 'numeric', hourCycle: 'h23', timeZone: zone })
  const named = Object.fromEntries(parts.formatToParts(date).map(({ type, value }) => [type, Number(value)]))
  return named as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>
}

function isSameDay(one: Date, other: Date): boolean {
  const [a, b] = [fieldsOf(one), fieldsOf(other)]
  return a.year === b.year && a.month === b.month && a.day === b.day
}

/** A time of the day in UTC, such as 03:15, as the clock of the person shows it today. */
export function timeOfDayHere(time: string): string {
  const [hour, minute] = time.split(':').map(Number)
  return format(new Date(new Date().setUTCHours(hour!, minute)), { hour: '2-digit', minute: '2-digit' })
}

/** The hour of the day, 0 to 23. */
export const hourOf = (date: Date): number => fieldsOf(date).hour

/** Midnight of the day of a moment, ms; also of a day that is an hour longer or shorter. */
export function startOfDay(date: Date): number {
  const { hour, minute, second } = fieldsOf(date)
  const midnight = date.getTime() - date.getMilliseconds() - (hour * 3600 + minute * 60 + second) * 1000
  const found = hourOf(new Date(midnight))
  return midnight + (found === 0 ? 0 : found === 23 ? HOUR_MS : -HOUR_MS)
}

/** Midnight this many days before today, ms. */
export function startOfDayBefore(days: number, now = new Date()): number {
  // From noon: a day that is an hour longer or shorter lies between.
  return startOfDay(new Date(startOfDay(now) + DAY_MS / 2 - days * DAY_MS))
}

/**
 * A day and a time of the clock in the time zone of the person, ms; NaN for none.
 * @param day "2030-05-17" @param time "08:30"
 */
export function timeOf(day: string, time: string): number {
  const asUtc = Date.parse(`${day}T${time}Z`)
  if (Number.isNaN(asUtc)) return asUtc
  const ahead = (at: number) => {
    const { year, month, day: date, hour, minute, second } = fieldsOf(new Date(at))
    return Date.UTC(year, month - 1, date, hour, minute, second) - at
  }
  // Twice: between the two the clock may have been set.
  return asUtc - ahead(asUtc - ahead(asUtc))
}

/** Another text when times are written in another way: on another day, or with another time zone, clock or locale. */
export function wayOfTimes(now = new Date()): string {
  return exact(new Date(startOfDay(now)).toISOString())
}

/** "14:02:11", for logs. */
export function clockTime(iso: string): string {
  return format(new Date(iso), { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}

/** "8 May", with the year when it is another one. */
export function day(iso: string, now = new Date()): string {
  const date = new Date(iso)
  const year = fieldsOf(date).year === fieldsOf(now).year ? undefined : 'numeric'
  return format(date, { day: 'numeric', month: 'short', year })
}

/** "14:02" today, "8 May" else: the shortest that is exact enough in a list. */
export function moment(iso: string, now = new Date()): string {
  const date = new Date(iso)
  return isSameDay(date, now) ? format(date, { hour: '2-digit', minute: '2-digit' }) : day(iso, now)
}

/** "Today, 14:02", "8 May, 14:02": for a moment of a record. */
export function dayAndTime(iso: string, now = new Date()): string {
  const date = new Date(iso)
  const time = format(date, { hour: '2-digit', minute: '2-digit' })
  if (!isSameDay(date, now)) return `${day(iso, now)}, ${time}`
  const today = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'day')
  return `${today.charAt(0).toUpperCase()}${today.slice(1)}, ${time}`
}

/** "Wednesday 8 May 2030, 14:02:11 CEST": the whole of it, for tooltips and details. */
export function exact(iso: string): string {
  return format(new Date(iso), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
}

/** "Tuesday 14 May". */
export function weekday(date = new Date()): string {
  return format(date, { weekday: 'long', day: 'numeric', month: 'long' })
}

/** "3 minutes ago", "in 2 days". */
export function relative(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ]
  const [unit, length] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.trunc(seconds / length), unit)
}

/** "Sun 22", for charts. @param timeZone of the person when it is left out */
export function shortDay(date: Date, timeZone?: string): string {
  return format(date, { weekday: 'short', day: 'numeric', timeZone })
}

/** "8 May", of a day that is counted in UTC. */
export function dayOf(date: Date): string {
  return format(date, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

/** "May 2030", of a month that is counted in UTC. */
export function monthOf(date: Date): string {
  return format(date, { month: 'short', year: 'numeric', timeZone: 'UTC' })
}

/** "14:00", for charts. */
export function hour(date: Date): string {
  return format(date, { hour: '2-digit', minute: '2-digit' })
}

/** The time this many days ago, as the API takes it. */
export function daysAgo(days: number, now = Date.now()): string {
  return new Date(now - days * DAY_MS).toISOString()
}

/** "14:02:10.482", for steps that are close together. */
export function preciseTime(iso: string): string {
  return format(new Date(iso), { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 })
}

/** Seconds from one time to another, "1.1". */
export function secondsBetween(from: string, to: string): string {
  return (Math.max(0, Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)
}

/** "3 days", "4 h 12 min", "8 s": a length of time in its two largest units. */
export function duration(seconds: number): string {
  const unit = (value: number, name: 'day' | 'hour' | 'minute' | 'second') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: name === 'day' ? 'long' : 'short' }).format(
      value,
    )
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  if (days > 0) return days > 9 || hours === 0 ? unit(days, 'day') : `${unit(days, 'day')} ${unit(hours, 'hour')}`
  if (hours > 0) return minutes === 0 ? unit(hours, 'hour') : `${unit(hours, 'hour')} ${unit(minutes, 'minute')}`
  return minutes > 0 ? unit(minutes, 'minute') : unit(Math.floor(seconds), 'second')
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** The day of a moment in the time zone of the person, as fields of dates have it: "2030-05-08". */
export function fieldDay(moment: number): string {
  const { year, month, day: dayOfMonth } = fieldsOf(new Date(moment))
  return `${year}-${twoDigits(month)}-${twoDigits(dayOfMonth)}`
}

/** Midnight at which a day of a field begins in the time zone of the person, ms; NaN for another text. */
export function startOfFieldDay(text: string): number {
  const noon = Date.parse(`${text}T12:00:00Z`)
  if (Number.isNaN(noon)) return Number.NaN
  // Noon in UTC is the day before or after where the clock is 12 hours away.
  const midnights = [0, -DAY_MS, DAY_MS].map((shift) => startOfDay(new Date(noon + shift)))
  return midnights.find((midnight) => fieldDay(midnight) === text) ?? Number.NaN
}
