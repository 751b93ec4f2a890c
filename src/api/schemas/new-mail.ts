// A mail that is to be sent, as it comes over the wire: the members both ways of sending share, and what they become.

import { type Static, Type } from 'typebox'
import { Words } from '../../http/schema.ts'
import { decodeContent } from '../../mime/compose/attachment-rules.ts'
import type { EncodedAttachment, TextContent } from '../../mime/compose/outgoing-content.ts'
import type { Address as MailAddress } from '../../mime/message.ts'
import { record } from './record.ts'

const ADDRESSES_MAX = 50
// Longer than any address, so that one with letters beyond ASCII is judged after its domain has been converted.
const EMAIL_TEXT_MAX = 320
const NAME_MAX = 255
const BODY_MAX = 10_485_760
const SUBJECT_MAX = 998
const HEADERS_MAX = 50
const HEADER_VALUE_MAX = 998
/** Characters from which a text travels as bytes. */
const LONG_TEXT = 32_768

export const Person = record('Person', 'An address a mail goes to or comes from.', {
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

/** Members a mail of either way has. */
export const mailMembers = {
  subject: Type.String({
    minLength: 1,
    maxLength: SUBJECT_MAX,
    pattern: '^[^\\r\\n]*$',
    description: 'Without line breaks.',
    examples: ['Your order 2030-117'],
  }),
  text_body: Type.Optional(
    Type.String({ maxLength: BODY_MAX, description: 'One of the two bodies is needed; "" counts as none.' }),
  ),
  cc: Type.Optional(people('Recipients everybody sees.')),
  bcc: Type.Optional(people('Recipients nobody sees.')),
  custom_headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: HEADER_VALUE_MAX }), {
      maxProperties: HEADERS_MAX,
      description:
        'Header fields by name. What the mail says by its other members (From, To, Subject, Date, Message-ID, Content-*…) cannot be ' +
        'set; Reply-To, In-Reply-To, References and List-* can.',
    }),
  ),
}

/** Members of a file that comes along in the body. */
export const fileMembers = {
  filename: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Its extension must be one of those that may be sent; what runs where it is opened never may.',
  }),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Media type; by the extension unless given.' }),
  ),
  encoding: Type.Optional(Words(['base64'], 'How `content` is encoded.')),
}

export function HtmlBody(minLength: number) {
  return Type.Optional(
    Type.String({
      minLength,
      maxLength: BODY_MAX,
      description: 'Without a text_body a plain form is made of it.',
    }),
  )
}

export function addressOf({ email, name = '' }: Person): MailAddress {
  return { email, name }
}

export function addressesOf(given: readonly Person[] = []): MailAddress[] {
  return given.map(addressOf)
}

/** A body as it travels on. */
export function textOf(text: string | undefined): TextContent | null {
  if (text === undefined) return null
  return text.length < LONG_TEXT ? text : new TextEncoder().encode(text)
}

/** @throws ProductError validation_error for content that is no base64 */
export function fileOf(place: string, file: { filename: string; type?: string; content: string }): EncodedAttachment {
  const decoded = decodeContent(`${place}.content`, file.content)
  // Node cuts small ones from a pool, all of which would travel along between threads.
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
