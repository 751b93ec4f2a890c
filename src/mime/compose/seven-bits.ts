// Encodes the 8-bit parts of a finished message in quoted-printable, so that no server on its way has to, which would break signatures.

import { isAscii } from 'node:buffer'
import { readHeaders } from '../headers.ts'
import type { Part } from '../message.ts'
import { isMessage } from '../part.ts'
import { quotedPrintable } from './body.ts'

/** Bytes of a message that are replaced. */
export interface Edit {
  start: number
  end: number
  text: Uint8Array
}

/** Longest line in bytes without its CRLF (RFC 5322 §2.1.1); a body with a longer one is not 7bit (RFC 2045 §2.7). */
export const LINE_MAX = 998
/** Encodings that leave the content as it is. */
const IDENTITIES = new Set(['7bit', '8bit', 'binary'])
/** What is inside was signed or encrypted as it is (RFC 1847 §2.1). */
export const SEALED: ReadonlySet<string> = new Set(['multipart/signed', 'multipart/encrypted'])
const LF = 10

/**
 * The edits after which every leaf part is 7bit. Inner messages, and what is signed or encrypted, stay as they are: RFC 2046 §5.2.1 allows
 * no encoding of a message, and a changed part would not verify.
 * @param root of `readStructure(bytes)`
 */
export function sevenBitEdits(bytes: Uint8Array, root: Part): Edit[] {
  const edits: Edit[] = []
  visit(bytes, root, edits)
  return edits
}

/** @returns whether the part is 7bit with the edits */
function visit(bytes: Uint8Array, part: Part, edits: Edit[]): boolean {
  const body = bytes.subarray(part.bodyStart, part.bodyEnd)
  if (SEALED.has(part.type) || isMessage(part)) return isAscii(body)
  if (part.type.startsWith('multipart/')) {
    if (part.parts.length === 0) return isAscii(body)
    const areSevenBit = part.parts.map((inner) => visit(bytes, inner, edits)).every(Boolean)
    // Text in front of the first part and behind the last is shown by no program, and stays.
    const preamble = bytes.subarray(part.bodyStart, part.parts[0]!.headerStart)
    const epilogue = bytes.subarray(part.parts.at(-1)!.bodyEnd, part.bodyEnd)
    const isSevenBit = areSevenBit && isAscii(preamble) && isAscii(epilogue)
    if (isSevenBit && part.encoding !== '7bit') edits.push(...declare(bytes, part, '7bit'))
    return isSevenBit
  }
  if (!IDENTITIES.has(part.encoding)) return isAscii(body)
  if (!isAscii(body) || hasLongLine(body)) {
    edits.push(...declare(bytes, part, 'quoted-printable'))
    edits.push({ start: part.bodyStart, end: part.bodyEnd, text: quotedPrintable(body) })
  } else if (part.encoding !== '7bit') edits.push(...declare(bytes, part, '7bit'))
  return true
}

function hasLongLine(body: Uint8Array): boolean {
  let start = 0
  for (let at = body.indexOf(LF); at >= 0; at = body.indexOf(LF, start)) {
    if (at - 1 - start > LINE_MAX) return true
    start = at + 1
  }
  return body.length - start > LINE_MAX
}

/** Replaces the Content-Transfer-Encoding of a part, or adds one behind its other fields. */
function declare(bytes: Uint8Array, { headerStart, bodyStart }: Part, encoding: string): Edit[] {
  const { fields } = readHeaders(bytes, { start: headerStart, end: bodyStart })
  const text = Buffer.from(`Content-Transfer-Encoding: ${encoding}\r\n`)
  const [first, ...more] = fields.filter(({ name }) => name === 'content-transfer-encoding')
  if (first !== undefined) {
    const removed = more.map(({ start, end }) => ({ start, end, text: new Uint8Array() }))
    return [{ start: first.start, end: first.end, text }, ...removed]
  }
  const end = fields.at(-1)?.end ?? headerStart
  // A part may begin without the empty line that ends its header.
  const isEnded = bodyStart > end
  return [{ start: end, end, text: isEnded ? text : Buffer.concat([text, Buffer.from('\r\n')]) }]
}
