// A message to send, as in request bodies: the members common to both ways of sending.

import { type Static, Type } from 'typebox'
import { Words } from '../../http/schema.ts'
import { decodeContent } from '../../mime/compose/attachment-rules.ts'
import type { EncodedAttachment, TextContent } from '../../mime/compose/outgoing-content.ts'
import type { Address as MailAddress } from '../../mime/message.ts'
import { record } from './record.ts'

const ADDRESSES_MAX = 50
// Longer than any address, so that an address with non-ASCII letters is checked after its domain has been converted.
const EMAIL_TEXT_MAX = 320
const NAME_MAX = 255
const BODY_MAX = 10_485_760
const SUBJECT_MAX = 998
const HEADERS_MAX = 50
const HEADER_VALUE_MAX = 998
/** Characters from which a text is passed as bytes between threads. */
const LONG_TEXT = 32_768

export const Person = record('Person', 'An address of a sender or recipient.', {
  email: Type.String({
    minLength: 1,
    maxLength: EMAIL_TEXT_MAX,
    description: 'As name@domain; the domain may be written with U-labels.',
    examples: ['ana@shop.example'],
  }),
  name: Type.Optional(Type.String({ maxLength: NAME_MAX, description: 'Display name.' })),
})
export type Person = Static<typeof Person>

export function people(description: string, { minItems = 0, maxItems = ADDRESSES_MAX } = {}) {
  return Type.Array(Person, { minItems, maxItems, description })
}

/** Members common to both ways of sending. */
export const mailMembers = {
  subject: Type.String({
    minLength: 1,
    maxLength: SUBJECT_MAX,
    pattern: '^[^\\r\\n]*$',
    description: 'Without line breaks.',
    examples: ['Your order 2030-117'],
  }),
  text_body: Type.Optional(
    Type.String({ maxLength: BODY_MAX, description: 'One of the two bodies is required; "" counts as missing.' }),
  ),
  cc: Type.Optional(people('Recipients visible to all recipients.')),
  bcc: Type.Optional(people('Recipients hidden from the others.')),
  custom_headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: HEADER_VALUE_MAX }), {
      maxProperties: HEADERS_MAX,
      description:
        'Header fields by name. Fields that other members set (From, To, Subject, Date, Message-ID, Content-*…) are rejected; ' +
        'Reply-To, In-Reply-To, References and List-* are allowed.',
    }),
  ),
}

/** Members of an attachment in the body. */
export const fileMembers = {
  filename: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The extension must be permitted; executable types are always rejected.',
  }),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Media type; derived from the extension by default.' }),
  ),
  encoding: Type.Optional(Words(['base64'], 'Encoding of `content`.')),
}

export function HtmlBody(minLength: number) {
  return Type.Optional(
    Type.String({
      minLength,
      maxLength: BODY_MAX,
      description: 'Without a text_body a plain text is derived from it.',
    }),
  )
}

export function addressOf({ email, name = '' }: Person): MailAddress {
  return { email, name }
}

export function addressesOf(given: readonly Person[] = []): MailAddress[] {
  return given.map(addressOf)
}

/** A body text in the form it is passed between threads. */
export function textOf(text: string | undefined): TextContent | null {
  if (text === undefined) return null
  return text.length < LONG_TEXT ? text : new TextEncoder().encode(text)
}

/** @throws ProductError validation_error for content that is not base64 */
export function fileOf(field: string, file: { filename: string; type?: string; content: string }): EncodedAttachment {
  const decoded = decodeContent(`${field}.content`, file.content)
  // Node cuts small buffers from a pool, and posting one to another thread would copy the whole pool.
  const content = decoded.length === decoded.buffer.byteLength ? decoded : new Uint8Array(decoded)
  return {
    filename: file.filename,
    type: file.type ?? null,
    content,
    sizeBytes: content.length,
    encoding: null,
    disposition: 'attachment',
    contentId: null,
  }
}
