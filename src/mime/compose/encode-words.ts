// Encodes non-ASCII text as encoded words (RFC 2047), split between characters, each at most 75 characters long.

import { Buffer } from 'node:buffer'

/** RFC 2047 2: an encoded word has at most 75 characters. */
export const ENCODED_WORD_MAX = 75
const SHELL = '=?utf-8?Q??='.length
/** Characters allowed unencoded anywhere in a header, phrases included (RFC 2047 §5 (3)). */
const SAFE = /^[A-Za-z0-9!*+/-]$/

/** The Q encoding of each byte. */
const Q = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  if (character === ' ') return '_'
  return SAFE.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
})

/**
 * The encoded words, to be joined with white space.
 * @param first length limit of the first word, which follows the field name
 */
export function encodedWords(text: string, first = ENCODED_WORD_MAX): string[] {
  const bytes = Buffer.from(text)
  let quoted = 0
  for (const byte of bytes) quoted += Q[byte]!.length
  // Latin text stays readable in Q; where most bytes need escaping, base64 is half as long.
  return words(bytes, first, quoted > bytes.length * 2 ? 'B' : 'Q')
}

function words(bytes: Buffer, first: number, encoding: 'B' | 'Q'): string[] {
  const made: string[] = []
  let start = 0
  let room = first - SHELL
  while (start < bytes.length) {
    const end = encoding === 'B' ? Math.min(bytes.length, start + Math.floor(room / 4) * 3) : endOfQ(bytes, start, room)
    const cut = startOfCharacter(bytes, end)
    made.push(`=?utf-8?${encoding}?${encoding === 'B' ? bytes.toString('base64', start, cut) : q(bytes, start, cut)}?=`)
    start = cut
    room = ENCODED_WORD_MAX - SHELL
  }
  return made
}

/** End of the bytes whose Q form fits into `room`. */
function endOfQ(bytes: Buffer, start: number, room: number): number {
  let left = room
  let at = start
  while (at < bytes.length && left >= Q[bytes[at]!]!.length) left -= Q[bytes[at++]!]!.length
  return at
}

/** RFC 2047 §5: a character must not be split between two words. */
function startOfCharacter(bytes: Buffer, at: number): number {
  let start = at
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start--
  return start
}

function q(bytes: Buffer, start: number, end: number): string {
  let out = ''
  for (let at = start; at < end; at++) out += Q[bytes[at]!]!
  return out
}
