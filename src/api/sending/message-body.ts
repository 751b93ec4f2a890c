// Reads the body that sends one message.

import { Type } from 'typebox'
import type { BodyReader } from '../../http/body-plan.ts'
import type { ReadMail } from '../schemas/new-mail.ts'
import { readOutgoing } from './outgoing-message.ts'

export const reader: BodyReader<ReadMail> = {
  // Validated in `read`, after its addresses have been brought to one form.
  schema: Type.Object({}, { additionalProperties: true }),
  read: (body) => readOutgoing(body, 'body'),
}
