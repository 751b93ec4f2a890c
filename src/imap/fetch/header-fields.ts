// Serves HEADER.FIELDS and HEADER.FIELDS.NOT: the chosen fields of a header as written, and the empty line.

import { Buffer } from 'node:buffer'
import { type HeaderField, readHeaders } from '../../mime/headers.ts'
import { withCrlf } from '../../mime/line-ends.ts'
import type { ServedFields } from './sections.ts'
import { withoutNul } from './served-stream.ts'

const CRLF = Buffer.from('\r\n')

/**
 * The bytes of the answer.
 * @param header bytes of the header, or of the kept fields of a message
 * @param fields the same read, where they are known
 */
export function servedFields(
  { names, isNot, range }: Pick<ServedFields, 'names' | 'isNot' | 'range'>,
  header: Uint8Array,
  fields: readonly HeaderField[] = readHeaders(header).fields,
): Uint8Array {
  const chosen = isNot ? withoutFields(header, fields, names) : fieldsOf(header, fields, names)
  // RFC 9051 §6.4.5.1: the empty line is there, whatever the fields.
  const bytes = withoutNul(withCrlf(Buffer.concat([chosen, CRLF])))
  return range === null ? bytes : bytes.subarray(range.start, range.start + range.count)
}

/** Line ends and characters that {@link servedFields} would change, or that are more than one byte on the wire. */
const UNSERVED = /[\0\x80-\xff]|(?<!\r)\n/

/**
 * {@link servedFields} as text, where that is the same.
 * @param fields the chosen fields as written, each byte as one character
 * @returns null when they have to be repaired, or are not ASCII
 */
export function plainFields(fields: readonly string[], range: ServedFields['range']): string | null {
  const text = fields.join('')
  const isWhole = text === '' || text.endsWith('\n')
  if (!isWhole || UNSERVED.test(text)) return null
  const served = `${text}\r\n`
  return range === null ? served : served.slice(range.start, range.start + range.count)
}

function fieldsOf(header: Uint8Array, fields: readonly HeaderField[], names: ReadonlySet<string>): Buffer {
  const chosen: Uint8Array[] = []
  for (const { name, start, end } of fields) if (names.has(name)) chosen.push(header.subarray(start, end))
  return onWholeLines(chosen)
}

/** All but these fields: also lines that are no fields, such as those of mbox files. */
function withoutFields(header: Uint8Array, fields: readonly HeaderField[], names: ReadonlySet<string>): Buffer {
  const left: Uint8Array[] = []
  let from = 0
  for (const { name, start, end } of fields) {
    if (!names.has(name)) continue
    left.push(header.subarray(from, start))
    from = end
  }
  left.push(header.subarray(from, Math.max(from, endOfFields(header))))
  return onWholeLines(left)
}

/** Where the empty line at the end of the header starts. */
function endOfFields(header: Uint8Array): number {
  const [cr, lf] = CRLF
  let end = header.length
  if (header[end - 1] === lf) end -= header[end - 2] === cr ? 2 : 1
  return end === 0 || header[end - 1] === lf ? end : header.length
}

/** The bytes together; the last line, which ends with the message, gets its line end. */
function onWholeLines(pieces: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(pieces)
  return bytes.length === 0 || bytes.at(-1) === CRLF[1] ? bytes : Buffer.concat([bytes, CRLF])
}
