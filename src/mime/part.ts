// Describes a MIME part from its header: type, charset, encoding, disposition, names and part number.

import { Buffer } from 'node:buffer'
import { fileName } from './file-name.ts'
import { type HeaderField, headerText } from './headers.ts'
import type { Part } from './message.ts'
import { parseStructured, type StructuredValue, stripComments } from './parameters.ts'
import type { PartDetails } from './part-details.ts'

/** RFC 2046 §5.1.1 allows 70 characters; some mailers write longer ones. Longer than this is not accepted. */
export const BOUNDARY_MAX = 1000
/** Longest accepted media type, Content-ID, charset and encoding name, in characters. */
const TYPE_MAX = 255
const CONTENT_ID_MAX = 998
const NAME_MAX = 60

/** Tokens of RFC 2045 §5.1, and other printable characters that are not separators. */
const MEDIA_TYPE = /^[^/;"()<>@,\x00-\x20\x7f-\uffff]+\/[^;"()<>@,\x00-\x20\x7f-\uffff]+$/

/** A part without its end, and the boundary of its parts (as latin1 of its bytes) when it is a multipart with one. */
export interface PartBeginning {
  part: Part
  boundary: string | null
}

/** Where a part is: the multipart or the message around it, and its offsets. */
export interface PartPosition {
  outer: Part | null
  headerStart: number
  bodyStart: number
}

/** Describes the part between header and body from its fields. */
export function describePart(
  fields: readonly HeaderField[],
  { outer, headerStart, bodyStart }: PartPosition,
  details: PartDetails,
): PartBeginning {
  const content = parseStructured(headerText(fields, 'content-type') ?? '')
  const disposition = parseStructured(headerText(fields, 'content-disposition') ?? '')
  const type = mediaType(content.value, outer)
  const part: Part = {
    id: partId(outer, type.startsWith('multipart/')),
    type,
    charset: shortName(content.parameters.get('charset')),
    encoding: encoding(headerText(fields, 'content-transfer-encoding')),
    disposition: dispositionOf(disposition.value),
    filename: fileName(disposition.parameters.get('filename') ?? content.parameters.get('name') ?? ''),
    contentId: contentId(headerText(fields, 'content-id')),
    headerStart,
    bodyStart,
    bodyEnd: bodyStart,
    lines: 0,
    parts: [],
  }
  details.add(part, { fields, content, disposition })
  return { part, boundary: type.startsWith('multipart/') ? boundaryOf(content) : null }
}

/** An embedded message; in base64 (forbidden by RFC 2046 §5.2.1) it has no byte offsets and is not parsed. */
export function isMessage(part: Part): boolean {
  const identity = part.encoding !== 'base64' && part.encoding !== 'quoted-printable'
  return identity && (part.type === 'message/rfc822' || part.type === 'message/global')
}

/** IMAP's number of the next part inside `outer` (RFC 9051 6.4.5). */
function partId(outer: Part | null, multipart: boolean): string {
  if (outer === null) return multipart ? 'TEXT' : '1'
  if (!outer.type.startsWith('multipart/')) return `${outer.id}.${multipart ? 'TEXT' : '1'}`
  const number = outer.parts.length + 1
  return outer.id.endsWith('TEXT') ? `${outer.id.slice(0, -4)}${number}` : `${outer.id}.${number}`
}

/** RFC 2045 §5.2: the default is text/plain; RFC 2046 §5.1.5: in a multipart/digest it is message/rfc822. */
function mediaType(value: string, outer: Part | null): string {
  if (MEDIA_TYPE.test(value) && value.length <= TYPE_MAX) return value
  return value === '' && outer?.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
}

function boundaryOf(content: StructuredValue): string | null {
  const boundary = Buffer.from(content.parameters.get('boundary') ?? '').toString('latin1')
  return boundary === '' || boundary.length > BOUNDARY_MAX ? null : boundary
}

function encoding(text: string | null): string {
  const word = /^\s*"?([\w-]+)/.exec(stripComments(text ?? ''))?.[1]?.toLowerCase()
  return shortName(word) ?? '7bit'
}

/** RFC 2183 2.8: an unknown disposition is an attachment. */
function dispositionOf(value: string): Part['disposition'] {
  if (value === '') return null
  return value === 'inline' ? 'inline' : 'attachment'
}

function shortName(text: string | undefined): string | null {
  const name = (text ?? '').trim().toLowerCase()
  return /^[!-~]+$/.test(name) && name.length <= NAME_MAX ? name : null
}

function contentId(text: string | null): string | null {
  const id = (text ?? '').replace(/^<|>$|[\x00-\x20\x7f]/g, '')
  return id === '' || id.length > CONTENT_ID_MAX ? null : id
}
