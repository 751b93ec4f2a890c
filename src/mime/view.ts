// Reads the displayed parts of a message: its header and the two forms of its body, decoded and cut to length.

import { HTML_MAX, htmlToText } from '../html/visible-text.ts'
import { decodeHeader, decodeText, encodedBytes } from './decode.ts'
import { fieldText, HEADER_BYTES_MAX, readHeaders } from './headers.ts'
import type { Part } from './message.ts'
import { declaredCharset, findPart } from './structure.ts'

/** Reads the bytes of a message from `start` to `end` (exclusive). */
export type ReadBytes = (start: number, end: number) => Uint8Array | Promise<Uint8Array>

/** The structure of a message as far as displaying it needs. */
export interface MessageLayout {
  sizeBytes: number
  root: Part | null
  textPart: string | null
  htmlPart: string | null
}

/** Header fields shown of one message (docs/design/mailbox.md §3). */
export const FIELDS_MAX = 200
/** Bytes read of one part at most: decoding more would block the event loop. */
export const BODY_BYTES_MAX = 4 * 1024 * 1024

// A code point takes at most four bytes in the character sets of mail.
const BYTES_PER_CHAR = 4

export interface DecodedBodies {
  text: string | null
  html: string | null
  textSource: 'text' | 'html' | 'none'
  truncated: { text: boolean; html: boolean }
}

export interface DecodedField {
  /** As written. */
  name: string
  value: string
}

interface CutText {
  content: string
  /** True when the part has more bytes than were read. */
  more: boolean
}

/** Both bodies, each cut at `chars` code points. Where there is no text part, the text is made from the HTML. */
export async function readBodies(read: ReadBytes, layout: MessageLayout, chars: number): Promise<DecodedBodies> {
  const textPart = partNamed(layout, layout.textPart)
  const htmlPart = partNamed(layout, layout.htmlPart)
  const text = textPart && (await readPart(read, textPart, chars * BYTES_PER_CHAR))
  // Markup is many times longer than the text in it.
  const htmlRoom = text ? chars * BYTES_PER_CHAR : Math.max(chars * BYTES_PER_CHAR, HTML_MAX)
  const html = htmlPart && (await readPart(read, htmlPart, htmlRoom))
  const shown = text ?? (html && { content: htmlToText(html.content), more: html.more })
  const [textCut, htmlCut] = [cut(shown, chars), cut(html, chars)]
  return {
    text: textCut.content,
    html: htmlCut.content,
    textSource: text ? 'text' : html ? 'html' : 'none',
    truncated: { text: textCut.truncated, html: htmlCut.truncated },
  }
}

/** The first FIELDS_MAX fields of the header, in its order. */
export async function readHeader(read: ReadBytes, { sizeBytes, root }: MessageLayout): Promise<DecodedField[]> {
  const end = Math.min(root?.bodyStart ?? sizeBytes, sizeBytes, HEADER_BYTES_MAX)
  const bytes = await read(0, end)
  return readHeaders(bytes)
    .fields.slice(0, FIELDS_MAX)
    .map((field) => ({
      name: Buffer.from(bytes.subarray(field.start, field.start + field.name.length)).toString('latin1'),
      value: decodeHeader(fieldText(field, field.name === 'subject' ? declaredCharset(root) : null)),
    }))
}

function partNamed({ root }: MessageLayout, id: string | null): Part | null {
  return (root && id !== null && findPart(root, id)) || null
}

async function readPart(read: ReadBytes, part: Part, room: number): Promise<CutText> {
  const wanted = Math.min(encodedBytes(room, part.encoding), BODY_BYTES_MAX)
  const end = Math.min(part.bodyEnd, part.bodyStart + wanted)
  const bytes = await read(part.bodyStart, end)
  return { content: decodeText(bytes, part), more: end < part.bodyEnd }
}

function cut(body: CutText | null, chars: number): { content: string | null; truncated: boolean } {
  if (!body) return { content: null, truncated: false }
  const { content, more } = body
  // A code point has at most two code units: shorter texts need not be counted.
  if (content.length <= chars) return { content, truncated: more }
  let end = 0
  for (let count = 0; count < chars && end < content.length; count++) end += content.codePointAt(end)! > 0xffff ? 2 : 1
  return { content: content.slice(0, end), truncated: more || end < content.length }
}
