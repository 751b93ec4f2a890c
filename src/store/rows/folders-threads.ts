// Counts of threads in folders: written as they are to be, and the totals of the folders follow by the differences.

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'

/** Counts of a thread's messages in one folder. */
export interface ThreadFolderCounts {
  thread: number
  folder: number
  messages: number
  unread: number
  /** That of the thread: its sort time in every folder, ms. */
  lastReceivedAt: number
}

/** The counts of threads in all their folders. */
export function threadFolderCounts(reader: Reader, threads: readonly number[]): ThreadFolderCounts[] {
  return reader.all<ThreadFolderCounts>(
    `SELECT thread, folder, messages, unread, last_received_at AS lastReceivedAt FROM thread_folders
     WHERE thread IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(threads)],
  )
}

/**
 * Writes counts of threads in folders, and adds the differences to the totals of the folders.
 * @param before as they are stored
 * @param after as they are to be, those without messages left out
 * @returns the folders in which a thread has other counts than before
 */
export function writeThreadFolders(
  tx: Tx,
  before: readonly ThreadFolderCounts[],
  after: readonly ThreadFolderCounts[],
): number[] {
  const stored = new Map(before.map((counts) => [keyOf(counts), counts]))
  const written: ThreadFolderCounts[] = []
  const totals = new FolderDifferences()
  for (const counts of after) {
    const known = stored.get(keyOf(counts))
    stored.delete(keyOf(counts))
    totals.add(known, counts)
    if (known === undefined || !isSame(known, counts)) written.push(counts)
  }
  const gone = [...stored.values()]
  for (const counts of gone) totals.add(counts, undefined)
  deleteRows(tx, gone)
  writeRows(tx, written)
  return totals.write(tx)
}

function keyOf({ thread, folder }: ThreadFolderCounts): string {
  return `${thread} ${folder}`
}

function isSame(one: ThreadFolderCounts, other: ThreadFolderCounts): boolean {
  return isSameCount(one, other) && one.lastReceivedAt === other.lastReceivedAt
}

function isSameCount(one: ThreadFolderCounts | undefined, other: ThreadFolderCounts | undefined): boolean {
  return one?.messages === other?.messages && one?.unread === other?.unread
}

function deleteRows(tx: Tx, rows: readonly ThreadFolderCounts[]): void {
  if (rows.length === 0) return
  tx.run(`DELETE FROM thread_folders WHERE (thread, folder) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`, [
    JSON.stringify(rows.map(({ thread, folder }) => [thread, folder])),
  ])
}

function writeRows(tx: Tx, rows: readonly ThreadFolderCounts[]): void {
  if (rows.length === 0) return
  tx.run(
    `INSERT INTO thread_folders (thread, folder, messages, unread, last_received_at)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) j WHERE true
     ON CONFLICT (thread, folder) DO UPDATE SET messages = excluded.messages, unread = excluded.unread,
       last_received_at = excluded.last_received_at`,
    [
      JSON.stringify(
        rows.map(({ thread, folder, messages, unread, lastReceivedAt }) => [
          ...[thread, folder, messages, unread, lastReceivedAt],
        ]),
      ),
    ],
  )
}

/** What is added to the totals of folders. */
class FolderDifferences {
  /** Messages, unread messages, threads and threads with unread messages, by folder. */
  readonly #folders = new Map<number, [number, number, number, number]>()

  add(before: ThreadFolderCounts | undefined, after: ThreadFolderCounts | undefined): void {
    if (isSameCount(before, after)) return
    const { folder } = (before ?? after)!
    const sums = this.#folders.get(folder) ?? [0, 0, 0, 0]
    this.#folders.set(folder, sums)
    for (const [sign, counts] of [
      [-1, before],
      [1, after],
    ] as const) {
      if (counts === undefined) continue
      sums[0] += sign * counts.messages
      sums[1] += sign * counts.unread
      sums[2] += sign
      if (counts.unread > 0) sums[3] += sign
    }
  }

  /** @returns the folders */
  write(tx: Tx): number[] {
    for (const [folder, sums] of this.#folders) {
      tx.run(
        `UPDATE folders SET total_messages = total_messages + ?, unread_messages = unread_messages + ?,
           total_threads = total_threads + ?, unread_threads = unread_threads + ? WHERE n = ?`,
        [...sums, folder],
      )
    }
    return [...this.#folders.keys()]
  }
}

/** Deletes the per-folder counts of threads without updating the totals: the folders are deleted as well. */
export function deleteThreadFolders(tx: Tx, threads: readonly number[]): void {
  tx.run(`DELETE FROM thread_folders WHERE thread IN (${placeholders(threads)})`, threads)
}
