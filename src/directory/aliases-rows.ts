// The rows of aliases, as the rest of the directory needs them.

import type { Reader, Tx } from '../db/db.ts'

/** The id of the mailbox an alias of exactly this lower-case address belongs to. */
export async function aliasAt(reader: Reader, domainId: string, email: string): Promise<string | undefined> {
  const sql = 'SELECT mailbox_id FROM aliases WHERE domain_id = ? AND email = ?'
  return (await reader.get<{ mailbox_id: string }>(sql, [domainId, email]))?.mailbox_id
}

/** Frees every alias of a mailbox, as part of deleting it. */
export async function dropAliases(tx: Tx, mailboxId: string): Promise<void> {
  await tx.run('DELETE FROM aliases WHERE mailbox_id = ?', [mailboxId])
}
