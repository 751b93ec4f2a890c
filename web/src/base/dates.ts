// Dates and times as people read them: in the locale and the time zone of the browser, exact first and relative second.

const DAY_MS = 86_400_000

/** How dates are written. */
let locale = 'en-GB'

/** Sets the language of dates and numbers; `en` is read as British English, which has days before months. */
export function setLocale(tag: string): void {
  locale = tag === 'en' || tag === '' ? 'en-GB' : tag
}

export function currentLocale(): string {
  return locale
}

const format = (date: Date, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale, options).format(date)

/** "14:02:11", for logs. */
export function clockTime(iso: string): string {
  return format(new Date(iso), { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
}

/** "8 May", with the year when it is another one. */
export function day(iso: string, now = new Date()): string {
  const date = new Date(iso)
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return format(date, { day: 'numeric', month: 'short', year })
}

/** "14:02" today, "8 May" else: the shortest that is exact enough in a list. */
export function moment(iso: string, now = new Date()): string {
  const date = new Date(iso)
  const isToday = date.toDateString() === now.toDateString()
  return isToday ? format(date, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }) : day(iso, now)
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
    hourCycle: 'h23',
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
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.trunc(seconds / length), unit)
}

/** "Sun 22", for charts. */
export function shortDay(date: Date): string {
  return format(date, { weekday: 'short', day: 'numeric' })
}

/** "14:00", for charts. */
export function hour(date: Date): string {
  return format(date, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
}

/** The time this many days ago, as the API takes it. */
export function daysAgo(days: number, now = Date.now()): string {
  return new Date(now - days * DAY_MS).toISOString()
}

/** "14:02:10.482", for steps that are close together. */
export function preciseTime(iso: string): string {
  return `${clockTime(iso)}.${String(new Date(iso).getMilliseconds()).padStart(3, '0')}`
}

/** Seconds from one time to another, "1.1". */
export function secondsBetween(from: string, to: string): string {
  return (Math.max(0, Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)
}
