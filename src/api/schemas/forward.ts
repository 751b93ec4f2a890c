// A forward of a mailbox or alias, as teams and as mailbox credentials see it.

import { type Static, Type } from 'typebox'
import type { ForwardState } from '../../administration/forwards.ts'
import { isoTime } from '../../base/clock.ts'
import { FORWARD_STATUSES, FORWARDS_MAX } from '../../directory/mailboxes/forwards.ts'
import { Default, Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

const ADDRESS_MAX = 320

const KeepCopy = Type.Boolean({
  description:
    'Whether the mailbox keeps a copy. It keeps none only where every address that a message is forwarded to wants none.',
})

export const ForwardStatusText = Words(
  FORWARD_STATUSES,
  '`pending`: waits for the confirmation of the receiver; `expired`: it was not given in 7 days; `declined`, `ended`: refused by the ' +
    'receiver, before or after messages were forwarded.',
)

export const ForwardCreate = record(
  'ForwardCreate',
  'The new forward.',
  {
    to: Type.String({ minLength: 3, maxLength: ADDRESS_MAX, description: 'The address that receives the messages.' }),
    alias: Type.Optional(
      Type.String({
        ...{ minLength: 3, maxLength: ADDRESS_MAX },
        description: 'Only messages to this alias of the mailbox. Default: all it receives.',
      }),
    ),
    keep_copy: Default(KeepCopy, true),
  },
  { to: 'ana@elsewhere.example', keep_copy: true },
)

export const ForwardUpdate = record('ForwardUpdate', 'The change.', { keep_copy: KeepCopy }, { keep_copy: false })

export const ForwardJson = record(
  'Forward',
  `An address that receives what a mailbox or one of its aliases receives. At most ${FORWARDS_MAX} are pending or active for each mailbox.`,
  {
    id: Id('forward'),
    mailbox_id: Id('mailbox'),
    to: Type.String(),
    alias: Nullable(Type.String({ description: 'Null: everything the mailbox receives.' })),
    keep_copy: KeepCopy,
    status: ForwardStatusText,
    suppressed: Type.Boolean({
      description: 'The address is on the suppression list of the team: messages stay in the mailbox.',
    }),
    created_by: Type.String({ description: 'The member or key that made it, or `operator`.' }),
    created_at: TimeOf('When it was created.'),
    expires_at: TimeOrNull('Until when the receiver can confirm; null unless it is pending.'),
    confirmed_at: TimeOrNull('When the receiver confirmed; null before.'),
    ended_at: TimeOrNull('When the receiver refused; null unless so.'),
  },
  {
    ...{ id: 'fwd_0a1b2c3d4e5f6g7h8i9j0k1l', mailbox_id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l' },
    ...{ to: 'ana@elsewhere.example', alias: null, keep_copy: true, status: 'active', suppressed: false },
    ...{ created_by: 'operator', created_at: '2030-01-02T03:04:05.000Z', expires_at: null },
    ...{ confirmed_at: '2030-01-02T03:14:05.000Z', ended_at: null },
  },
)
export type ForwardJson = Static<typeof ForwardJson>

export function presentForwardState({ forward, isSuppressed }: ForwardState): ForwardJson {
  const { id, mailboxId, email, alias, keepsCopy, status, createdBy } = forward
  return {
    ...{ id, mailbox_id: mailboxId, to: email, alias, keep_copy: keepsCopy, status },
    ...{ suppressed: isSuppressed, created_by: createdBy, created_at: isoTime(forward.createdAt) },
    expires_at: status === 'pending' ? isoTime(forward.expiresAt) : null,
    ...{ confirmed_at: isoTimeOrNull(forward.confirmedAt), ended_at: isoTimeOrNull(forward.endedAt) },
  }
}
