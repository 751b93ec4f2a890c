// Sections of FETCH (RFC 9051 §6.4.5): parts of a message, fields of headers, and ranges of bytes.

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { FIELD_NAMES } from './limits.ts'
import { readAstring } from './strings.ts'

/** What of a part is meant: all of it, a header, some fields of a header, the text behind the header, or its MIME header. */
export type SectionText = 'all' | 'header' | 'fields' | 'fields-not' | 'text' | 'mime'

export interface BodySection {
  /** Part numbers; empty for the message itself. */
  part: readonly number[]
  text: SectionText
  /** Names of fields in upper case, for `fields` and `fields-not`. */
  fields: readonly string[]
}

/** `<start.count>` of a section, bytes. */
export interface SectionRange {
  start: number
  count: number
}

// A structure is never deeper than this.
const MOST_LEVELS = 100
// A field name is printable ASCII without a colon (RFC 5322 §2.2).
const FIELD_NAME_BYTES = 256

/** `section`, with its brackets. */
export function readSection(cursor: Cursor): BodySection {
  cursor.expect('[')
  const part = readPartNumbers(cursor)
  // Part numbers consume the dot before a text.
  const hasText = !cursor.isAt(']')
  const section = hasText ? readSectionText(cursor, part) : { part, text: 'all' as const, fields: [] }
  cursor.expect(']')
  return section
}

/** `section-binary`, with its brackets: part numbers alone (RFC 3516). */
export function readBinarySection(cursor: Cursor): number[] {
  cursor.expect('[')
  const part = readPartNumbers(cursor)
  cursor.expect(']')
  return part
}

function readPartNumbers(cursor: Cursor): number[] {
  const part: number[] = []
  while (cursor.isAtDigit) {
    if (part.length === MOST_LEVELS) throw new ImapSyntaxError('The part number is too long.')
    part.push(cursor.nzNumber())
    if (!cursor.skip('.')) break
    if (!cursor.isAtDigit && cursor.isAt(']')) throw new ImapSyntaxError('Expected a part number.')
  }
  return part
}

function readSectionText(cursor: Cursor, part: readonly number[]): BodySection {
  if (cursor.skipWord('HEADER')) return { part, text: 'header', fields: [] }
  if (cursor.skipWord('TEXT')) return { part, text: 'text', fields: [] }
  if (part.length > 0 && cursor.skipWord('MIME')) return { part, text: 'mime', fields: [] }
  const isNot = cursor.skipWord('HEADER.FIELDS.NOT')
  if (!isNot && !cursor.skipWord('HEADER.FIELDS')) throw new ImapSyntaxError('Unknown section.')
  cursor.space()
  const fields = cursor.list(() => readFieldName(cursor), { most: FIELD_NAMES })
  return { part, text: isNot ? 'fields-not' : 'fields', fields }
}

/** A field name in upper case. */
export function readFieldName(cursor: Cursor): string {
  const name = readAstring(cursor)
  const isValid =
    name.length > 0 &&
    name.length <= FIELD_NAME_BYTES &&
    name.every((byte) => byte > 0x20 && byte < 0x7f && byte !== 0x3a)
  if (!isValid) throw new ImapSyntaxError('Expected the name of a header field.')
  return name.toString('latin1').toUpperCase()
}

/** `partial` when it is next, else null. */
export function readSectionRange(cursor: Cursor): SectionRange | null {
  if (!cursor.skip('<')) return null
  const start = cursor.number64()
  cursor.expect('.')
  const count = cursor.number64()
  if (count === 0) throw new ImapSyntaxError('The number of bytes must not be 0.')
  cursor.expect('>')
  return { start, count }
}

/** A section as answers repeat it, with its brackets; field names that are no atoms are quoted. */
export function formatSection({ part, text, fields }: BodySection): string {
  const levels = part.join('.')
  if (text === 'all') return `[${levels}]`
  const names = {
    header: 'HEADER',
    text: 'TEXT',
    mime: 'MIME',
    fields: 'HEADER.FIELDS',
    'fields-not': 'HEADER.FIELDS.NOT',
  }
  const list = fields.length === 0 ? '' : ` (${fields.map(formatFieldName).join(' ')})`
  return `[${levels}${levels === '' ? '' : '.'}${names[text]}${list}]`
}

function formatFieldName(name: string): string {
  return /^[^(){%*"\\\]]+$/.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`
}
