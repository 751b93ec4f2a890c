// Writes header fields: folded, 7 bits, safe against header injection.

import type { Address } from '../message.ts'
import { ENCODED_WORD_MAX, encodedWords } from './encode-words.ts'

/** RFC 5322 2.1.1: what a line should have at most, and what it must not exceed. Characters without the line break. */
const LINE_GOOD = 76
export const LINE_MAX = 998
/** A longer word without spaces is encoded: with the longest field name it would exceed LINE_MAX. */
export const WORD_MAX = 900
/** With less room behind the field name, the first encoded word starts on the next line. */
const FIRST_WORD_MIN = 30
/** Longest encoded word of a display name that fits behind "Reply-To: ". */
const NAME_WORD_MAX = LINE_GOOD - 'Reply-To: '.length
/** RFC 5322 3.2.3: words of a display name that need no quotes. */
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
/** Longer names are written as encoded words, which can be folded. */
const QUOTED_NAME_MAX = 255

/**
 * One field with its line break.
 * @param pieces each begins with the white space in front of which the line may be broken
 * @throws Error for a value that was not validated: it would allow header injection
 */
export function foldedField(name: string, pieces: readonly string[]): string {
  let field = `${name}:`
  let column = field.length
  for (const [index, piece] of pieces.entries()) {
    // Some clients lose a value that starts on the second line; encoded words cannot be longer than a line (RFC 2047 §2).
    const limit = index > 0 || piece.startsWith(' =?') ? LINE_GOOD : LINE_MAX
    if (column + piece.length > limit) {
      field += '\r\n'
      column = 0
    }
    field += piece
    column += piece.length
  }
  if (/[^\t\r\n -~]|\r(?!\n)|(?<!\r)\n|\n(?![\t ])/.test(field)) throw new Error(`A ${name} field was not checked.`)
  return `${field}\r\n`
}

/** A field of free text (RFC 5322 2.2.1), such as Subject; decoding it gives exactly this text. */
export function textField(name: string, text: string): string {
  const plain = oneLine(text)
  const fits = /^[!-~](?:[ -~]*[!-~])?$/.test(plain) && !plain.includes('=?') && !hasLongWord(plain)
  return fits ? foldedField(name, spaced(plain)) : encodedField(name, plain)
}

/** A field as its sender wrote it, encoded words included; non-ASCII text is encoded. */
export function givenField(name: string, value: string): string {
  const plain = oneLine(value).trim()
  return /^[ -~]*$/.test(plain) && !hasLongWord(plain) ? foldedField(name, spaced(plain)) : encodedField(name, plain)
}

/** A field of addresses; "" for an empty list. */
export function addressField(name: string, addresses: readonly Address[]): string {
  if (addresses.length === 0) return ''
  const last = addresses.length - 1
  return foldedField(
    name,
    addresses.flatMap((address, index) => addressPieces(address, index < last ? ',' : '')),
  )
}

/** A field of Message-IDs. RFC 5322 allows only ASCII ids: others are omitted. */
export function idField(name: string, ids: readonly string[]): string {
  const writable = ids.filter((id) => /^[!-;=?-~]+$/.test(id) && id.length <= WORD_MAX)
  if (writable.length === 0) return ''
  return foldedField(
    name,
    writable.map((id) => ` <${id}>`),
  )
}

/** True when a word is too long for a line. */
export function hasLongWord(text: string): boolean {
  return text.length > WORD_MAX && text.split(/[\t ]+/).some((word) => word.length > WORD_MAX)
}

function addressPieces({ email, name }: Address, end: string): string[] {
  // A value with two addresses was not validated.
  if (!/^[^\s<>(),;]+$/.test(email)) throw new Error('An address was not checked.')
  const plain = oneLine(name).trim()
  if (plain === '') return [` ${email}${end}`]
  return [...namePieces(plain), ` <${email}>${end}`]
}

function namePieces(name: string): string[] {
  const ascii = /^[ -~]+$/.test(name) && !name.includes('=?') && name.length <= QUOTED_NAME_MAX
  if (!ascii) return encodedWords(name, NAME_WORD_MAX).map((word) => ` ${word}`)
  return ATOMS.test(name) ? spaced(name) : [` "${name.replace(/["\\]/g, '\\$&')}"`]
}

function encodedField(name: string, text: string): string {
  const room = LINE_GOOD - name.length - ': '.length
  const words = encodedWords(text, room < FIRST_WORD_MIN ? ENCODED_WORD_MAX : Math.min(room, ENCODED_WORD_MAX))
  return foldedField(
    name,
    words.map((word) => ` ${word}`),
  )
}

/** Words, each with the white space in front of it. */
function spaced(text: string): string[] {
  return ` ${text}`.match(/[ \t]+[^ \t]+/g) ?? []
}

/** Replaces control characters by spaces and lone surrogates by U+FFFD. */
function oneLine(text: string): string {
  return /[\x00-\x1f\x7f\ud800-\udfff]/.test(text) ? text.toWellFormed().replace(/[\x00-\x1f\x7f]/g, ' ') : text
}
