// Finds every line a mail client may read as a From field: more lenient than the header parser (headers.ts).

import { decodeCharset } from './charset.ts'
import { HEADER_BYTES_MAX } from './headers.ts'

/** From fields whose text is returned; only one is allowed (RFC 5322 §3.6). */
const FIELDS_MAX = 10

export interface FromFields {
  /** Offset behind the last line of the header: the first empty line ends it, even after malformed lines. */
  headerEnd: number
  /** Number of lines that may be read as the start of a From field. */
  count: number
  /** Raw value of the first, including the following lines that do not start a field; null when there is none. */
  value: Uint8Array | null
  /** Number of header lines before the first. */
  line: number
  /** The values of the first FIELDS_MAX as text, each cut at HEADER_BYTES_MAX bytes. */
  texts: string[]
}

const LF = 10
const CR = 13
const SPACE = 32
const TAB = 9
const COLON = 58

/** One pass over the header, in linear time for any size. */
export function fromFieldsOf(bytes: Uint8Array): FromFields {
  const found: FromFields = { headerEnd: 0, count: 0, value: null, line: 0, texts: [] }
  // Start of the value being read; it ends where the next field starts.
  let valueStart = -1
  let pos = 0
  const close = () => {
    if (valueStart >= 0) record(found, bytes.subarray(valueStart, endOfText(bytes, valueStart, pos)))
    valueStart = -1
  }
  for (let line = 0; pos < bytes.length && !isEmptyLine(bytes, pos); line++) {
    const colon = colonOfFrom(bytes, pos)
    if (colon > 0 || startsField(bytes, pos)) close()
    if (colon > 0) {
      valueStart = colon + 1
      if (found.count++ === 0) found.line = line
    }
    pos = nextLine(bytes, pos)
  }
  close()
  found.headerEnd = pos
  return found
}

function record(found: FromFields, value: Uint8Array): void {
  found.value ??= value
  if (found.texts.length < FIELDS_MAX) found.texts.push(decodeCharset(value.subarray(0, HEADER_BYTES_MAX), null))
}

/**
 * Offset of the colon where the line may be read as a From field: some parsers skip white space (RFC 5322 §4.5), a fold,
 * control characters or non-ASCII bytes around the name. -1 for any other line.
 */
function colonOfFrom(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && isNoise(bytes[at]!) && bytes[at] !== SPACE && bytes[at] !== TAB && bytes[at] !== LF) at++
  for (const character of 'from') {
    if ((bytes[at++]! | 0x20) !== character.charCodeAt(0)) return -1
  }
  while (at < bytes.length && isNoise(bytes[at]!)) at++
  return bytes[at] === COLON ? at : -1
}

/** A byte that is not allowed in a field name (RFC 5322 §3.6.8). */
function isNoise(byte: number): boolean {
  return byte <= SPACE || byte >= 127
}

/** True when the line starts a header field. */
function startsField(bytes: Uint8Array, start: number): boolean {
  let at = start
  while (at < bytes.length && !isNoise(bytes[at]!) && bytes[at] !== COLON) at++
  if (at === start) return false
  while (bytes[at] === SPACE || bytes[at] === TAB) at++
  return bytes[at] === COLON
}

function isEmptyLine(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)
}

function nextLine(bytes: Uint8Array, pos: number): number {
  const lineEnd = bytes.indexOf(LF, pos)
  return lineEnd < 0 ? bytes.length : lineEnd + 1
}

function endOfText(bytes: Uint8Array, start: number, next: number): number {
  if (next <= start || bytes[next - 1] !== LF) return next
  return next - 1 > start && bytes[next - 2] === CR ? next - 2 : next - 1
}
