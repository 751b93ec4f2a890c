// The header fields of a mail we write: folded, seven bits, nothing in them that could begin another field.

import type { Address } from '../message.ts'
import { ENCODED_WORD_MAX, encodedWords } from './encode-words.ts'

/** RFC 5322 2.1.1: what a line should have at most, and what it must not exceed. Characters without the line break. */
const LINE_GOOD = 76
export const LINE_MAX = 998
/** A longer word without a space in it is not left to stand: with the longest name of a field it would break LINE_MAX. */
export const WORD_MAX = 900
/** Fewer characters are not worth a first word in the line of the field's name. */
const FIRST_WORD_MIN = 30
/** What a word of a name may have, so that it fits behind "Reply-To: ". */
const NAME_WORD_MAX = LINE_GOOD - 'Reply-To: '.length
/** RFC 5322 3.2.3: words of a display name that need no quotes. */
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
/** Longer names are cut in encoded words, which can be folded. */
const QUOTED_NAME_MAX = 255

/**
 * One field with its line break.
 * @param pieces each begins with the white space in front of which the line may be broken
 * @throws Error for what a check at the door would have refused: it would break out of the field
 */
export function foldedField(name: string, pieces: readonly string[]): string {
  let field = `${name}:`
  let column = field.length
  for (const [index, piece] of pieces.entries()) {
    // Some readers lose a value that begins on the second line; for encoded words there is no choice (RFC 2047 2).
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

/** A field of free text (RFC 5322 2.2.1), such as Subject: whoever reads it gets exactly this text. */
export function textField(name: string, text: string): string {
  const plain = oneLine(text)
  const fits = /^[!-~](?:[ -~]*[!-~])?$/.test(plain) && !plain.includes('=?') && !hasLongWord(plain)
  return fits ? foldedField(name, spaced(plain)) : encodedField(name, plain)
}

/** A field as its sender wrote it, encoded words and all; what is beyond ASCII is encoded here. */
export function givenField(name: string, value: string): string {
  const plain = oneLine(value).trim()
  return /^[ -~]*$/.test(plain) && !hasLongWord(plain) ? foldedField(name, spaced(plain)) : encodedField(name, plain)
}

/** A field of addresses; none at all makes no field. */
export function addressField(name: string, addresses: readonly Address[]): string {
  if (addresses.length === 0) return ''
  const last = addresses.length - 1
  return foldedField(
    name,
    addresses.flatMap((address, index) => addressPieces(address, index < last ? ',' : '')),
  )
}

/** A field of Message-IDs. RFC 5322 knows only ASCII in them: others are left out, and nobody could refer to them anyway. */
export function idField(name: string, ids: readonly string[]): string {
  const writable = ids.filter((id) => /^[!-;=?-~]+$/.test(id) && id.length <= WORD_MAX)
  if (writable.length === 0) return ''
  return foldedField(
    name,
    writable.map((id) => ` <${id}>`),
  )
}

/** True where a word could not stand in a line. */
export function hasLongWord(text: string): boolean {
  return text.length > WORD_MAX && text.split(/[\t ]+/).some((word) => word.length > WORD_MAX)
}

function addressPieces({ email, name }: Address, end: string): string[] {
  // Whoever put two addresses into one was not asked at the door.
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

/** Control characters have no place in a header; what stood on two lines or was half a character was not checked. */
function oneLine(text: string): string {
  return /[\x00-\x1f\x7f\ud800-\udfff]/.test(text) ? text.toWellFormed().replace(/[\x00-\x1f\x7f]/g, ' ') : text
}
