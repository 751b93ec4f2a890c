// Rows of snoozed threads: where each waits, where it returns to, and when.

import type { Reader, Tx } from '../../db/db.ts'
import { integer, type RecordOf, table, text, time } from '../../db/table.ts'

export const SNOOZES = table('snoozes', {
  /** Number of the thread. */
  thread: integer(),
  account: integer(),
  /** Id of the folder in which it waits. */
  held_in: text(),
  /** Id of the folder to which it returns. */
  back_to: text(),
  until: time(),
  created_at: time(),
})
export type Snooze = RecordOf<typeof SNOOZES>

export function snoozeOf(reader: Reader, thread: number): Snooze | undefined {
  return SNOOZES.get(reader, 'WHERE thread = ?', [thread])
}

/** Snoozes by the number of their thread. */
export function snoozesOf(reader: Reader, threads: readonly number[]): Map<number, Snooze> {
  const rows = SNOOZES.all(reader, 'WHERE thread IN (SELECT value FROM json_each(?))', [JSON.stringify(threads)])
  return new Map(rows.map((row) => [row.thread, row]))
}

/** Writes the snooze of a thread in the place of an earlier one. */
export function putSnooze(tx: Tx, snooze: Snooze): void {
  removeSnooze(tx, snooze.thread)
  SNOOZES.insert(tx, snooze)
}

export function removeSnooze(tx: Tx, thread: number): void {
  tx.run('DELETE FROM snoozes WHERE thread = ?', [thread])
}

/** Snoozes that have ended, the earliest first. */
export function endedSnoozes(reader: Reader, now: number, limit: number): Snooze[] {
  return SNOOZES.all(reader, 'WHERE until <= ? ORDER BY until LIMIT ?', [now, limit])
}

/**
 * Snoozes after a thread, in the order of the threads: of those that a message has joined in the Inbox or in an own folder, and of threads
 * that are gone. Drafts and sent messages are the owner's, who needs no sign of them.
 */
export function joinedSnoozes(reader: Reader, thread: number, limit: number): Snooze[] {
  return SNOOZES.all(
    reader,
    `WHERE thread > ? AND (NOT EXISTS (SELECT 1 FROM threads t WHERE t.n = snoozes.thread) OR EXISTS (
       SELECT 1 FROM messages m JOIN message_folders e ON e.message = m.n JOIN folders f ON f.n = e.folder
       WHERE m.thread = snoozes.thread AND m.received_at > snoozes.created_at
         AND f.id <> snoozes.held_in AND (f.role IS NULL OR f.role = 'inbox')))
     ORDER BY thread LIMIT ?`,
    [thread, limit],
  )
}

export function countSnoozes(reader: Reader, account: number): number {
  return reader.get<{ total: number }>('SELECT count(*) AS total FROM snoozes WHERE account = ?', [account])!.total
}

/** Deletes the next snoozes of a deleted account. See `PurgeStep`. */
export function purgeSnoozes(tx: Tx, { n }: { n: number }, limit: number): number {
  const sql = 'DELETE FROM snoozes WHERE thread IN (SELECT thread FROM snoozes WHERE account = ? LIMIT ?)'
  return tx.run(sql, [n, limit]).changes
}
