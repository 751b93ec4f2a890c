// Strings of RFC 9051 §9: string, nstring, astring, and texts that must be UTF-8.

import { isUtf8 } from 'node:buffer'
import { type Cursor, DQUOTE, ImapSyntaxError } from './cursor.ts'

/** `string`: quoted or literal. */
export function readString(cursor: Cursor): Buffer {
  return cursor.peek() === DQUOTE ? cursor.quoted() : cursor.literal()
}

/** `nstring`: a string, or null for NIL. */
export function readNstring(cursor: Cursor): Buffer | null {
  if (cursor.skipWord('NIL')) return null
  return readString(cursor)
}

/** `astring`: an atom that may hold `]`, or a string. */
export function readAstring(cursor: Cursor): Buffer {
  if (cursor.peek() === DQUOTE || cursor.isAtLiteral) return readString(cursor)
  return Buffer.from(cursor.astringAtom(), 'latin1')
}

/** An astring of at most `most` bytes that is UTF-8. @throws ImapSyntaxError */
export function readText(cursor: Cursor, most: number): string {
  return textOf(readAstring(cursor), most)
}

/** @throws ImapSyntaxError when the bytes are too many, no UTF-8, or hold NUL */
export function textOf(bytes: Buffer, most: number): string {
  if (bytes.length > most) throw new ImapSyntaxError(`The string is longer than ${most} bytes.`)
  if (!isUtf8(bytes)) throw new ImapSyntaxError('The string is not UTF-8.')
  if (bytes.includes(0)) throw new ImapSyntaxError('The string contains NUL.')
  return bytes.toString()
}
