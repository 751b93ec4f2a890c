// Decodes bodies (transfer encoding and charset) and header texts (encoded words).

import { asBuffer, decodeCharset } from './charset.ts'
import { decodeWords } from './encoded-words.ts'
import { decodeBase64, decodeQuotedPrintable } from './transfer.ts'

/** Decodes the Content-Transfer-Encoding of a body; an unknown encoding leaves the bytes unchanged. Never throws. */
export function decodeBody(body: Uint8Array, encoding: string): Uint8Array {
  if (encoding === 'base64') return decodeBase64(body)
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(body)
  return body
}

/** The text of a body with LF line ends, without a byte order mark. An unknown charset is guessed. Never throws. */
export function decodeText(body: Uint8Array, part: { encoding: string; charset: string | null }): string {
  const decoded = decodeCharset(decodeBody(body, part.encoding), part.charset)
  // Some mailers declare base64 but send plain text: it decodes to garbage, and base64 lines have no inner spaces.
  const mislabelled =
    part.encoding === 'base64' &&
    decoded.includes('\ufffd') &&
    /\S +\S/.test(asBuffer(body).toString('latin1', 0, 1000))
  const text = mislabelled ? decodeCharset(body, part.charset) : decoded
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  return plain.includes('\r') ? plain.replace(/\r\n?/g, '\n') : plain
}

/** A header's text (RFC 2047, RFC 6532) on one line: runs of spaces and control characters, also hidden in encoded words, become one space. */
export function decodeHeader(value: string): string {
  return decodeWords(value)
    .replace(/[\x00-\x20\x7f]+/g, ' ')
    .trim()
}

/** Encoded bytes that hold at least this many decoded bytes of text, line breaks included. */
export function encodedBytes(decoded: number, encoding: string): number {
  if (encoding === 'base64') return Math.ceil(decoded / 45) * 62
  return encoding === 'quoted-printable' ? decoded * 3 : decoded
}
