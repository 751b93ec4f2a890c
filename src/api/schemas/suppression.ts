// A suppressed address of a team.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { Suppression } from '../../outbound/queue/suppressions.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const SuppressionReason = Words(
  ['bounce', 'complaint', 'manual'],
  '`bounce`: a server reported an unknown recipient; `complaint`: the recipient reported a message as spam.',
)

export const SuppressionJson = record(
  'Suppression',
  'An address the team does not send to: messages to it are rejected with the reason `suppressed`.',
  {
    id: Id('suppression'),
    email: Type.String({ description: 'Lower-case.' }),
    reason: SuppressionReason,
    note: Nullable(Type.String({ description: 'The reply of the server, or a note.' })),
    source_message_id: Nullable(Type.String({ description: '`eml_…` of the message that caused it.' })),
    created_at: TimeOf('Since when.'),
  },
  {
    id: 'sup_0a1b2c3d4e5f6g7h8i9j0k1l',
    email: 'gone@customer.example',
    reason: 'bounce',
    note: '550 5.1.1 user unknown',
    source_message_id: 'eml_7h2k9s4d1f6g3j8l5z0x2c4v',
    created_at: '2030-01-02T03:04:05.000Z',
  },
)
export type SuppressionJson = Static<typeof SuppressionJson>

export function presentSuppression(suppression: Suppression): SuppressionJson {
  return {
    id: suppression.id,
    email: suppression.email,
    reason: suppression.reason,
    note: suppression.note,
    source_message_id: suppression.sourceMessageId,
    created_at: isoTime(suppression.createdAt),
  }
}
