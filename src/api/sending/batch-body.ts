// Reads the body of a batch: each message is validated independently, so that an error in one leaves the others (docs/design/sending.md §12).

import { Type } from 'typebox'
import { type PlainError, ProductError, plainError } from '../../base/errors.ts'
import type { BodyReader } from '../../http/body-plan.ts'
import type { ReadMail } from '../schemas/new-mail.ts'
import { record } from '../schemas/record.ts'
import { OutgoingMessage, readOutgoing } from './outgoing-message.ts'

/** Most messages of one batch (docs/design/contract.md §8). */
export const BATCH_MAX = 100

const example = {
  from: { email: 'news@shop.example', name: 'Shop' },
  to: { email: 'ana@customer.example', name: 'Ana' },
  subject: 'Your order',
  html_body: '<p>It is on its way.</p>',
  text_body: 'It is on its way.',
}

export const Batch = record(
  'Batch',
  'Messages to send independently of each other.',
  {
    messages: Type.Array(OutgoingMessage, { minItems: 1, maxItems: BATCH_MAX, description: 'At most 100 messages.' }),
  },
  { messages: [example] },
)

/** A valid message, or the errors of an invalid one. */
export type Read = ReadMail | { refused: PlainError }

export const reader: BodyReader<{ messages: Read[] }> = {
  // An error inside a message fails that message only, wrong types included.
  schema: Type.Object({ messages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX }) }),
  read: ({ messages }) => ({ messages: (messages as unknown[]).map(readOne) }),
}

function readOne(given: unknown): Read {
  try {
    return readOutgoing(given, 'message')
  } catch (error) {
    if (error instanceof ProductError) return { refused: plainError(error) }
    throw error
  }
}
