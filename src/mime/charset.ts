// Bytes in a named character set become text; whatever the name or the bytes are, it never throws.

import { Buffer, isUtf8 } from 'node:buffer'
import libmimeCharset from 'libmime/lib/charset.js'

/** Decoders by label: labels that work are a finite set, so the map is bounded. */
const decoders = new Map<string, TextDecoder>()

/** Names that promise nothing: the bytes decide between UTF-8 and windows-1252. */
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
 * Text of the bytes. The decoders of the Encoding Standard go first: they answer malformed bytes with U+FFFD, where
 * libmime's Japanese decoder makes lone surrogates; libmime (iconv-lite) knows the rest, such as UTF-7 and DOS code pages.
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
  // An unknown name comes back as UTF-8 whatever the bytes are: then they decide.
  const text = libmimeCharset.decode(buffer, name)
  return text.includes('\ufffd') ? decodeGuessed(buffer) : text.toWellFormed()
}

/** All of printable ASCII: a charset that reads it differently is none of raw header text. */
const ASCII = Buffer.from(Array.from({ length: 95 }, (_, index) => 32 + index))

/**
 * Text of a header field without encoded words. Bytes beyond ASCII that are no UTF-8 are of the charset the message
 * declares for its body, where that is one of text with ASCII in it and fits; else they are guessed.
 */
export function decodeRaw(bytes: Uint8Array, declared: string | null): string {
  if (declared === null || isUtf8(bytes) || decodeCharset(ASCII, declared) !== ASCII.toString('latin1')) {
    return decodeCharset(bytes, null)
  }
  const text = decodeCharset(bytes, declared)
  return text.includes('\ufffd') ? decodeCharset(bytes, null) : text
}

/** What a mailer meant that named no charset: ISO-2022-JP shows itself, UTF-8 too; else windows-1252 was most common. */
function decodeGuessed(buffer: Buffer): string {
  if (buffer.includes('\x1b$B') || buffer.includes('\x1b$@')) return decodeIso2022Jp(buffer)
  return isUtf8(buffer) ? buffer.toString('utf8') : decoder('windows-1252')!.decode(buffer)
}

const ESCAPES_IN_A_ROW = /(?:\x1b(?:\([BJI]|\$[@B]))+(?=\x1b(?:\([BJI]|\$[@B]))/g

/** Of escapes in a row the last one counts; the decoder takes the others for an error. Joined encoded words have such. */
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
