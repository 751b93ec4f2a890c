// Decodes bytes in a named character set to text; never throws for any name or bytes.

import { Buffer, isUtf8 } from 'node:buffer'
import libmimeCharset from 'libmime/lib/charset.js'

/** Decoders by label: labels that work are a finite set, so the map is bounded. */
const decoders = new Map<string, TextDecoder>()

/** Names without meaning: the bytes decide between UTF-8 and windows-1252. */
const UNSURE = new Set([
  '',
  'ascii',
  'us-ascii',
  'default',
  '7bit',
  '8bit',
  'binary',
  'unknown',
  'unknown-8bit',
  'x-unknown',
])

/** iconv-lite's own transfer codings, which are no character sets. */
const NO_CHARSET = /^(?:base64|hex|internal)$/i

/** The same bytes as a Buffer, without copying. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** How the bytes of a named character set are decoded. */
export type CharsetKind =
  /** Named UTF-8. */
  | { kind: 'utf8' }
  /** The bytes decide. */
  | { kind: 'guessed' }
  | { kind: 'iso-2022-jp' }
  /** A label of the Encoding Standard. */
  | { kind: 'standard'; label: string }
  /** A name of libmime. */
  | { kind: 'other'; name: string }

const GUESSED: CharsetKind = { kind: 'guessed' }

/**
 * The decoders of the Encoding Standard are tried first: they decode malformed bytes to U+FFFD, where libmime's Japanese decoder
 * makes lone surrogates; libmime (iconv-lite) handles the rest, such as UTF-7 and DOS code pages.
 */
export function charsetKind(charset: string | null): CharsetKind {
  if (charset === null) return GUESSED
  const label = charset.trim().toLowerCase()
  if (label === 'utf-8' || label === 'utf8') return { kind: 'utf8' }
  if (UNSURE.has(label)) return GUESSED
  const name = libmimeCharset.normalizeCharset(label)
  if (/^iso-2022-jp/i.test(name)) return { kind: 'iso-2022-jp' }
  const standard = [name, label].find((one) => decoder(one) !== undefined)
  if (standard !== undefined) return { kind: 'standard', label: standard }
  return NO_CHARSET.test(name) ? { kind: 'guessed' } : { kind: 'other', name }
}

/** Text of the bytes. */
export function decodeCharset(bytes: Uint8Array, charset: string | null): string {
  const buffer = asBuffer(bytes)
  const known = charsetKind(charset)
  switch (known.kind) {
    case 'utf8':
      return buffer.toString('utf8')
    case 'guessed':
      return decodeGuessed(buffer)
    case 'iso-2022-jp':
      return decodeIso2022Jp(buffer)
    case 'standard':
      return decoder(known.label)!.decode(buffer)
    default: {
      // libmime decodes an unknown charset as UTF-8; where that fails, the charset is guessed from the bytes.
      const text = libmimeCharset.decode(buffer, known.name)
      return text.includes('\ufffd') ? decodeGuessed(buffer) : text.toWellFormed()
    }
  }
}

/** Printable ASCII: a charset that decodes it differently cannot be that of raw header text. */
const ASCII = Buffer.from(Array.from({ length: 95 }, (_, index) => 32 + index))

/**
 * Text of a header field without encoded words. Non-ASCII bytes that are not UTF-8 are decoded in the charset the message
 * declares for its body, where that is ASCII-compatible and fits; otherwise the charset is guessed.
 */
export function decodeRaw(bytes: Uint8Array, declared: string | null): string {
  if (declared === null || isUtf8(bytes) || decodeCharset(ASCII, declared) !== ASCII.toString('latin1')) {
    return decodeCharset(bytes, null)
  }
  const text = decodeCharset(bytes, declared)
  return text.includes('\ufffd') ? decodeCharset(bytes, null) : text
}

/** Bytes up to which one pass over the text is cheaper than the searches and the decoder. */
const SHORT_BYTES = 512

/** Text without a named charset: ISO-2022-JP and UTF-8 can be recognised; otherwise windows-1252 is most common. */
function decodeGuessed(buffer: Buffer): string {
  if (buffer.length <= SHORT_BYTES) {
    const text = buffer.toString('latin1')
    if (!/[\x1b\x80-\xff]/.test(text)) return text
  }
  if (looksJapanese(buffer)) return decodeIso2022Jp(buffer)
  return isUtf8(buffer) ? buffer.toString('utf8') : decoder('windows-1252')!.decode(buffer)
}

/** Whether bytes without a named charset have escapes of ISO-2022-JP. */
export function looksJapanese(buffer: Buffer): boolean {
  return buffer.includes('\x1b$B') || buffer.includes('\x1b$@')
}

const ESCAPES_IN_A_ROW = /(?:\x1b(?:\([BJI]|\$[@B]))+(?=\x1b(?:\([BJI]|\$[@B]))/g

/** Only the last of consecutive escapes is kept: the decoder rejects the others, which joined encoded words contain. */
export function withoutRepeatedEscapes(buffer: Buffer): Buffer {
  return Buffer.from(buffer.toString('latin1').replace(ESCAPES_IN_A_ROW, ''), 'latin1')
}

function decodeIso2022Jp(buffer: Buffer): string {
  return decoder('iso-2022-jp')!.decode(withoutRepeatedEscapes(buffer))
}

function decoder(label: string): TextDecoder | undefined {
  const known = decoders.get(label)
  if (known) return known
  try {
    const made = new TextDecoder(label)
    decoders.set(label, made)
    return made
  } catch {
    return undefined
  }
}
