// Deletion of the messages and correspondents of a deleted account.

import type { Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { deleteFolderEntries } from '../entries/folders-entries.ts'
import { deleteHeaders } from '../entries/headers.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import type { Account } from '../rows/records.ts'
import { unindexMessage } from '../search/text.ts'

/** Deletes the next messages with their dependent rows. See `PurgeStep`. */
export function purgeMessages(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
  const { low, high } = numberRange(account.n)
  const rows = tx.all<{ n: number }>('SELECT n FROM messages WHERE n BETWEEN ? AND ? ORDER BY n LIMIT ?', [
    low,
    high,
    limit,
  ])
  if (rows.length === 0) return 0
  const ns = rows.map(({ n }) => n)
  const marks = placeholders(ns)
  deleteFolderEntries(tx, ns)
  tx.run(`DELETE FROM message_keywords WHERE message IN (${marks})`, ns)
  deleteHeaders(tx, ns)
  tx.run(`DELETE FROM attachments WHERE message IN (${marks})`, ns)
  tx.run(`DELETE FROM messages WHERE n IN (${marks})`, ns)
  for (const n of ns) tx.atEnd((end) => unindexMessage(end, n), n)
  return ns.length
}

/** Deletes the next correspondents. See `PurgeStep`. */
export function purgeCorrespondents(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
  const { changes } = tx.run(
    'DELETE FROM correspondents WHERE n IN (SELECT n FROM correspondents WHERE account = ? LIMIT ?)',
    [account.n, limit],
  )
  return changes
}
