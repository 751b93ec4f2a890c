// Comparators: equality and order of octet strings (RFC 4790 9).

import { Buffer } from 'node:buffer'
import { isAscii } from './encoded.ts'

export type Comparator = 'i;octet' | 'i;ascii-casemap' | 'i;ascii-numeric'

export const COMPARATORS: ReadonlySet<string> = new Set<Comparator>(['i;octet', 'i;ascii-casemap', 'i;ascii-numeric'])

/** Normalises octets for a comparator, so that equal values become identical. RFC 4790 9.2.1: ASCII letters are folded to upper case. */
export function fold(value: string, comparator: Comparator): string {
  if (comparator === 'i;octet') return value
  if (comparator === 'i;ascii-numeric') return numberOf(value) ?? ''
  if (isAscii(value)) return value.toUpperCase()
  const bytes = Buffer.from(value, 'latin1')
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! > 96 && bytes[at]! < 123) bytes[at]! -= 32
  return bytes.toString('latin1')
}

/**
 * Negative when the first comes first, zero for equal ones; both are folded.
 * RFC 4790 9.1.1: values that are not numbers come after all numbers and are equal to each other.
 */
export function compare(one: string, other: string, comparator: Comparator): number {
  if (one === other) return 0
  if (comparator !== 'i;ascii-numeric') return one < other ? -1 : 1
  if (one === '' || other === '') return one === '' ? 1 : -1
  return one.length - other.length || (one < other ? -1 : 1)
}

/** The digits a value starts with, without zeros in front; null where there are none. */
function numberOf(value: string): string | null {
  return /^0*([0-9]+)/.exec(value)?.[1] ?? null
}
