// Mailboxes that stayed when their outside account was ended: they are those of the account again when it is attached again.

import { conflict } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { ACCOUNT_ENDED } from '../directory/mailboxes/mailboxes-deleted.ts'
import type { EndedAccount } from '../sync/accounts/accounts-ended.ts'
import type { Sync } from '../sync/sync.ts'

interface Deps {
  directory: Pick<Directory, 'mailboxes'>
  sync: Pick<Sync, 'accounts'>
}

/**
 * The mailbox of a team that was this account, with what is known of it; undefined: there is none.
 * @throws ProductError conflict for one that cannot be the account again
 */
export function keptMailbox(
  { directory, sync }: Deps,
  tx: Tx,
  { teamId, email }: { teamId: string; email: string },
): { mailbox: Mailbox; ended: EndedAccount } | undefined {
  const mailbox = directory.mailboxes.outsideAt(email, tx).find((one) => one.teamId === teamId)
  if (mailbox === undefined || sync.accounts.mirrorOf(mailbox.id, tx) !== undefined) return undefined
  const ended = sync.accounts.ended.of(tx, { mailboxId: mailbox.id, mode: 'mirror', email })
  if (mailbox.status === 'suspended' && mailbox.statusReason === ACCOUNT_ENDED && ended !== undefined)
    return { mailbox, ended }
  const what = `The mailbox ${mailbox.id} of this address stayed when its outside account was ended`
  const next = ended === undefined ? 'Delete it before you attach the account again.' : 'Reactivate it first.'
  const why =
    ended === undefined ? 'what was known of the account is gone' : 'it was suspended for another reason since'
  throw conflict(`${what}, and ${why}. ${next}`, 'email')
}
