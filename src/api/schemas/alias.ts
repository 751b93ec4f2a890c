// An alias of a mailbox.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Alias } from '../../directory/mailboxes/aliases.ts'
import { Id } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const AliasJson = record(
  'MailboxAlias',
  'An additional address of a mailbox: the mailbox receives mail to it, also with a `+tag`, and can send from it.',
  {
    id: Id('alias'),
    email: Type.String({ description: 'Lower-case address.' }),
    domain_id: Id('domain'),
    created_at: TimeOf('When it was created.'),
  },
  {
    id: 'mals_0a1b2c3d4e5f6g7h8i9j0k1l',
    email: 'orders@shop.example',
    domain_id: 'mdom_0a1b2c3d4e5f6g7h8i9j0k1l',
    created_at: '2030-01-02T03:04:05.000Z',
  },
)
export type AliasJson = Static<typeof AliasJson>

export function presentAlias(alias: Alias): AliasJson {
  return { id: alias.id, email: alias.email, domain_id: alias.domainId, created_at: isoTime(alias.createdAt) }
}
