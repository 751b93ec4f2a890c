// The end of messages together with their mailbox.

import type { Tx } from '../../db/db.ts'
import { unfileMessages } from '../folders-filing.ts'
import type { Account } from '../records.ts'
import { unindexMessage } from '../search/text.ts'
import { numberRange } from './numbers.ts'

/** Erases the next messages of an account with all that hangs on them. See `PurgePart`. */
export async function purgeMessages(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
  const { low, high } = numberRange(account.n)
  const rows = await tx.all<{ n: number }>('SELECT n FROM messages WHERE n BETWEEN ? AND ? ORDER BY n LIMIT ?', [
    low,
    high,
    limit,
  ])
  if (rows.length === 0) return 0
  const ns = rows.map(({ n }) => n)
  const marks = ns.map(() => '?').join(', ')
  await unfileMessages(tx, ns)
  await tx.run(`DELETE FROM message_keywords WHERE message IN (${marks})`, ns)
  await tx.run(`DELETE FROM attachments WHERE message IN (${marks})`, ns)
  await tx.run(`DELETE FROM messages WHERE n IN (${marks})`, ns)
  for (const n of ns) tx.atEnd((end) => unindexMessage(end, n), n)
  return ns.length
}

/** Forgets the next people an account has exchanged mail with. See `PurgePart`. */
export async function purgeCorrespondents(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
  const { changes } = await tx.run(
    'DELETE FROM correspondents WHERE n IN (SELECT n FROM correspondents WHERE account = ? LIMIT ?)',
    [account.n, limit],
  )
  return changes
}
