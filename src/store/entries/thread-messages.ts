// The messages of one thread.

import type { Reader } from '../../db/db.ts'
import { type Fragment, inFolder } from '../rows/folders.ts'
import { afterCursor, every, type PageRequest, type RowKey } from '../rows/sql.ts'

/** Ids of the messages, oldest first; with `listed` without those only in Trash or Junk. @param folder only those in it */
export function messageIdsOf(reader: Reader, thread: number, listed: boolean, folder: number | null = null): string[] {
  const { sql, values } = isOf(thread, listed, folder)
  return reader
    .all<{ id: string }>(`SELECT id FROM messages m WHERE ${sql} ORDER BY received_at, n`, values)
    .map(({ id }) => id)
}

/** How many messages {@link messageIdsOf} returns. */
export function countMessagesOf(reader: Reader, thread: number, listed: boolean, folder: number | null): number {
  const { sql, values } = isOf(thread, listed, folder)
  return reader.get<{ count: number }>(`SELECT count(*) AS count FROM messages m WHERE ${sql}`, values)!.count
}

/** Messages in a folder belong to it also where it is Trash or Junk. */
function isOf(thread: number, listed: boolean, folder: number | null): Fragment {
  if (folder === null) return { sql: `thread = ?${listed ? ' AND listed = 1' : ''}`, values: [thread] }
  return every([{ sql: 'm.thread = ?', values: [thread] }, inFolder('m.n', folder)])
}

/** The thread of the message whose number is in `column`, for a scalar subquery. */
export function threadOf(column: string): string {
  return `SELECT thread FROM messages WHERE n = ${column}`
}

/** Sort key and id of a message in a thread. */
export interface ThreadMessageKey extends RowKey {
  id: string
}

/** Keys of a page by time of receipt, and one more if there is one. */
export function messageKeysOf(reader: Reader, thread: number, listed: boolean, page: PageRequest): ThreadMessageKey[] {
  const conditions = every([
    { sql: `thread = ?${listed ? ' AND listed = 1' : ''}`, values: [thread] },
    afterCursor({ at: 'received_at', n: 'n' }, page),
  ])
  const { direction, limit } = page
  return reader.all<ThreadMessageKey>(
    `SELECT id, received_at AS at, n FROM messages WHERE ${conditions.sql}
     ORDER BY received_at ${direction}, n ${direction} LIMIT ?`,
    [...conditions.values, limit + 1],
  )
}
