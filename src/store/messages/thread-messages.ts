// The messages of one thread.

import type { Reader } from '../../db/db.ts'

/** Their ids, oldest first; with `listed` without those that lie in Trash or Junk only. */
export async function messageIdsOf(reader: Reader, thread: number, listed: boolean): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM messages WHERE thread = ?${listed ? ' AND listed = 1' : ''} ORDER BY received_at, n`,
    [thread],
  )
  return rows.map(({ id }) => id)
}
