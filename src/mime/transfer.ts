// Decodes base64 and quoted-printable, tolerating malformed input, in linear time.

import { Buffer } from 'node:buffer'
import { asBuffer } from './charset.ts'

const EQUALS = 61
const LF = 10
const CR = 13

/** Value of each base64 character (RFC 2045 6.8), -1 for what is none. */
const BASE64 = new Int8Array(256).fill(-1)
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  BASE64[character.charCodeAt(0)] = value
}

/** True for a character of the base64 alphabet (RFC 2045 §6.8). */
export function isBase64Byte(byte: number): boolean {
  return BASE64[byte]! >= 0
}

/** Value of each hexadecimal digit, -1 for what is none. */
const HEX = new Int8Array(256).fill(-1)
for (let value = 0; value < 16; value++) {
  HEX[value.toString(16).charCodeAt(0)] = value
  HEX[value.toString(16).toUpperCase().charCodeAt(0)] = value
}

/**
 * Bytes of base64 text. Characters outside the alphabet are skipped (RFC 2045 §6.8); padding in the middle, as in
 * base64 blocks concatenated, ends a group of four, and decoding continues behind it.
 */
export function decodeBase64(body: Uint8Array): Uint8Array {
  const buffer = asBuffer(body)
  return isPlainBase64(buffer) ? Buffer.from(buffer.toString('latin1'), 'base64') : decodeOddBase64(buffer)
}

/** Node's own decoder is fast, but stops at the first "=" and takes "-" and "_" for characters of the alphabet. */
function isPlainBase64(buffer: Buffer): boolean {
  const padding = buffer.indexOf(EQUALS)
  if (padding >= 0 && !/^[=\s]{1,16}$/.test(buffer.toString('latin1', padding, padding + 17))) return false
  return !buffer.includes(45) && !buffer.includes(95)
}

function decodeOddBase64(body: Buffer): Uint8Array {
  return new Base64Groups().decode(body)
}

/** Decodes groups of four characters, which may be split between two pieces of the text. */
export class Base64Groups {
  #bits = 0
  #count = 0

  decode(piece: Uint8Array): Uint8Array {
    const out = Buffer.allocUnsafe(Math.ceil(piece.length / 4) * 3 + 3)
    let length = 0
    let bits = this.#bits
    let count = this.#count
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!
      const value = BASE64[byte]!
      if (value >= 0) {
        bits = ((bits << 6) | value) & 0xffffff
        if (++count === 1) continue
        out[length++] = bits >> (8 - count * 2)
        if (count === 4) count = 0
      } else if (byte === EQUALS) count = 0
    }
    this.#bits = bits
    this.#count = count
    return out.subarray(0, length)
  }
}

/**
 * Bytes of quoted-printable text (RFC 2045 6.7): white space at the end of lines goes, "=" at the end joins lines, and a
 * "=" that starts no octet stays as it is. `inWord` reads the encoded word's form, where no line ends.
 */
export function decodeQuotedPrintable(body: Uint8Array, inWord = false): Uint8Array {
  const out = Buffer.allocUnsafe(body.length)
  let length = 0
  /** Offset in `out` of trailing white space of the current line; -1 for none. */
  let blank = -1
  let at = 0
  while (at < body.length) {
    const byte = body[at]!
    if (byte === EQUALS) {
      const octet = octetAt(body, at)
      const skip = octet < 0 ? softBreak(body, at + 1) : at + 3
      if (octet >= 0) out[length++] = octet
      else if (skip < 0) out[length++] = byte
      at = skip < 0 ? at + 1 : skip
      blank = -1
      continue
    }
    if (byte === LF && blank >= 0 && !inWord) length = endOfLine(out, blank, body[at - 1] === CR)
    if (byte !== 32 && byte !== 9 && byte !== CR) blank = -1
    else if (blank < 0) blank = length
    out[length++] = byte
    at++
  }
  return out.subarray(0, blank >= 0 && !inWord ? blank : length)
}

/** Drops the white space in front of a line break, not the CR of the break itself. */
function endOfLine(out: Buffer, blank: number, cr: boolean): number {
  if (!cr) return blank
  out[blank] = CR
  return blank + 1
}

function octetAt(body: Uint8Array, at: number): number {
  if (at + 2 >= body.length) return -1
  const high = HEX[body[at + 1]!]!
  const low = HEX[body[at + 2]!]!
  return high < 0 || low < 0 ? -1 : (high << 4) | low
}

/** Where the next line starts when only white space stands behind the "=", -1 when there is more. */
function softBreak(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length && (body[at] === 32 || body[at] === 9 || body[at] === CR)) at++
  if (at === body.length) return at
  return body[at] === LF ? at + 1 : -1
}
