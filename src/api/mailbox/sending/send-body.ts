// Reads the body of a message to send from a mailbox (docs/design/mailbox.md §7).

import { type Static, Type } from 'typebox'
import { invalid } from '../../../base/errors.ts'
import type { BodyReader } from '../../../http/body-plan.ts'
import { Default, Id } from '../../../http/schema.ts'
import { ATTACHMENTS_MAX } from '../../../mime/compose/attachment-rules.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import {
  delayMembers,
  HtmlBody,
  labelMembers,
  MailAttachment,
  mailMembers,
  Person,
  people,
  REPLY_TO_MAX,
  type ReadMail,
  readMail,
} from '../../schemas/new-mail.ts'
import { record } from '../../schemas/record.ts'

export const NewMessage = record(
  'NewMessage',
  'A message to send. At most 50 different recipients in to, cc and bcc together; attachments of at most 25 MiB decoded.',
  {
    from: Type.Optional(Person),
    to: people('Recipients.', { minItems: 1 }),
    ...mailMembers,
    html_body: HtmlBody(0),
    reply_to: Type.Optional(people('Reply-To addresses.', { maxItems: REPLY_TO_MAX })),
    attachments: Type.Optional(Type.Array(MailAttachment, { maxItems: ATTACHMENTS_MAX, description: 'Files.' })),
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

export const reader: BodyReader<ReadMail> = {
  schema: NewMessage,
  read: (body) => readMessage(body as NewMessage),
}

function readMessage(given: NewMessage): ReadMail {
  const { mail, uploads } = readMail(given, {
    missing: ({ field, code, message }) => invalid(field, code, message),
    inlineBytesMax: MAILBOX_LIMITS.inline_attachment_bytes_max,
  })
  const inReplyTo = given.in_reply_to_message_id ?? null
  return { mail: { ...mail, inReplyTo, saveToSent: given.save_to_sent }, uploads }
}
