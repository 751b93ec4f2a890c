// Numbers, sizes and shares as people read them.

import { currentLocale } from './dates.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** "1,220". */
export function count(value: number): string {
  return new Intl.NumberFormat(currentLocale()).format(value)
}

/** "14.2 GB", in steps of 1,000. */
export function size(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  const digits = step === 0 || value >= 100 ? 0 : 1
  return new Intl.NumberFormat(currentLocale(), {
    style: 'unit',
    unit: UNITS[step],
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: digits,
  }).format(value)
}

/** "98.9", a share of one in per cent without its sign, with two digits below 0.1. */
export function percent(share: number): string {
  const maximumFractionDigits = share > 0 && share < 0.001 ? 2 : 1
  return new Intl.NumberFormat(currentLocale(), { maximumFractionDigits }).format(share * 100)
}

/** "US$24.796": an amount of a currency by its ISO 4217 code, with every digit that the server counts. */
export function money(amount: string, currency: string): string {
  return new Intl.NumberFormat(currentLocale(), { style: 'currency', currency, maximumFractionDigits: 6 }).format(
    Number(amount),
  )
}

const ENGLISH = new Intl.PluralRules('en')

/** A number and the form of an English word that goes with it: `plural(2, 'row', 'rows')`. Other languages have forms of their own. */
export function plural(value: number, one: string, other: string): string {
  return `${count(value)} ${ENGLISH.select(value) === 'one' ? one : other}`
}
