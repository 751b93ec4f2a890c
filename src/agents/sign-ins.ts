// The sign-ins that pass through a mailbox: links and invitations mailed to it, and the sessions they opened.

import type { Tx } from '../db/db.ts'
import type { People } from '../people/people.ts'

/** Ends the links and invitations mailed to a mailbox and their sessions, when its keys could read them or an address of it is reassigned. */
export function endSignInsThrough(tx: Tx, people: Pick<People, 'endSignInsThrough'>, mailboxId: string): void {
  people.endSignInsThrough(tx, mailboxId)
  tx.run(
    `UPDATE owner_invites SET mailbox_id = NULL, token_hash = iif(state = 'pending', randomblob(32), token_hash)
     WHERE mailbox_id = ?`,
    [mailboxId],
  )
}
