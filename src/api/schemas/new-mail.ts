// A message to send, as in request bodies: the members common to both ways of sending, and how they are read.

import { type Static, Type } from 'typebox'
import { type Issue, invalid, type ProductError } from '../../base/errors.ts'
import { parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { decodeContent } from '../../mime/compose/attachment-rules.ts'
import { WORD_MAX } from '../../mime/compose/fields.ts'
import type { EncodedAttachment, TextContent } from '../../mime/compose/outgoing-content.ts'
import type { Address as MailAddress } from '../../mime/message.ts'
import { REFERENCES_MAX } from '../../mime/references.ts'
import { TAG_MAX, TAGS_MAX } from '../../outbound/model/message-labels.ts'
import type { NewMail } from '../../outbound/model/new-message.ts'
import { record } from './record.ts'

const ADDRESSES_MAX = 50
// Longer than any address, so that an address with non-ASCII letters is checked after its domain has been converted.
const EMAIL_TEXT_MAX = 320
const NAME_MAX = 255
export const BODY_MAX = 10_485_760
export const SUBJECT_MAX = 998
const HEADERS_MAX = 50
const HEADER_VALUE_MAX = 998
/** Addresses of Reply-To. */
export const REPLY_TO_MAX = 10
export const UNDO_SECONDS_MAX = 120
export const CONTENT_ID_MAX = 255
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

const HeadersByName = Type.Record(Type.String(), Type.String({ maxLength: HEADER_VALUE_MAX }), {
  maxProperties: HEADERS_MAX,
})
/** As responses have them. */
const HeaderList = Type.Array(
  Type.Object(
    { name: Type.String(), value: Type.String({ maxLength: HEADER_VALUE_MAX }) },
    { additionalProperties: false },
  ),
  { maxItems: HEADERS_MAX },
)

/** With or without angle brackets: some responses and events have them, others do not. */
function MessageId(description: string) {
  return Type.String({
    maxLength: WORD_MAX,
    pattern: '^(?:<[!-;=?-~]+>|[!-;=?-~]+)$',
    description: `${description} With or without angle brackets.`,
    examples: ['<117.2030@shop.example>'],
  })
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
  headers: Type.Optional(
    Type.Union([HeadersByName, HeaderList], {
      description: 'The same as `custom_headers`: by name, or as a list like that of responses. Send one of the two.',
    }),
  ),
  in_reply_to: Type.Optional(
    MessageId(
      'Message-ID of the message that is answered: sets In-Reply-To, and References unless `references` is there.',
    ),
  ),
  references: Type.Optional(
    Type.Array(MessageId('Message-ID of an earlier message of the thread.'), {
      minItems: 1,
      maxItems: REFERENCES_MAX,
      description:
        'Message-IDs of the thread, oldest first, as the answered message has them; `in_reply_to` is added at the end.',
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
  content_type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'The same as `type`, named as in responses.' }),
  ),
  encoding: Type.Optional(Words(['base64'], 'Encoding of `content`.')),
}

/** Returned with the message wherever it is shown. */
export const labelMembers = {
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: TAG_MAX, pattern: '^[^\\x00-\\x1f\\x7f]*$' }), {
      maxProperties: TAGS_MAX,
      description:
        'Values by name, for filters and metrics; returned in the log and in events. A name has 1 to 64 letters, digits, "_", "-" ' +
        'and ".".',
      examples: [{ campaign: 'may' }],
    }),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Any JSON object of at most 4096 bytes; returned in the log and in events. The recipient does not see it.',
      examples: [{ order: 117 }],
    }),
  ),
}

/** When a message is sent. */
export const delayMembers = {
  send_at: Type.Optional({ ...TimeQuery, description: 'When it is sent: 5 seconds to 30 days ahead.' }),
  undo_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: UNDO_SECONDS_MAX,
      description: 'Seconds before it is sent, during which it can be canceled. Default: 0.',
    }),
  ),
}

export const MailAttachment = record(
  'MailAttachment',
  'A file: its `content`, or the `blob_id` of content of the mailbox.',
  {
    ...fileMembers,
    content: Type.Optional(
      Type.String({ minLength: 1, contentEncoding: 'base64', description: 'Base64 with padding, on one line.' }),
    ),
    blob_id: Type.Optional(
      Type.String({ pattern: '^blob_[a-z0-9]{24}$', description: 'A message of this mailbox, or a file in one.' }),
    ),
    disposition: Type.Optional(Words(['attachment', 'inline'], 'As an attachment, or shown inside the HTML body.')),
    content_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: CONTENT_ID_MAX,
        description: 'Content-ID by which the HTML body refers to it as `cid:…`.',
      }),
    ),
  },
)
export type MailAttachment = Static<typeof MailAttachment>

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

/** The members of a body that both ways of sending have, after its validation. */
export interface MailBody {
  from?: Person
  to: Person[]
  cc?: Person[]
  bcc?: Person[]
  reply_to?: Person[]
  subject: string
  text_body?: string
  html_body?: string
  custom_headers?: Record<string, string>
  headers?: Record<string, string> | { name: string; value: string }[]
  in_reply_to?: string
  references?: string[]
  attachments?: MailAttachment[]
  send_at?: string
  undo_seconds?: number
  tags?: Record<string, string>
  metadata?: Record<string, unknown>
}

/** A message, and the attachments whose content is still to be loaded by `blob_id`. */
export interface ReadMail {
  mail: NewMail
  uploads: { index: number; blobId: string }[]
}

interface AttachmentRules {
  /** The error for an attachment without `content` and `blob_id`. */
  missing(issue: Issue): ProductError
  /** Largest file inside the body, bytes. */
  inlineBytesMax?: number
}

/** @throws ProductError validation_error on a time or an attachment; what `rules.missing` returns */
export function readMail(given: MailBody, rules: AttachmentRules): ReadMail {
  const { from, attachments = [], send_at: sendAt } = given
  const mail: NewMail = {
    from: from === undefined ? null : addressOf(from),
    to: addressesOf(given.to),
    cc: addressesOf(given.cc),
    bcc: given.bcc === undefined ? null : addressesOf(given.bcc),
    replyTo: given.reply_to === undefined ? null : addressesOf(given.reply_to),
    subject: given.subject,
    textBody: textOf(given.text_body),
    htmlBody: textOf(given.html_body),
    headers: headersOf(given),
    ...(given.headers !== undefined && { headersAs: 'headers' }),
    ...threadOf(given),
    attachments: attachments.map((file, index) => attachmentOf(file, `attachments.${index}`, rules)),
    returnPath: null,
    inReplyTo: null,
    sendAt: sendAt === undefined ? null : parseTime(sendAt, { param: 'send_at' }),
    undoSeconds: given.undo_seconds ?? 0,
    saveToSent: true,
    tags: given.tags,
    metadata: given.metadata,
  }
  const uploads = attachments.flatMap(({ blob_id: blobId }, index) => (blobId === undefined ? [] : [{ index, blobId }]))
  return { mail, uploads }
}

/** @throws ProductError validation_error */
function headersOf({ custom_headers: custom, headers }: MailBody): Record<string, string> {
  if (headers === undefined) return custom ?? {}
  if (custom !== undefined) {
    throw invalid('headers', 'forbidden_value', 'Send header fields in `headers` or in `custom_headers`, not in both.')
  }
  if (!Array.isArray(headers)) return headers
  const names = new Set(headers.map(({ name }) => name))
  if (names.size < headers.length) throw invalid('headers', 'duplicate', 'A header is there twice. Send each once.')
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]))
}

function threadOf({ in_reply_to: inReplyTo, references = [] }: MailBody): Pick<NewMail, 'thread'> {
  if (inReplyTo === undefined && references.length === 0) return {}
  const answered = inReplyTo === undefined ? null : bare(inReplyTo)
  const ids = [...references.map(bare), ...(answered === null ? [] : [answered])]
  return { thread: { inReplyTo: answered, references: [...new Set(ids)] } }
}

function bare(messageId: string): string {
  return messageId.replace(/^<|>$/g, '')
}

function attachmentOf(file: MailAttachment, field: string, rules: AttachmentRules): EncodedAttachment {
  const { filename, content, blob_id: blobId, disposition = 'attachment', content_id: contentId = null } = file
  const type = file.type ?? file.content_type
  if (content === undefined && blobId === undefined) {
    const message = 'An attachment has no content. Send content or a blob_id.'
    throw rules.missing({ field: `${field}.content`, code: 'required', message })
  }
  if (content !== undefined && blobId !== undefined) {
    const message = 'An attachment has both content and a blob_id. Send only one of them.'
    throw invalid(`${field}.blob_id`, 'forbidden_value', message)
  }
  const read = fileOf(field, { filename, type, content: content ?? 'AA==' })
  const { inlineBytesMax: most = Number.POSITIVE_INFINITY } = rules
  if (read.sizeBytes > most) {
    const message = `The file is too large. A file inside the body has at most ${most} bytes; upload larger ones and send their blob_id.`
    throw invalid(`${field}.content`, 'too_big', message)
  }
  return { ...read, disposition, contentId }
}
