// The decision of a person about a message of a program, as the API shows it.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { HELD_STATES, type HeldMessage, HOLD_REASONS } from '../../outbound/held/held-rows.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

export const HoldReasonWords = Words(
  HOLD_REASONS,
  'first_contact: no person has written to a recipient before; after_reading_strangers: a program has read a message of a stranger within a ' +
    'day; always: every message waits; changed: it was changed after it was approved.',
)

export const Approval = record('MessageApproval', 'The approval of a message that a program has sent.', {
  state: Words(
    HELD_STATES,
    'held: a person has not decided; edited: a person sent `sent_as` instead; rejected, expired: it is not sent; canceled, withdrawn: its ' +
      'sender or the appliance ended it.',
  ),
  reason: HoldReasonWords,
  detail: Type.String({ description: 'One sentence.' }),
  expires_at: TimeOf('When it is no longer waited for.'),
  decided_at: TimeOrNull('When it was decided or ended.'),
  note: Nullable(Type.String({ description: 'What the person wrote to the program.' })),
  sent_as: Nullable({ ...Id('email'), description: 'The message that was sent instead.' }),
})

export function presentApproval(held: HeldMessage | undefined): Static<typeof Approval> | null {
  if (held === undefined) return null
  const { state, reason, detail, expiresAt, decidedAt, note, sentAs } = held
  return {
    ...{ state, reason, detail, expires_at: isoTime(expiresAt) },
    ...{ decided_at: decidedAt === null ? null : isoTime(decidedAt), note, sent_as: sentAs },
  }
}
