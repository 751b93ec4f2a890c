// Reads the body of a batch: each message is validated independently, so that an error in one does not affect the others (decisions §8.2).

import { type Static, Type } from 'typebox'
import { type PlainError, ProductError, plainError } from '../../base/errors.ts'
import type { BodyReader } from '../../http/body-plan.ts'
import { closed, compileCheck, wrongBody } from '../../http/validate.ts'
import type { NewMail } from '../../outbound/submit/new-message.ts'
import {
  addressesOf,
  addressOf,
  fileMembers,
  fileOf,
  HtmlBody,
  mailMembers,
  Person,
  textOf,
} from '../schemas/new-mail.ts'
import { record } from '../schemas/record.ts'

/** Most messages of one batch (specification §8). */
export const BATCH_MAX = 100
const RETURN_PATH_MAX = 254
const FILES_MAX = 10

const BatchAttachment = record('BatchAttachment', 'An attachment.', {
  ...fileMembers,
  content: Type.String({ minLength: 1, contentEncoding: 'base64', description: 'Base64 with padding, on one line.' }),
})

const example = {
  from: { email: 'news@shop.example', name: 'Shop' },
  to: { email: 'ana@customer.example', name: 'Ana' },
  subject: 'Your order',
  html_body: '<p>It is on its way.</p>',
  text_body: 'It is on its way.',
}

export const BatchMessage = record(
  'BatchMessage',
  'One message. At most 50 different recipients in to, cc and bcc together; attachments of at most 25 MiB decoded.',
  {
    from: Type.Optional(Person),
    to: Person,
    ...mailMembers,
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
    attachments: Type.Optional(Type.Array(BatchAttachment, { maxItems: FILES_MAX })),
  },
  example,
)
type BatchMessage = Static<typeof BatchMessage>

export const Batch = record(
  'Batch',
  'Messages to send independently of each other.',
  {
    messages: Type.Array(BatchMessage, { minItems: 1, maxItems: BATCH_MAX, description: 'At most 100 messages.' }),
  },
  { messages: [example] },
)

/** A valid message, or the errors of an invalid one. */
export type Read = { mail: NewMail } | { refused: PlainError }

const check = compileCheck(closed(BatchMessage), 'message')

export const reader: BodyReader<{ messages: Read[] }> = {
  // An error inside a message fails that message only, wrong types included.
  schema: Type.Object({ messages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX }) }),
  read: ({ messages }) => ({ messages: (messages as unknown[]).map(readMessage) }),
}

function readMessage(given: unknown): Read {
  try {
    if (!check.passes(given)) throw wrongBody(check.issues(given))
    return { mail: mailOf(given as BatchMessage) }
  } catch (error) {
    if (error instanceof ProductError) return { refused: plainError(error) }
    throw error
  }
}

function mailOf(given: BatchMessage): NewMail {
  const { from, attachments = [] } = given
  return {
    from: from === undefined ? null : addressOf(from),
    to: [addressOf(given.to)],
    cc: addressesOf(given.cc),
    bcc: given.bcc === undefined ? null : addressesOf(given.bcc),
    replyTo: null,
    subject: given.subject,
    textBody: textOf(given.text_body),
    htmlBody: textOf(given.html_body),
    headers: given.custom_headers ?? {},
    attachments: attachments.map((file, index) => fileOf(`attachments.${index}`, file)),
    returnPath: given.return_path ?? null,
    inReplyTo: null,
    sendAt: null,
    undoSeconds: 0,
    saveToSent: true,
  }
}
