// Lookups of threads by number and id, and deletion of the threads of a deleted account.

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { deleteThreadFolders } from '../folders-entries.ts'
import type { Account } from '../records.ts'

/** The number of a thread of an account. */
export function threadNumber(reader: Reader, account: number, id: string): number | undefined {
  const row = reader.get<{ n: number }>('SELECT n FROM threads WHERE id = ? AND account = ?', [id, account])
  return row?.n
}

/** Public ids of threads, by number. */
export function threadIdsOf(reader: Reader, threads: readonly number[]): Map<number, string> {
  if (threads.length === 0) return new Map()
  const list = placeholders(threads)
  const rows = reader.all<{ n: number; id: string }>(`SELECT n, id FROM threads WHERE n IN (${list})`, threads)
  return new Map(rows.map((row) => [row.n, row.id]))
}

/** The threads of an account with their stored counts. */
export function shownThreads(
  reader: Reader,
  account: number,
): { n: number; id: string; messages: number; unread: number }[] {
  return reader.all(
    'SELECT n, id, message_count AS messages, unread_count AS unread FROM threads WHERE account = ? ORDER BY n',
    [account],
  )
}

/** Deletes the next threads; their messages are deleted already. See `PurgeStep`. */
export function purgeThreads(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
  const rows = tx.all<{ n: number }>('SELECT n FROM threads WHERE account = ? LIMIT ?', [account.n, limit])
  if (rows.length === 0) return 0
  const ns = rows.map(({ n }) => n)
  deleteThreadFolders(tx, ns)
  tx.run(`DELETE FROM threads WHERE n IN (${placeholders(ns)})`, ns)
  return ns.length
}

/** Deletes the next Message-IDs of threads. See `PurgeStep`. */
export function purgeReferences(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
  const { changes } = tx.run(
    `DELETE FROM thread_refs WHERE (account, ref, thread) IN
       (SELECT account, ref, thread FROM thread_refs WHERE account = ? LIMIT ?)`,
    [account.n, limit],
  )
  return changes
}
