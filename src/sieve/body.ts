// The body of a message as scripts can test it (RFC 5173), up to a limit.

import { Buffer } from 'node:buffer'
import { asBuffer } from '../mime/charset.ts'
import { decodeBody, encodedBytes } from '../mime/decode.ts'
import type { Part } from '../mime/message.ts'
import { partText } from '../mime/parse.ts'
import { octets } from './encoded.ts'

/** Octets of the body that one test examines; the rest is ignored. */
export const BODY_MAX = 1024 * 1024

const LF = 10

/** The message scripts are run on. */
export interface FilteredMessage {
  /** The raw message as stored. */
  bytes: Uint8Array
  root: Part | null
  /** Its text up to BODY_MAX, LF line ends. */
  text: string
}

/** The undecoded body, its text, or its parts of some types ("text", "text/plain", "" for all). */
export type BodyForm = 'raw' | 'text' | { types: string[] }

/** The strings a test of the body compares, as octets. */
export function bodyOf({ bytes, root, text }: FilteredMessage, form: BodyForm): string[] {
  // RFC 5173 4: a message that consists only of a header has no body to match.
  if (root === null || endsInHeader(bytes, root.bodyStart)) return []
  if (form === 'raw') return [rawBody(bytes, root)]
  return form === 'text' ? [octets(text.replaceAll('\n', '\r\n'))] : partsOf(bytes, root, form.types)
}

/** Whether the message ends before the empty line that would end its header. */
function endsInHeader(bytes: Uint8Array, bodyStart: number): boolean {
  if (bodyStart < bytes.length) return false
  const tail = asBuffer(bytes).toString('latin1', Math.max(0, bytes.length - 4))
  return !/(?:^|\n)\r?\n$/.test(tail)
}

/** The undecoded body (RFC 5173 5.1). */
function rawBody(bytes: Uint8Array, root: Part): string {
  const end = Math.min(root.bodyEnd, root.bodyStart + BODY_MAX)
  return asBuffer(bytes).toString('latin1', root.bodyStart, end)
}

/** The parts of some types, decoded, one by one (RFC 5173 5.2). */
function partsOf(bytes: Uint8Array, root: Part, types: readonly string[]): string[] {
  const found: string[] = []
  let room = BODY_MAX
  for (const part of within(root)) {
    if (!types.some((type) => isOf(part.type, type))) continue
    for (const text of contentOf(bytes, part, room)) {
      found.push(text)
      room = Math.max(0, room - text.length)
    }
  }
  return found
}

/** The part and all parts within it, in their order. */
export function* within(part: Part): Generator<Part> {
  yield part
  for (const inner of part.parts) yield* within(inner)
}

/** "" is any type, "text" any subtype of text, "text/plain" only that type; with slashes elsewhere it is invalid. */
function isOf(type: string, wanted: string): boolean {
  if (wanted === '') return true
  if (wanted.startsWith('/') || wanted.endsWith('/')) return false
  return wanted.includes('/') ? type === wanted : type.startsWith(`${wanted}/`)
}

function contentOf(bytes: Uint8Array, part: Part, room: number): string[] {
  const cut = (from: number, to: number) => asBuffer(bytes).toString('latin1', from, Math.min(to, from + room))
  const [first] = part.parts
  const last = part.parts.at(-1)
  if (first && last && part.type.startsWith('multipart/')) {
    const prologueEnd = lineBefore(bytes, first.headerStart, part.bodyStart)
    return [cut(part.bodyStart, prologueEnd), cut(epilogueStart(bytes, last.bodyEnd, part.bodyEnd), part.bodyEnd)]
  }
  // Of an attached message only the header counts here; its parts count by their own types.
  if (first) return [cut(first.headerStart, first.bodyStart)]
  if (part.type.startsWith('text/')) {
    return [octets(partText(bytes, part, room).replaceAll('\n', '\r\n')).slice(0, room)]
  }
  const end = Math.min(part.bodyEnd, part.bodyStart + encodedBytes(room, part.encoding))
  const decoded = decodeBody(bytes.subarray(part.bodyStart, end), part.encoding)
  return [Buffer.from(decoded.buffer, decoded.byteOffset, decoded.byteLength).toString('latin1', 0, room)]
}

/** Start of the line before an offset: the boundary that opens a part. */
function lineBefore(bytes: Uint8Array, at: number, least: number): number {
  let start = at - 1
  while (start > least && bytes[start - 1] !== LF) start--
  return Math.max(least, start)
}

/** The offset after the closing boundary of a multipart, which is a separate line after its last part. */
function epilogueStart(bytes: Uint8Array, at: number, end: number): number {
  const lineBreak = bytes.indexOf(LF, at)
  if (lineBreak < 0 || lineBreak >= end) return end
  const boundaryEnd = bytes.indexOf(LF, lineBreak + 1)
  return boundaryEnd < 0 || boundaryEnd >= end ? end : boundaryEnd + 1
}
