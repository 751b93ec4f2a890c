// Lookups of threads by number and id, and deletion of the threads of a deleted account.

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { deleteThreadFolders } from '../folders-entries.ts'
import type { Account } from '../records.ts'

/** The number of a thread of an account. */
export async function threadNumber(reader: Reader, account: number, id: string): Promise<number | undefined> {
  const row = await reader.get<{ n: number }>('SELECT n FROM threads WHERE id = ? AND account = ?', [id, account])
  return row?.n
}

/** Public ids of threads, by number. */
export async function threadIdsOf(reader: Reader, threads: readonly number[]): Promise<Map<number, string>> {
  if (threads.length === 0) return new Map()
  const list = placeholders(threads)
  const rows = await reader.all<{ n: number; id: string }>(`SELECT n, id FROM threads WHERE n IN (${list})`, threads)
  return new Map(rows.map((row) => [row.n, row.id]))
}

/** The threads of an account with their stored counts. */
export async function shownThreads(
  reader: Reader,
  account: number,
): Promise<{ n: number; id: string; messages: number; unread: number }[]> {
  return reader.all(
    'SELECT n, id, message_count AS messages, unread_count AS unread FROM threads WHERE account = ? ORDER BY n',
    [account],
  )
}

/** Deletes the next threads; their messages are deleted already. See `PurgeStep`. */
export async function purgeThreads(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
  const rows = await tx.all<{ n: number }>('SELECT n FROM threads WHERE account = ? LIMIT ?', [account.n, limit])
  if (rows.length === 0) return 0
  const ns = rows.map(({ n }) => n)
  await deleteThreadFolders(tx, ns)
  await tx.run(`DELETE FROM threads WHERE n IN (${placeholders(ns)})`, ns)
  return ns.length
}

/** Deletes the next Message-IDs of threads. See `PurgeStep`. */
export async function purgeReferences(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
  const { changes } = await tx.run(
    `DELETE FROM thread_refs WHERE (account, ref, thread) IN
       (SELECT account, ref, thread FROM thread_refs WHERE account = ? LIMIT ?)`,
    [account.n, limit],
  )
  return changes
}
