// Threads by their public id.

import type { Reader } from '../../db/db.ts'

/** The number of a thread of that account. */
export async function threadNumber(reader: Reader, account: number, id: string): Promise<number | undefined> {
  const row = await reader.get<{ n: number }>('SELECT n FROM threads WHERE id = ? AND account = ?', [id, account])
  return row?.n
}

/** The public ids of threads by their number. */
export async function threadIdsOf(reader: Reader, threads: readonly number[]): Promise<Map<number, string>> {
  if (threads.length === 0) return new Map()
  const marks = threads.map(() => '?').join(', ')
  const rows = await reader.all<{ n: number; id: string }>(`SELECT n, id FROM threads WHERE n IN (${marks})`, threads)
  return new Map(rows.map((row) => [row.n, row.id]))
}

/** The threads of an account with the counts they show. */
export async function shownThreads(
  reader: Reader,
  account: number,
): Promise<{ n: number; id: string; messages: number; unread: number }[]> {
  return reader.all(
    'SELECT n, id, message_count AS messages, unread_count AS unread FROM threads WHERE account = ? ORDER BY n',
    [account],
  )
}
