// Encodes bodies in 7 bits: unencoded, quoted-printable or base64, whichever is shortest (RFC 2045 §6).

import { Buffer, isAscii } from 'node:buffer'
import { LINE_MAX } from './fields.ts'

export interface EncodedBody {
  encoding: '7bit' | 'quoted-printable' | 'base64'
  bytes: Buffer
}

const LF = 10
const CR = 13
const TAB = 9
const SPACE = 32
const EQUALS = 61
const DEL = 127
/** RFC 2045 6.7 and 6.8: characters of an encoded line. */
const LINE = 76
/** A line of plain text may have this many characters (RFC 5322 2.1.1). */
const PLAIN_LINE = 78
/** Every boundary we write contains this; quoted-printable and base64 never do (RFC 2045 §6.7 note). */
export const BOUNDARY_MARK = '=_'

/** Bytes below which the encoded size of a text file does not matter. */
const TINY_TEXT = 10_000

const HEX = Buffer.from('0123456789ABCDEF')

/** Encodes a text with any line ends in its shortest form. Lone surrogates become U+FFFD. */
export function encodeText(text: string): EncodedBody {
  const bytes = Buffer.from(text)
  const { odd, equals, longest, plain } = survey(bytes)
  if (plain && longest <= PLAIN_LINE && (equals === 0 || !text.includes(BOUNDARY_MARK))) {
    return { encoding: '7bit', bytes: text.includes('\r') || text.includes('\n') ? withBreaks(bytes) : bytes }
  }
  // Quoted-printable adds two characters for each such byte, base64 a third of everything.
  if ((odd + equals) * 6 > bytes.length) return { encoding: 'base64', bytes: base64Lines(withBreaks(bytes)) }
  return { encoding: 'quoted-printable', bytes: quotedPrintable(bytes) }
}

/**
 * Encodes an attached ASCII text byte for byte: unencoded, or quoted-printable with line breaks other than CRLF as octets. Null for
 * content that is mostly binary and shorter in base64.
 */
export function encodeTextFile(bytes: Uint8Array): EncodedBody | null {
  if (!isAscii(bytes) || bytes.includes(0)) return null
  if (isPlainContent(bytes)) return { encoding: '7bit', bytes: Buffer.from(bytes) }
  const { odd, equals } = survey(bytes)
  const breaks = countBareBreaks(bytes)
  const isHardlyText = (odd + equals) * 6 > bytes.length || (breaks * 5 > bytes.length && bytes.length > TINY_TEXT)
  return isHardlyText ? null : { encoding: 'quoted-printable', bytes: quotedPrintable(bytes, breaks) }
}

/** Lines of 76 characters, without a break behind the last. */
export function base64Lines(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const breaks = Math.max(0, Math.ceil(text.length / LINE) - 1)
  const out = Buffer.allocUnsafe(text.length + breaks * 2)
  // Written at the end of the buffer, then moved to the front line by line, without overwriting lines not yet moved.
  out.write(text, breaks * 2, 'latin1')
  let from = breaks * 2
  let at = 0
  for (let line = 0; line < breaks; line++) {
    out.copyWithin(at, from, from + LINE)
    out[at + LINE] = CR
    out[at + LINE + 1] = LF
    at += LINE + 2
    from += LINE
  }
  return out
}

/**
 * The encoding in which bytes can be included unencoded (RFC 2045 §2.7, §2.8): CRLF only, lines within limits, no possible boundary.
 * @returns null when they must be encoded
 */
export function unencodedForm(bytes: Uint8Array): '7bit' | '8bit' | null {
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === CR && bytes[at + 1] === LF) start = ++at + 1
    else if (byte === 0 || byte === CR || byte === LF || at - start >= LINE_MAX) return null
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.includes(`--${BOUNDARY_MARK}`)) return null
  return isAscii(bytes) ? '7bit' : '8bit'
}

/** True for printable ASCII that can be included unencoded. */
export function isPlainContent(bytes: Uint8Array): boolean {
  return isPrintable(bytes) && unencodedForm(bytes) === '7bit'
}

/** The bytes with CRLF line breaks, when they have only LF, as message files often do. */
export function withCrlf(bytes: Uint8Array): Uint8Array {
  return bytes.includes(CR) || !bytes.includes(LF) ? bytes : withBreaks(bytes)
}

function isPrintable(bytes: Uint8Array): boolean {
  return bytes.every((byte) => (byte >= SPACE && byte < DEL) || byte === TAB || byte === CR || byte === LF)
}

function countBareBreaks(bytes: Uint8Array): number {
  let count = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === CR && bytes[at + 1] === LF) at++
    else if (bytes[at] === CR || bytes[at] === LF) count++
  }
  return count
}

interface Survey {
  /** Bytes that are not printable ASCII, line breaks and tabs not counted. */
  odd: number
  equals: number
  /** Of the longest line. */
  longest: number
  /** Nothing odd, and no white space at the end of a line. */
  plain: boolean
}

function survey(bytes: Uint8Array): Survey {
  let odd = 0
  let equals = 0
  let longest = 0
  let start = 0
  let blankEnds = false
  let before = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === LF || byte === CR) {
      if (at - start > longest) longest = at - start
      if (before === SPACE || before === TAB) blankEnds = true
      start = at + 1
    } else if (byte === EQUALS) equals++
    else if ((byte < SPACE && byte !== TAB) || byte >= DEL) odd++
    before = byte
  }
  if (before === SPACE || before === TAB) blankEnds = true
  return { odd, equals, longest: Math.max(longest, bytes.length - start), plain: odd === 0 && !blankEnds }
}

/** CR, LF and CRLF all become CRLF. */
function withBreaks(bytes: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(bytes.length * 2)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte !== CR && byte !== LF) {
      out[length++] = byte
      continue
    }
    if (byte === CR && bytes[at + 1] === LF) at++
    out[length++] = CR
    out[length++] = LF
  }
  return out.subarray(0, length)
}

/**
 * A body in quoted-printable (RFC 2045 §6.7).
 * @param exactBreaks how many line breaks are to stay what they are instead of becoming CRLF; none: all become CRLF
 */
export function quotedPrintable(bytes: Uint8Array, exactBreaks?: number): Buffer {
  // Three characters for a byte, and three more where a line is broken, which leaves it at least 60 of them.
  const out = Buffer.allocUnsafe((bytes.length + (exactBreaks ?? 0)) * 3 + Math.ceil(bytes.length / 20) * 3 + 6)
  let length = 0
  let lineStart = 0
  const softBreak = () => {
    out[length++] = EQUALS
    out[length++] = CR
    out[length++] = LF
    lineStart = length
  }
  const octet = (byte: number) => {
    out[length++] = EQUALS
    out[length++] = HEX[byte >> 4]!
    out[length++] = HEX[byte & 15]!
  }
  /** RFC 2045 6.7 (3): white space at the end of a line is removed by some mail servers. */
  const endLine = () => {
    const last = out[length - 1]
    if (length === lineStart || (last !== SPACE && last !== TAB)) return
    length--
    if (length - lineStart > LINE - 3) softBreak()
    octet(last)
  }
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (exactBreaks !== undefined && (byte === LF || (byte === CR && bytes[at + 1] !== LF))) {
      if (length - lineStart > LINE - 4) softBreak()
      octet(byte)
      if (at + 1 < bytes.length) softBreak()
    } else if (byte === CR || byte === LF) {
      endLine()
      if (byte === CR && bytes[at + 1] === LF) at++
      out[length++] = CR
      out[length++] = LF
      lineStart = length
    } else if ((byte > SPACE - 1 || byte === TAB) && byte < DEL && byte !== EQUALS) {
      if (length - lineStart > LINE - 2) softBreak()
      out[length++] = byte
    } else {
      // A multi-byte character stays on one line: some clients decode line by line.
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
      if (length - lineStart + size * 3 > LINE - 1) softBreak()
      octet(byte)
    }
  }
  endLine()
  return out.subarray(0, length)
}
