// The messages of one thread.

import type { Reader } from '../../db/db.ts'
import { behind, every, type PageRequest, type RowKey } from '../search/sql.ts'

/** Their ids, oldest first; with `listed` without those that lie in Trash or Junk only. */
export async function messageIdsOf(reader: Reader, thread: number, listed: boolean): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM messages WHERE thread = ?${listed ? ' AND listed = 1' : ''} ORDER BY received_at, n`,
    [thread],
  )
  return rows.map(({ id }) => id)
}

/** Where a message of a thread stands. */
export interface ThreadMessageKey extends RowKey {
  id: string
}

/** One stretch of them by the time of receipt, and one more where there is one. */
export async function messageKeysOf(
  reader: Reader,
  thread: number,
  listed: boolean,
  cut: PageRequest,
): Promise<ThreadMessageKey[]> {
  const asked = every([
    { sql: `thread = ?${listed ? ' AND listed = 1' : ''}`, values: [thread] },
    behind({ at: 'received_at', n: 'n' }, cut),
  ])
  const { direction, limit } = cut
  return reader.all<ThreadMessageKey>(
    `SELECT id, received_at AS at, n FROM messages WHERE ${asked.sql}
     ORDER BY received_at ${direction}, n ${direction} LIMIT ?`,
    [...asked.values, limit + 1],
  )
}
