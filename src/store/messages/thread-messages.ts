// The messages of one thread.

import type { Reader } from '../../db/db.ts'
import { afterCursor, every, type PageRequest, type RowKey } from '../search/sql.ts'

/** Ids of the messages, oldest first; with `listed` without those only in Trash or Junk. */
export function messageIdsOf(reader: Reader, thread: number, listed: boolean): string[] {
  const rows = reader.all<{ id: string }>(
    `SELECT id FROM messages WHERE thread = ?${listed ? ' AND listed = 1' : ''} ORDER BY received_at, n`,
    [thread],
  )
  return rows.map(({ id }) => id)
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
