// Converts text to octets, which Sieve compares, and decodes encoded characters (RFC 5228 2.4.2.4).

import { Buffer } from 'node:buffer'

/** UTF-8 of a text, one character for each octet (RFC 5228 2.7.2: comparisons are performed on octets). */
export function octets(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

/** Decodes octets as UTF-8; null when they are not valid. */
export function textOf(value: string): string | null {
  if (isAscii(value)) return value
  const text = Buffer.from(value, 'latin1').toString('utf8')
  return octets(text) === value ? text : null
}

export function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text)
}

const BLANK = '(?:[ \\t]|\\r\\n)'
const HEX_PAIRS = `${BLANK}*[0-9a-f]{1,2}(?:${BLANK}+[0-9a-f]{1,2})*${BLANK}*`
const CODE_POINTS = `${BLANK}*[0-9a-f]+(?:${BLANK}+[0-9a-f]+)*${BLANK}*`
const ENCODED = new RegExp(`\\$\\{(?:(hex):(${HEX_PAIRS})|(unicode):(${CODE_POINTS}))\\}`, 'gi')

/**
 * Replaces encoded characters, once from left to right.
 * @returns null when a code point cannot be encoded in UTF-8
 */
export function decodeCharacters(value: string): string | null {
  let wrong = false
  const decoded = value.replace(ENCODED, (_, hex: string | undefined, pairs = '', __, points = '') => {
    if (hex !== undefined) return String.fromCharCode(...numbers(pairs))
    const codes = numbers(points)
    wrong ||= codes.some((code) => !(code < 0xd800 || (code > 0xdfff && code <= 0x10ffff)))
    return wrong ? '' : octets(String.fromCodePoint(...codes))
  })
  return wrong ? null : decoded
}

function numbers(text: string): number[] {
  return text
    .trim()
    .split(/\s+/)
    .map((number) => Number.parseInt(number, 16))
}
