// Unread counts of folders and of threads in them, for messages whose `seen` flag changed.

import type { Tx } from '../../db/db.ts'

/** 1 for a message that became unread, -1 for one that was read. */
export interface UnreadDelta {
  message: number
  thread: number
  delta: number
}

interface ThreadInFolder {
  thread: number
  folder: number
  id: string
  /** Unread messages of the thread in the folder, before and by how many they change. */
  unread: number
  delta: number
}

/**
 * Adds the differences to the counts of all folders of the messages. To be called once for a unit of work.
 * @returns the folders whose counts changed
 */
export function addUnread(tx: Tx, deltas: readonly UnreadDelta[]): { n: number; id: string }[] {
  if (deltas.length === 0) return []
  const list = JSON.stringify(deltas.map(({ message, thread, delta }) => [message, thread, delta]))
  const rows = tx.all<ThreadInFolder>(
    `SELECT d.thread, d.folder, f.id, t.unread, d.delta FROM (
       SELECT j.value ->> 1 AS thread, e.folder, sum(j.value ->> 2) AS delta
       FROM json_each(?) j CROSS JOIN message_folders e ON e.message = j.value ->> 0 GROUP BY 1, 2) d
     JOIN thread_folders t ON t.thread = d.thread AND t.folder = d.folder JOIN folders f ON f.n = d.folder
     WHERE d.delta <> 0`,
    [list],
  )
  if (rows.length === 0) return []
  tx.run(
    `UPDATE thread_folders SET unread = unread + (j.value ->> 2) FROM json_each(?) j
     WHERE thread_folders.thread = j.value ->> 0 AND thread_folders.folder = j.value ->> 1`,
    [JSON.stringify(rows.map(({ thread, folder, delta }) => [thread, folder, delta]))],
  )
  const byFolder = Map.groupBy(rows, ({ folder }) => folder)
  for (const [folder, threads] of byFolder) {
    const messages = threads.reduce((sum, { delta }) => sum + delta, 0)
    const unreadThreads = threads.reduce(
      (sum, { unread, delta }) => sum + Number(unread + delta > 0) - Number(unread > 0),
      0,
    )
    tx.run(
      'UPDATE folders SET unread_messages = unread_messages + ?, unread_threads = unread_threads + ? WHERE n = ?',
      [messages, unreadThreads, folder],
    )
  }
  return [...byFolder].map(([n, [first]]) => ({ n, id: first!.id }))
}
