// Parses the header of a message or of one of its parts into fields with byte offsets, within fixed limits.

import { decodeRaw } from './charset.ts'
import { fieldNameAt, isNameByte } from './field-names.ts'

/** Bounds of one header block (architecture decision 13). Sizes are bytes. */
export const HEADER_BYTES_MAX = 256 * 1024
export const HEADER_LINES_MAX = 1000
export const FIELD_BYTES_MAX = 64 * 1024

/** RFC 5322 §3.6: fields that occur at most once. */
export const SINGLE_FIELDS: readonly string[] = [
  ...['date', 'from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['message-id', 'in-reply-to', 'references', 'subject'],
]

/** One field. `start` and `end` are byte offsets in the message; `end` is behind the field's last line break. */
export interface HeaderField {
  /** Lower-case. */
  name: string
  /** The raw value behind the colon, folding included, without the last line break; at most FIELD_BYTES_MAX bytes. */
  value: Uint8Array
  start: number
  end: number
}

export interface Headers {
  fields: HeaderField[]
  /** Where the body starts: behind the empty line, or where the header ends without one. */
  bodyStart: number
  /** The exceeded limit, one short sentence; null when none. Fields beyond a limit are omitted. */
  problem: string | null
}

/** Whether the line between two offsets (line break excluded) is a boundary of a multipart around it. */
export type BoundaryTest = (lineStart: number, lineEnd: number) => boolean

const LF = 10
const CR = 13
const SPACE = 32
const TAB = 9
const COLON = 58
const DASH = 45
/** "content-", in any case. */
const CONTENT_FIELD = [...'content-'].map((character) => character.charCodeAt(0) | 0x20)

/** The range of a header that is not that of a whole message. */
export interface HeaderRange {
  start?: number
  end?: number
  isBoundary?: BoundaryTest
  /** True for the header of a part of a multipart, which may end without an empty line. */
  isPart?: boolean
}

/**
 * Reads the header that starts at `start`. Malformed lines are skipped; in the header of a part they may start its body. A block
 * whose first line is not a field has no header, and its body starts there.
 * Never throws; time is linear in what it reads.
 */
export function readHeaders(bytes: Uint8Array, range: HeaderRange = {}): Headers {
  const { start = 0, end = bytes.length, isBoundary, isPart = false } = range
  const reader = new HeaderReader(bytes, start, end, isPart)
  let pos = start
  while (pos < end) {
    const next = nextLine(bytes, pos, end)
    const lineEnd = endOfText(bytes, pos, next)
    if (lineEnd === pos) return reader.emptyLine(next)
    if (bytes[pos] === DASH && bytes[pos + 1] === DASH && isBoundary?.(pos, lineEnd)) return reader.breakOff(pos)
    if (!reader.line(pos, lineEnd, next)) return isPart ? reader.breakOff(pos) : reader.finish(pos)
    pos = next
  }
  return reader.breakOff(end)
}

/** The first field of this (lower-case) name. */
export function findField(fields: readonly HeaderField[], name: string): HeaderField | undefined {
  return fields.find((field) => field.name === name)
}

/**
 * The value as text on one line: unfolded, trimmed, encoded words not yet decoded. Raw 8-bit text is UTF-8 (RFC 6532)
 * where it is valid UTF-8; else it is of the charset the message declares, or windows-1252, what old mailers most often
 * meant.
 */
export function fieldText(field: HeaderField, declared: string | null = null): string {
  return unfolded(decodeRaw(field.value, declared))
}

/** RFC 5322 §2.2.3: unfolding removes the line break only, the white space behind it stays. */
export function unfolded(text: string): string {
  return text.replace(/\r?\n/g, '').trim()
}

/** Text of the first field of this name, null when there is none. */
export function headerText(
  fields: readonly HeaderField[],
  name: string,
  declared: string | null = null,
): string | null {
  const field = findField(fields, name)
  return field ? fieldText(field, declared) : null
}

/** Collects fields line by line; content beyond a limit is skipped, and the first exceeded limit is recorded. */
class HeaderReader {
  private readonly bytes: Uint8Array
  private readonly start: number
  private readonly end: number
  private readonly isPart: boolean
  private readonly fields: HeaderField[] = []
  private problem: string | null = null
  private lines = 0
  private fieldStart = -1
  private valueStart = 0
  private valueEnd = 0
  private fieldEnd = 0
  /** Start of the last run of malformed lines, -1 when a field followed it. */
  private orphans = -1

  constructor(bytes: Uint8Array, start: number, end: number, isPart: boolean) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.isPart = isPart
  }

  /** Processes one line; false when the header ended before it. */
  line(pos: number, lineEnd: number, next: number): boolean {
    this.lines++
    const first = this.bytes[pos]
    if (first === SPACE || first === TAB) return this.continuation(pos, lineEnd, next)
    this.keep()
    const colon = endOfName(this.bytes, pos, lineEnd)
    if (colon < 0 || (this.isPart && this.orphans >= 0 && !this.isContentField(pos))) return this.noField(pos)
    this.orphans = -1
    if (this.within(pos, next)) {
      this.fieldStart = pos
      this.valueStart = colon + 1
      this.valueEnd = lineEnd
      this.fieldEnd = next
    }
    return true
  }

  finish(bodyStart: number): Headers {
    this.keep()
    return { fields: this.fields, bodyStart: Math.min(bodyStart, this.end), problem: this.problem }
  }

  /** Ends a header at an empty line; in a part with malformed lines before it, those lines are the body already. */
  emptyLine(next: number): Headers {
    return this.isPart && this.orphans >= 0 ? this.finish(this.orphans) : this.finish(next)
  }

  /** Ends a header without an empty line: trailing malformed lines are the body then. */
  breakOff(pos: number): Headers {
    return this.finish(this.orphans < 0 ? pos : this.orphans)
  }

  private continuation(pos: number, lineEnd: number, next: number): boolean {
    if (this.fieldStart < 0) return this.fields.length > 0 || this.orphans >= 0 || this.problem !== null
    if (this.within(pos, next)) {
      this.valueEnd = lineEnd
      this.fieldEnd = next
    }
    return true
  }

  /** Skips an mbox line or garbage between fields; text or a boundary instead of the first field starts the body. */
  private noField(pos: number): boolean {
    if (this.orphans < 0) this.orphans = pos
    if (pos === this.start) return isMboxLine(this.bytes, pos)
    return !(this.bytes[pos] === DASH && this.bytes[pos + 1] === DASH)
  }

  /** RFC 2045 §3: only these fields have meaning in a part. Behind a malformed line, "Note: …" is body text. */
  private isContentField(pos: number): boolean {
    return CONTENT_FIELD.every((code, index) => (this.bytes[pos + index]! | 0x20) === code)
  }

  /** A line that starts within the limits is read, up to FIELD_BYTES_MAX of its field. */
  private within(pos: number, next: number): boolean {
    if (this.lines > HEADER_LINES_MAX) return this.broken(`The header has more than ${HEADER_LINES_MAX} lines.`)
    if (next - this.start <= HEADER_BYTES_MAX) return true
    this.broken(`The header is longer than ${HEADER_BYTES_MAX} bytes.`)
    return pos - this.start < HEADER_BYTES_MAX
  }

  private broken(problem: string): false {
    this.problem ??= problem
    return false
  }

  private keep(): void {
    if (this.fieldStart < 0) return
    let valueEnd = this.valueEnd
    if (valueEnd - this.fieldStart > FIELD_BYTES_MAX) {
      this.broken(`A header field is longer than ${FIELD_BYTES_MAX} bytes.`)
      valueEnd = Math.max(this.valueStart, this.fieldStart + FIELD_BYTES_MAX)
    }
    const name = fieldNameAt(this.bytes, this.fieldStart, this.valueStart - 1)
    const value = this.bytes.subarray(this.valueStart, valueEnd)
    this.fields.push({ name, value, start: this.fieldStart, end: this.fieldEnd })
    this.fieldStart = -1
  }
}

/** Offset of the next line. Header lines are short: a loop is as fast as indexOf. */
function nextLine(bytes: Uint8Array, pos: number, end: number): number {
  let at = pos
  while (at < end && bytes[at] !== LF) at++
  return at < end ? at + 1 : end
}

function endOfText(bytes: Uint8Array, pos: number, next: number): number {
  let end = next
  if (end > pos && bytes[end - 1] === LF) {
    end--
    if (end > pos && bytes[end - 1] === CR) end--
  }
  return end
}

/** Offset of the colon behind a field name (RFC 5322 3.6.8; 4.5 allows white space in front of it), -1 when there is none. */
function endOfName(bytes: Uint8Array, pos: number, lineEnd: number): number {
  let at = pos
  while (at < lineEnd && isNameByte(bytes[at]!)) at++
  if (at === pos) return -1
  while (at < lineEnd && (bytes[at] === SPACE || bytes[at] === TAB)) at++
  return bytes[at] === COLON && at < lineEnd ? at : -1
}

/** "From ann Thu Jan 1 …", also with a leading ">": a remainder of an mbox file. */
function isMboxLine(bytes: Uint8Array, pos: number): boolean {
  const at = bytes[pos] === 62 ? pos + 1 : pos
  return [70, 114, 111, 109, 32].every((byte, index) => bytes[at + index] === byte)
}
