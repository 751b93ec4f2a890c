// Numbers, sizes and shares as people read them.

import { currentLocale } from './dates.ts'

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** "1,220". */
export function count(value: number): string {
  return new Intl.NumberFormat(currentLocale()).format(value)
}

/** "14.2 GB", in steps of 1,000. */
export function size(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  const digits = step === 0 || value >= 100 ? 0 : 1
  return `${new Intl.NumberFormat(currentLocale(), { maximumFractionDigits: digits }).format(value)} ${UNITS[step]}`
}

/** "98.9", a share of one in per cent without its sign, with two digits below 0.1. */
export function percent(share: number): string {
  const maximumFractionDigits = share > 0 && share < 0.001 ? 2 : 1
  return new Intl.NumberFormat(currentLocale(), { maximumFractionDigits }).format(share * 100)
}

/** The form of a word that goes with a number: `plural(2, 'row', 'rows')`. */
export function plural(value: number, one: string, other: string): string {
  return `${count(value)} ${new Intl.PluralRules(currentLocale()).select(value) === 'one' ? one : other}`
}
