// Lookups of threads by number and id, and deletion of the threads of a deleted account.

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { deleteThreadFolders, isRestricted } from '../rows/folder-counts.ts'
import type { Account, MessageFilter } from '../rows/records.ts'

/** The number of a thread of an account. */
export function threadNumber(reader: Reader, account: number, id: string): number | undefined {
  const row = reader.get<{ n: number }>('SELECT n FROM threads WHERE id = ? AND account = ?', [id, account])
  return row?.n
}

/** A thread of an account by id; `listed` is 0 if all its messages are in Trash or Junk. */
export function threadRow(reader: Reader, account: number, id: string): { n: number; listed: number } | undefined {
  return reader.get('SELECT n, listed FROM threads WHERE id = ? AND account = ?', [id, account])
}

/** The numbers of threads of an account by id; unknown ids are left out. */
export function threadNumbers(reader: Reader, account: number, ids: readonly string[]): Map<string, number> {
  if (ids.length === 0) return new Map()
  const rows = reader.all<{ n: number; id: string }>(
    // The plus: SQLite would otherwise read all threads of the account.
    `SELECT n, id FROM threads WHERE +account = ? AND id IN (${placeholders(ids)})`,
    [account, ...ids],
  )
  return new Map(rows.map(({ n, id }) => [id, n]))
}

/** The sort key of a thread in lists; null if there is no such thread. */
export function threadKey(reader: Reader, account: number, id: string): { at: number; n: number } | null {
  const sql = 'SELECT last_received_at AS at, n FROM threads WHERE id = ? AND account = ?'
  return reader.get<{ at: number; n: number }>(sql, [id, account]) ?? null
}

/** Public ids of threads, by number. */
export function threadIdsOf(reader: Reader, threads: readonly number[]): Map<number, string> {
  if (threads.length === 0) return new Map()
  const list = placeholders(threads)
  const rows = reader.all<{ n: number; id: string }>(`SELECT n, id FROM threads WHERE n IN (${list})`, threads)
  return new Map(rows.map((row) => [row.n, row.id]))
}

/** Numbers of threads of an account (its number), by public ids; unknown ids are omitted. */
export function threadNumbersOf(reader: Reader, account: number, ids: readonly string[]): number[] {
  if (ids.length === 0) return []
  const sql = `SELECT n FROM threads WHERE account = ? AND id IN (${placeholders(ids)})`
  return reader.all<{ n: number }>(sql, [account, ...ids]).map(({ n }) => n)
}

/** What the counts of a thread in its folders depend on. */
export interface ThreadKey {
  id: string
  /** Its counts cover the messages outside Trash and Junk only. */
  listed: boolean
  /** Its sort time, ms. */
  lastReceivedAt: number
}

/** Threads by number. */
export function threadsOf(reader: Reader, threads: readonly number[]): Map<number, ThreadKey> {
  const rows = reader.all<{ n: number; id: string; listed: number; lastReceivedAt: number }>(
    `SELECT n, id, listed, last_received_at AS lastReceivedAt FROM threads
     WHERE n IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(threads)],
  )
  return new Map(rows.map(({ n, id, listed, lastReceivedAt }) => [n, { id, listed: listed === 1, lastReceivedAt }]))
}

/** Adds differences to the unread counts of threads, by number. */
export function addUnreadOfThreads(tx: Tx, deltas: ReadonlyMap<number, number>): void {
  const changed = [...deltas].filter(([, delta]) => delta !== 0)
  if (changed.length === 0) return
  tx.run(
    'UPDATE threads SET unread_count = unread_count + (j.value ->> 1) FROM json_each(?) j WHERE threads.n = j.value ->> 0',
    [JSON.stringify(changed)],
  )
}

/**
 * Number of threads outside Trash and Junk from the maintained totals (migration 27); undefined for a filter they do not answer: any
 * but `isUnread` and `hasAttachment`, or both of these at once, which one message has to match.
 */
export function threadTotal(reader: Reader, account: number, filter: MessageFilter): number | undefined {
  const { isUnread, hasAttachment, ...others } = filter
  if (isRestricted(others) || (isUnread === true && hasAttachment === true)) return undefined
  const conditions = ['account = ? AND listed = 1']
  if (isUnread !== undefined) conditions.push(`unread = ${isUnread ? 1 : 0}`)
  if (hasAttachment !== undefined) conditions.push(`has_attachments = ${hasAttachment ? 1 : 0}`)
  const row = reader.get<{ total: number | null }>(
    `SELECT sum(threads) AS total FROM thread_totals WHERE ${conditions.join(' AND ')}`,
    [account],
  )
  return row?.total ?? 0
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
