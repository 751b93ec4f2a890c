// Counts of folders and of threads in them: lengths of lists, unread counts, and the differences that edits cause.

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Folders } from './folders.ts'
import type { Account, MessageFilter } from './records.ts'

/** Number of messages or threads of a filter that only names a folder, and perhaps asks for unread ones; undefined for others. */
export function folderTotal(
  folders: Folders,
  account: Account,
  filter: MessageFilter,
  entries: 'messages' | 'threads',
): number | undefined {
  // Messages in Trash and Junk are in the list of their folder anyway.
  const { folderId, isUnread, inTrashOrJunk: _, ...others } = filter
  if (folderId === undefined || isUnread === false || isRestricted(others)) return undefined
  return folders.total(account, folderId, entries, isUnread === true)
}

/** Whether one of the filters is set. */
export function isRestricted(filter: Omit<MessageFilter, 'folderId' | 'isUnread' | 'inTrashOrJunk'>): boolean {
  return Object.values(filter).some((value) => value !== undefined)
}

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

/** 1 for a message that became unread, -1 for one that was read. */
interface UnreadDelta {
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
