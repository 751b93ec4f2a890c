// One message of the Sending API: addresses in several forms, brought to one before they are validated.

import { type Static, type TSchema, Type } from 'typebox'
import { type Issue, invalid } from '../../base/errors.ts'
import { parseTime } from '../../http/schema.ts'
import { closed, compileCheck, wrongBody } from '../../http/validate.ts'
import type { EncodedAttachment } from '../../mime/compose/outgoing-content.ts'
import type { NewMail } from '../../outbound/submit/new-message.ts'
import {
  addressesOf,
  addressOf,
  delayMembers,
  fileOf,
  HtmlBody,
  labelMembers,
  MailAttachment,
  mailMembers,
  Person,
  people,
  textOf,
} from '../schemas/new-mail.ts'
import { record } from '../schemas/record.ts'

const RETURN_PATH_MAX = 254
const FILES_MAX = 10
const REPLY_TO_MAX = 10
const TEXT_MAX = 600
const LISTS = ['to', 'cc', 'bcc', 'reply_to'] as const
/** `Ana <ana@shop.example>`; the name may be a quoted string (RFC 5322 §3.2.4). Matched before lengths are checked, in linear time. */
const NAMED = /^(?:"((?:[^"\\]|\\.)*)"\s*|([^"<>]*))<([^<>]*)>$/

const Text = Type.String({
  minLength: 1,
  maxLength: TEXT_MAX,
  description: '`ana@shop.example` or `Ana <ana@shop.example>`.',
})

/** An address as a text or an object. */
function Sender(description: string) {
  return Type.Unsafe<string | Static<typeof Person>>({
    anyOf: [Text, Person],
    description,
    examples: ['Shop <news@shop.example>'],
  })
}

/** One address or a list, each as a text or an object. */
function Addresses(description: string, { minItems = 0, maxItems = 50 } = {}) {
  const items = Type.Unsafe<string | Static<typeof Person>>({ anyOf: [Text, Person] })
  return Type.Unsafe<unknown>({
    anyOf: [Text, Person, Type.Array(items, { minItems, maxItems })],
    description: `${description} One address or a list, each as a text or an object.`,
    examples: ['Ana <ana@customer.example>'],
  })
}

const { cc: _cc, bcc: _bcc, ...texts } = mailMembers
const common = {
  ...texts,
  html_body: HtmlBody(1),
  return_path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: RETURN_PATH_MAX,
      description:
        'Envelope sender, which receives bounces; at a verified domain of the team. Default: an address the appliance generates for ' +
        'each message.',
    }),
  ),
  attachments: Type.Optional(
    Type.Array(MailAttachment, {
      maxItems: FILES_MAX,
      description: 'Files; `blob_id` with the key of a mailbox only.',
    }),
  ),
  ...labelMembers,
  ...delayMembers,
}

export const OutgoingMessage = record(
  'OutgoingMessage',
  'One message. At most 50 different recipients in to, cc and bcc together; attachments of at most 25 MiB decoded.',
  {
    from: Type.Optional(Sender('The sender; see the operation for the default.')),
    to: Addresses('Recipients.', { minItems: 1 }),
    cc: Type.Optional(Addresses('Recipients visible to all recipients.')),
    bcc: Type.Optional(Addresses('Recipients hidden from the others.')),
    reply_to: Type.Optional(Addresses('Reply-To addresses.', { maxItems: REPLY_TO_MAX })),
    ...common,
  },
  {
    from: 'Shop <news@shop.example>',
    to: 'Ana <ana@customer.example>',
    subject: 'Your order',
    text_body: 'It is on its way.',
    tags: { campaign: 'may' },
    metadata: { order: 117 },
  },
)

/** The same with each address as an object and each field of recipients as a list. */
const Strict = Type.Object({
  from: Type.Optional(Person),
  to: people('', { minItems: 1 }),
  cc: Type.Optional(people('')),
  bcc: Type.Optional(people('')),
  reply_to: Type.Optional(people('', { maxItems: REPLY_TO_MAX })),
  ...common,
})
type Strict = Static<typeof Strict>

const checks = new Map(['message', 'body'].map((whole) => [whole, compileCheck(closed(Strict as TSchema), whole)]))

/** A message, and the attachments whose content is still to be loaded by `blob_id`. */
export interface ReadMessage {
  mail: NewMail
  uploads: { index: number; blobId: string }[]
}

/**
 * @param whole name of the message as a whole in errors
 * @throws ProductError missing_parameter, validation_error
 */
export function readOutgoing(given: unknown, whole: 'message' | 'body'): ReadMessage {
  const { value, singles } = inOneForm(given)
  const check = checks.get(whole)!
  if (!check.passes(value)) throw wrongBody(check.issues(value).map((issue) => inGivenForm(issue, singles)))
  return readStrict(value as Strict, singles)
}

/** @param singles fields given as one address instead of a list */
function inOneForm(given: unknown): { value: unknown; singles: string[] } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { value: given, singles: [] }
  const value: Record<string, unknown> = { ...given }
  const singles: string[] = []
  for (const field of LISTS) {
    const one = value[field]
    if (Array.isArray(one)) value[field] = one.map(personOf)
    else if (typeof one === 'string' || (typeof one === 'object' && one !== null)) {
      value[field] = [personOf(one)]
      singles.push(field)
    }
  }
  if ('from' in value) value.from = personOf(value.from)
  return { value, singles }
}

function personOf(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const [, quoted, plain, email] = NAMED.exec(given) ?? []
  return email === undefined ? { email: given } : { email, name: quoted?.replace(/\\(.)/g, '$1') ?? plain!.trimEnd() }
}

/** Errors name the fields as the sender wrote them. */
function inGivenForm({ field, code, message, ...rest }: Issue, singles: readonly string[]): Issue {
  const [list] = field.split('.')
  const isAddress = field === 'from' || (LISTS as readonly string[]).includes(field)
  if (code === 'invalid_type' && isAddress) {
    return { field, code: 'invalid_union', message: `${field} must be an address: a text or an object.`, ...rest }
  }
  if (!singles.includes(list!) || !field.startsWith(`${list}.0`)) return { field, code, message, ...rest }
  const shown = field.replace(`${list}.0`, list!)
  return { field: shown, code, message: message.replace(field, shown), ...rest }
}

function readStrict(given: Strict, singles: string[]): ReadMessage {
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
    headers: given.custom_headers ?? {},
    attachments: attachments.map(attachmentOf),
    returnPath: given.return_path ?? null,
    inReplyTo: null,
    sendAt: sendAt === undefined ? null : parseTime(sendAt, { param: 'send_at' }),
    undoSeconds: given.undo_seconds ?? 0,
    saveToSent: true,
    singles,
    tags: given.tags,
    metadata: given.metadata,
  }
  const uploads = attachments.flatMap(({ blob_id: blobId }, index) => (blobId === undefined ? [] : [{ index, blobId }]))
  return { mail, uploads }
}

function attachmentOf(file: MailAttachment, index: number): EncodedAttachment {
  const { filename, type, content, blob_id: blobId, disposition = 'attachment', content_id: contentId = null } = file
  const field = `attachments.${index}`
  if (content === undefined && blobId === undefined) {
    const message = 'An attachment has no content. Send content or a blob_id.'
    throw wrongBody([{ field: `${field}.content`, code: 'required', message }])
  }
  if (content !== undefined && blobId !== undefined) {
    const message = 'An attachment has both content and a blob_id. Send only one of them.'
    throw invalid(`${field}.blob_id`, 'forbidden_value', message)
  }
  return { ...fileOf(field, { filename, type, content: content ?? 'AA==' }), disposition, contentId }
}
