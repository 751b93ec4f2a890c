// Text as octets, which is what Sieve compares, and the characters a script may write in hexadecimal (RFC 5228 2.4.2.4).

import { Buffer } from 'node:buffer'

/** UTF-8 of a text, one character for each octet (RFC 5228 2.7.2: comparisons are performed on octets). */
export function octets(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

/** The text that octets are UTF-8 of; null for octets that are none. */
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
 * Octets with what is written in hexadecimal put in its place, once from left to right.
 * @returns null when a code point is none that UTF-8 could write
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
