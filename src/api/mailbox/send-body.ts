// Reads the body of a message to send from a mailbox (decisions §10.7).

import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { BodyReader } from '../../http/body-plan.ts'
import { Default, Id, parseTime } from '../../http/schema.ts'
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
import { MAILBOX_LIMITS } from './limits.ts'

const FILES_MAX = 10
const REPLY_TO_MAX = 10

export const NewMessage = record(
  'NewMessage',
  'A message to send. At most 50 different recipients in to, cc and bcc together; attachments of at most 25 MiB decoded.',
  {
    from: Type.Optional(Person),
    to: people('Recipients.', { minItems: 1 }),
    ...mailMembers,
    html_body: HtmlBody(0),
    reply_to: Type.Optional(people('Reply-To addresses.', { maxItems: REPLY_TO_MAX })),
    attachments: Type.Optional(Type.Array(MailAttachment, { maxItems: FILES_MAX, description: 'Files.' })),
    in_reply_to_message_id: Type.Optional({
      ...Id('message'),
      description:
        'The message of this mailbox that is answered: sets In-Reply-To, References and the thread, and marks it as answered.',
    }),
    ...labelMembers,
    ...delayMembers,
    save_to_sent: Default(Type.Boolean({ description: 'Store a copy in Sent.' }), true),
  },
  {
    to: [{ email: 'bob@customer.example', name: 'Bob' }],
    subject: 'Hello',
    text_body: 'Hello Bob',
    undo_seconds: 10,
    save_to_sent: true,
  },
)
type NewMessage = Static<typeof NewMessage>

/** The message, and the attachments whose content is still to be loaded by `blob_id`. */
export interface ReadMailboxMessage {
  mail: NewMail
  uploads: { index: number; blobId: string }[]
}

export const reader: BodyReader<ReadMailboxMessage> = {
  schema: NewMessage,
  read: (body) => readMessage(body as NewMessage),
}

function readMessage(given: NewMessage): ReadMailboxMessage {
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
    returnPath: null,
    inReplyTo: given.in_reply_to_message_id ?? null,
    sendAt: sendAt === undefined ? null : parseTime(sendAt, { param: 'send_at' }),
    undoSeconds: given.undo_seconds ?? 0,
    saveToSent: given.save_to_sent,
    tags: given.tags,
    metadata: given.metadata,
  }
  const uploads = attachments.flatMap(({ blob_id: blobId }, index) => (blobId === undefined ? [] : [{ index, blobId }]))
  return { mail, uploads }
}

function attachmentOf(file: MailAttachment, index: number): EncodedAttachment {
  const { filename, type, content, blob_id: blobId, disposition = 'attachment', content_id: contentId = null } = file
  const field = `attachments.${index}`
  if (content !== undefined && blobId !== undefined) {
    throw invalid(
      `${field}.blob_id`,
      'forbidden_value',
      'An attachment has both content and a blob_id. Send only one of them.',
    )
  }
  if (content === undefined && blobId === undefined) {
    throw invalid(`${field}.content`, 'required', 'An attachment has no content. Send content or a blob_id.')
  }
  const read = fileOf(field, { filename, type, content: content ?? 'AA==' })
  const most = MAILBOX_LIMITS.inline_attachment_bytes_max
  if (read.sizeBytes > most) {
    throw invalid(
      `${field}.content`,
      'too_big',
      `The file is too large. A file inside the body has at most ${most} bytes; upload larger ones and send their blob_id.`,
    )
  }
  return { ...read, disposition, contentId }
}
