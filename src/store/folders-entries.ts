// Entries of messages in folders: adds and removes them, and updates the counts of folders and of threads in them.

import type { WrongSpan } from '../base/clock-guard.ts'
import type { AnyReader, Reader, Tx } from '../db/db.ts'
import { placeholders } from '../db/sql-text.ts'
import type { FolderKey } from './folders.ts'
import type { RemovedEntry } from './folders-expunged.ts'
import { ENTRY_FLAGS, entryFlagsOf } from './messages/keywords.ts'
import type { FolderRole } from './records.ts'

/** The folders of each message, by message number. */
export function foldersByMessage(reader: Reader, messages: readonly number[]): Map<number, FolderKey[]> {
  const filed = new Map<number, FolderKey[]>(messages.map((n) => [n, []]))
  if (messages.length === 0) return filed
  const rows = reader.all<FolderKey & { message: number }>(
    `SELECT f.message, folders.n, folders.id, folders.role FROM message_folders f JOIN folders ON folders.n = f.folder
     WHERE f.message IN (${placeholders(messages)})`,
    messages,
  )
  for (const { message, ...folder } of rows) filed.get(message)!.push(folder)
  return filed
}

/** Messages of a folder in ascending order of UID. */
export function messagesIn(reader: Reader, folder: number, limit: number): number[] {
  const rows = reader.all<{ message: number }>(
    'SELECT message FROM message_folders WHERE folder = ? ORDER BY uid LIMIT ?',
    [folder, limit],
  )
  return rows.map(({ message }) => message)
}

/**
 * Adds a message, which is in a folder already, to another one under its next UID. Its flags and modification number are written by
 * {@link touchEntries}, the counts by {@link updateFolderCounts}.
 * @returns the UID
 */
export function insertFolderEntry(tx: Tx, folder: number, message: number, now: number): number {
  const row = tx.get<{ uid: number }>(
    'UPDATE folders SET uid_next = uid_next + 1 WHERE n = ? RETURNING uid_next - 1 AS uid',
    [folder],
  )
  // The size is the one that mail programs received under the other UIDs.
  tx.run(
    `INSERT INTO message_folders (folder, uid, message, received_at, filed_at, size_bytes)
     SELECT ?, ?, message, received_at, ?, size_bytes FROM message_folders WHERE message = ? LIMIT 1`,
    [folder, row!.uid, now, message],
  )
  return row!.uid
}

/** Gives a message the next UID of a folder it is in, as if it had left and come back. @returns the entry that is gone */
export function renewFolderEntry(tx: Tx, folder: number, message: number, now: number): RemovedEntry {
  const [before] = uidsIn(tx, folder, [message]).values()
  tx.run(
    `UPDATE message_folders SET uid = (SELECT uid_next FROM folders WHERE n = ?), filed_at = ?, flags = flags & ~${ENTRY_FLAGS.deleted}
     WHERE message = ? AND folder = ?`,
    [folder, now, message, folder],
  )
  tx.run('UPDATE folders SET uid_next = uid_next + 1 WHERE n = ?', [folder])
  return { folder, uid: before! }
}

/** The size under which mail programs know a message. */
export function servedSize(reader: Reader, message: number): number | undefined {
  return reader.get<{ size: number }>('SELECT size_bytes AS size FROM message_folders WHERE message = ? LIMIT 1', [
    message,
  ])?.size
}

/** Sets the size of a message in all its folders, under UIDs that no mail program knows yet. */
export function setServedSize(tx: Tx, message: number, sizeBytes: number): void {
  tx.run('UPDATE message_folders SET size_bytes = ? WHERE message = ?', [sizeBytes, message])
}

/** UIDs in a folder by message number; messages that are not in it are left out. */
export function uidsIn(reader: Reader, folder: number, messages: readonly number[]): Map<number, number> {
  const rows = reader.all<{ message: number; uid: number }>(
    'SELECT message, uid FROM message_folders WHERE message IN (SELECT value FROM json_each(?)) AND folder = ?',
    [JSON.stringify(messages), folder],
  )
  return new Map(rows.map(({ message, uid }) => [message, uid]))
}

/** Removes a message from a folder, without updating counts. @returns the entry, for {@link recordExpunged} */
export function deleteFolderEntry(tx: Tx, folder: number, message: number): RemovedEntry[] {
  return tx.all<RemovedEntry>('DELETE FROM message_folders WHERE message = ? AND folder = ? RETURNING folder, uid', [
    message,
    folder,
  ])
}

/**
 * Gives all entries of changed messages, and their folders, the modification number of the unit of work; their flags become those of the
 * messages. To be called after the messages and their folders are written.
 * @param removed entries that the unit of work deleted
 */
export function touchEntries(
  tx: Tx,
  modSeq: number,
  { messages, removed }: { messages: readonly number[]; removed: readonly RemovedEntry[] },
): void {
  const folders = new Set(removed.map(({ folder }) => folder))
  if (messages.length > 0) {
    const rows = tx.all<{ folder: number }>(
      `UPDATE message_folders SET mod_seq = ?, flags = (flags & ${ENTRY_FLAGS.deleted}) | (${entryFlagsOf('message_folders.message')})
       WHERE message IN (SELECT value FROM json_each(?)) RETURNING folder`,
      [modSeq, JSON.stringify(messages)],
    )
    for (const { folder } of rows) folders.add(folder)
  }
  if (folders.size === 0) return
  tx.run('UPDATE folders SET mod_seq = ? WHERE n IN (SELECT value FROM json_each(?))', [
    modSeq,
    JSON.stringify([...folders]),
  ])
}

/** Sets or clears `\Deleted` of entries of one folder, which no other folder of their messages shares. */
export function markDeleted(
  tx: Tx,
  folder: number,
  uids: readonly number[],
  { deleted, modSeq }: { deleted: boolean; modSeq: number },
): void {
  const bit = ENTRY_FLAGS.deleted
  tx.run(
    `UPDATE message_folders SET flags = ${deleted ? `flags | ${bit}` : `flags & ~${bit}`}, mod_seq = ?
     WHERE folder = ? AND uid IN (SELECT value FROM json_each(?))`,
    [modSeq, folder, JSON.stringify(uids)],
  )
  tx.run('UPDATE folders SET mod_seq = ? WHERE n = ?', [modSeq, folder])
}

/**
 * Folders with one of the roles whose oldest entry was filed before a time (ms), by number; to be run on the scan reader. UIDs grow with
 * the filing time, so that the lowest UID is the oldest entry.
 */
export async function foldersFiledBefore(
  reader: AnyReader,
  roles: readonly FolderRole[],
  before: number,
  page: { after: number; limit: number },
): Promise<{ n: number; id: string; account: number }[]> {
  return reader.all(
    `SELECT n, id, account FROM folders WHERE n > ? AND role IN (${placeholders(roles)})
       AND (SELECT filed_at FROM message_folders m WHERE m.folder = folders.n ORDER BY m.uid LIMIT 1) < ?
     ORDER BY n LIMIT ?`,
    [page.after, ...roles, before, page.limit],
  )
}

/** Entries of a folder that were filed before a time (ms), in ascending order of UID. */
export function entriesFiledBefore(
  reader: Reader,
  folder: number,
  before: number,
  page: { after: number; limit: number },
): { uid: number; message: number }[] {
  const rows = reader.all<{ uid: number; message: number; filed_at: number | null }>(
    'SELECT uid, message, filed_at FROM message_folders WHERE folder = ? AND uid > ? ORDER BY uid LIMIT ?',
    [folder, page.after, page.limit],
  )
  const end = rows.findIndex(({ filed_at: at }) => at === null || at >= before)
  return end < 0 ? rows : rows.slice(0, end)
}

/** By which times filed by a wrong clock are found, ms. */
export interface FilingLimits {
  now: number
  earliest: number
  slackMs: number
  wrong: readonly WrongSpan[]
}

/**
 * Sets the filing time of what was filed in folders with these roles while the clock was wrong to now: in the times it showed, before
 * the message was received, before the first team existed, or in the future. The filing time still grows with the UID.
 */
export function resetFiledAt(
  tx: Tx,
  roles: readonly FolderRole[],
  { now, earliest, slackMs, wrong }: FilingLimits,
): number {
  const { changes } = tx.run(
    `UPDATE message_folders SET filed_at = ? WHERE folder IN (SELECT n FROM folders WHERE role IN (${placeholders(roles)}))
       AND (filed_at < ? OR filed_at < received_at - ? OR filed_at > ?${wrong.map(() => ' OR filed_at BETWEEN ? AND ?').join('')})`,
    [now, ...roles, earliest, slackMs, now + slackMs, ...wrong.flatMap(({ from, until }) => [from, until])],
  )
  return changes
}

/** Deletes the folder entries of messages without updating counts: the folders are deleted as well. */
export function deleteFolderEntries(tx: Tx, messages: readonly number[]): void {
  tx.run(`DELETE FROM message_folders WHERE message IN (${placeholders(messages)})`, messages)
}

/** Deletes the per-folder counts of threads. */
export function deleteThreadFolders(tx: Tx, threads: readonly number[]): void {
  tx.run(`DELETE FROM thread_folders WHERE thread IN (${placeholders(threads)})`, threads)
}

/** Counts of a thread's messages in one folder. */
export interface ThreadFolderCounts {
  folder: number
  messages: number
  unread: number
}

/**
 * Writes the counts of a thread in its folders, and adds the differences to the counts of the folders.
 * @param lastReceivedAt of the thread: its sort time in every folder
 * @returns the folders whose counts changed
 */
export function updateFolderCounts(
  tx: Tx,
  thread: number,
  current: readonly ThreadFolderCounts[],
  lastReceivedAt: number,
): number[] {
  const stored = tx.all<ThreadFolderCounts>('SELECT folder, messages, unread FROM thread_folders WHERE thread = ?', [
    thread,
  ])
  const before = new Map(stored.map((counts) => [counts.folder, counts]))
  const after = new Map(current.map((counts) => [counts.folder, counts]))
  const changed: number[] = []
  for (const folder of new Set([...before.keys(), ...after.keys()])) {
    if (updateOneFolder(tx, thread, before.get(folder), after.get(folder), lastReceivedAt)) changed.push(folder)
  }
  tx.run('UPDATE thread_folders SET last_received_at = ? WHERE thread = ? AND last_received_at <> ?', [
    lastReceivedAt,
    thread,
    lastReceivedAt,
  ])
  return changed
}

function updateOneFolder(
  tx: Tx,
  thread: number,
  before: ThreadFolderCounts | undefined,
  after: ThreadFolderCounts | undefined,
  lastReceivedAt: number,
): boolean {
  if (before?.messages === after?.messages && before?.unread === after?.unread) return false
  const folder = (before ?? after)!.folder
  if (after === undefined) tx.run('DELETE FROM thread_folders WHERE thread = ? AND folder = ?', [thread, folder])
  else {
    tx.run(
      `INSERT INTO thread_folders (thread, folder, messages, unread, last_received_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (thread, folder) DO UPDATE SET messages = excluded.messages, unread = excluded.unread`,
      [thread, folder, after.messages, after.unread, lastReceivedAt],
    )
  }
  const difference = (count: (counts: ThreadFolderCounts) => number) =>
    (after === undefined ? 0 : count(after)) - (before === undefined ? 0 : count(before))
  tx.run(
    `UPDATE folders SET total_messages = total_messages + ?, unread_messages = unread_messages + ?,
       total_threads = total_threads + ?, unread_threads = unread_threads + ? WHERE n = ?`,
    [
      difference(({ messages }) => messages),
      difference(({ unread }) => unread),
      difference(() => 1),
      difference(({ unread }) => (unread > 0 ? 1 : 0)),
      folder,
    ],
  )
  return true
}

/** Counts the messages of a thread by folder. @param messages `seen` by message number */
export function countByFolder(tx: Tx, messages: ReadonlyMap<number, boolean>): ThreadFolderCounts[] {
  const byFolder = new Map<number, ThreadFolderCounts>()
  for (const [message, folders] of foldersByMessage(tx, [...messages.keys()])) {
    for (const { n: folder } of folders) {
      const counts = byFolder.get(folder) ?? { folder, messages: 0, unread: 0 }
      counts.messages++
      if (messages.get(message) === false) counts.unread++
      byFolder.set(folder, counts)
    }
  }
  return [...byFolder.values()]
}

/** The numbers of the messages filed in a folder since a time (ms), the newest first. */
export function newestMessages(
  reader: Reader,
  folder: number,
  { since, limit }: { since: number; limit: number },
): number[] {
  const rows = reader.all<{ message: number; filedAt: number | null }>(
    'SELECT message, filed_at AS filedAt FROM message_folders WHERE folder = ? ORDER BY uid DESC LIMIT ?',
    [folder, limit],
  )
  return rows.filter(({ filedAt }) => filedAt !== null && filedAt >= since).map(({ message }) => message)
}
