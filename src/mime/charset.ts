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

/**
 * Text of the bytes. The decoders of the Encoding Standard are tried first: they decode malformed bytes to U+FFFD, where
 * libmime's Japanese decoder makes lone surrogates; libmime (iconv-lite) handles the rest, such as UTF-7 and DOS code pages.
 */
export function decodeCharset(bytes: Uint8Array, charset: string | null): string {
  const buffer = asBuffer(bytes)
  const label = (charset ?? '').trim().toLowerCase()
  if (label === 'utf-8' || label === 'utf8') return buffer.toString('utf8')
  if (UNSURE.has(label)) return decodeGuessed(buffer)
  const name = libmimeCharset.normalizeCharset(label)
  if (/^iso-2022-jp/i.test(name)) return decodeIso2022Jp(buffer)
  const known = decoder(name) ?? decoder(label)
  if (known) return known.decode(buffer)
  if (NO_CHARSET.test(name)) return decodeGuessed(buffer)
  // libmime decodes an unknown charset as UTF-8; where that fails, the charset is guessed from the bytes.
  const text = libmimeCharset.decode(buffer, name)
  return text.includes('\ufffd') ? decodeGuessed(buffer) : text.toWellFormed()
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

/** Text without a named charset: ISO-2022-JP and UTF-8 can be recognised; otherwise windows-1252 is most common. */
function decodeGuessed(buffer: Buffer): string {
  if (buffer.includes('\x1b$B') || buffer.includes('\x1b$@')) return decodeIso2022Jp(buffer)
  return isUtf8(buffer) ? buffer.toString('utf8') : decoder('windows-1252')!.decode(buffer)
}

const ESCAPES_IN_A_ROW = /(?:\x1b(?:\([BJI]|\$[@B]))+(?=\x1b(?:\([BJI]|\$[@B]))/g

/** Only the last of consecutive escapes is kept: the decoder rejects the others, which joined encoded words contain. */
function decodeIso2022Jp(buffer: Buffer): string {
  return decoder('iso-2022-jp')!.decode(Buffer.from(buffer.toString('latin1').replace(ESCAPES_IN_A_ROW, ''), 'latin1'))
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
