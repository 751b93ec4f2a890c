// Sizes of decoded bodies, for IMAP's BINARY.SIZE, without keeping the decoded bytes.

import { withCrlf } from './line-ends.ts'
import type { Part } from './message.ts'
import { decodeQuotedPrintable, isBase64Byte } from './transfer.ts'

/** Encodings that leave lines of text as they are. */
const LINES = new Set(['7bit', '8bit'])
const EQUALS = 61

/**
 * Sets `decodedBytes` of every part that is no multipart. Linear in the bytes, never throws.
 * @param known decoded sizes of parts that were decoded already
 */
export function setDecodedSizes(bytes: Uint8Array, root: Part, known: ReadonlyMap<Part, number>): void {
  const parts = [root]
  for (let part = parts.pop(); part; part = parts.pop()) {
    parts.push(...part.parts)
    if (part.type.startsWith('multipart/')) continue
    part.decodedBytes = decodedSize(bytes, part, known.get(part))
  }
}

/** Size of what BINARY serves of a part; null for an unknown Content-Transfer-Encoding. */
function decodedSize(bytes: Uint8Array, part: Part, known: number | undefined): number | null {
  const { bodyStart, bodyEnd, encoding, bodyLf = 0 } = part
  if (LINES.has(encoding)) return bodyEnd - bodyStart + bodyLf
  if (encoding === 'binary') return bodyEnd - bodyStart
  if (encoding !== 'base64' && encoding !== 'quoted-printable') return null
  if (known !== undefined && bodyLf === 0) return known
  const body = bytes.subarray(bodyStart, bodyEnd)
  if (encoding === 'base64') return base64Size(body)
  return decodeQuotedPrintable(bodyLf > 0 ? withCrlf(body) : body).length
}

/** Length of `decodeBase64`: of each run up to padding, every four characters are three bytes. */
function base64Size(body: Uint8Array): number {
  let size = 0
  let run = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (isBase64Byte(byte)) run++
    else if (byte === EQUALS) {
      size += Math.floor((run * 3) / 4)
      run = 0
    }
  }
  return size + Math.floor((run * 3) / 4)
}
