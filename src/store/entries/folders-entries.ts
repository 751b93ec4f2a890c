// Entries of messages in folders: adds and removes them, and updates the counts of folders and of threads in them.

import type { WrongSpan } from '../../base/clock-guard.ts'
import type { AnyReader, Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { type FolderKey, type Fragment, inFolder } from '../rows/folders.ts'
import type { RemovedEntry } from '../rows/folders-expunged.ts'
import type { FolderRole } from '../rows/records.ts'
import { ENTRY_FLAGS, entryFlagsOf } from './keywords.ts'

/** The folders of each message, by message number. */
export function foldersByMessage(reader: Reader, messages: readonly number[]): Map<number, FolderKey[]> {
  const filed = new Map<number, FolderKey[]>(messages.map((n) => [n, []]))
  if (messages.length === 0) return filed
  const rows = reader.all<FolderKey & { message: number }>(
    `SELECT f.message, folders.n, folders.id, folders.role FROM message_folders f JOIN folders ON folders.n = f.folder
     WHERE f.message IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(messages)],
  )
  for (const { message, ...folder } of rows) filed.get(message)!.push(folder)
  return filed
}

/** A message in one of its folders. */
export interface MessageEntry {
  message: number
  folder: number
  uid: number
  /** Marked `\\Deleted`. */
  isDeleted: boolean
}

/** The entries of messages in all their folders. */
export function entriesOfMessages(reader: Reader, messages: readonly number[]): MessageEntry[] {
  const rows = reader.all<Omit<MessageEntry, 'isDeleted'> & { flags: number }>(
    `SELECT message, folder, uid, flags FROM message_folders WHERE message IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(messages)],
  )
  return rows.map(({ flags, ...entry }) => ({ ...entry, isDeleted: (flags & ENTRY_FLAGS.deleted) !== 0 }))
}

/** Messages of a folder in ascending order of UID. */
export function messagesIn(reader: Reader, folder: number, limit: number): number[] {
  const rows = reader.all<{ message: number }>(
    'SELECT message FROM message_folders WHERE folder = ? ORDER BY uid LIMIT ?',
    [folder, limit],
  )
  return rows.map(({ message }) => message)
}

/** Entries that were added to a folder: those from a UID on. */
interface AddedEntries {
  folder: number
  firstUid: number
}

/**
 * Adds messages, which are in a folder already, to another one under its next UIDs, in their order. Their flags and modification numbers
 * are written by {@link touchEntries}, the counts by `writeThreadFolders`.
 */
export function insertFolderEntries(tx: Tx, folder: number, messages: readonly number[], now: number): AddedEntries {
  const row = tx.get<{ firstUid: number }>(
    'UPDATE folders SET uid_next = uid_next + ? WHERE n = ? RETURNING uid_next - ? AS firstUid',
    [messages.length, folder, messages.length],
  )
  const { firstUid } = row!
  // The size is the one that mail programs received under the other UIDs.
  tx.run(
    `INSERT INTO message_folders (folder, uid, message, received_at, filed_at, size_bytes)
     SELECT ?, ? + j.key, e.message, e.received_at, ?, e.size_bytes FROM json_each(?) j
     CROSS JOIN message_folders e ON e.message = j.value
       AND e.folder = (SELECT min(o.folder) FROM message_folders o WHERE o.message = j.value)`,
    [folder, firstUid, now, JSON.stringify(messages)],
  )
  return { folder, firstUid }
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

/** Removes messages from a folder, without updating counts. @returns the entries, for {@link recordExpunged} */
export function removeFolderEntries(tx: Tx, folder: number, messages: readonly number[]): RemovedEntry[] {
  return tx.all<RemovedEntry>(
    'DELETE FROM message_folders WHERE message IN (SELECT value FROM json_each(?)) AND folder = ? RETURNING folder, uid',
    [JSON.stringify(messages), folder],
  )
}

/** What one unit of work did to entries. */
interface TouchedEntries {
  /** Messages whose flags or keywords changed, or all of whose entries are new. */
  messages: readonly number[]
  added?: readonly AddedEntries[]
  /** Entries that were deleted. */
  removed: readonly RemovedEntry[]
}

/**
 * Gives all entries of changed messages, new entries, and their folders, the modification number of the unit of work; their flags become
 * those of the messages. The other entries of a message that is added to a folder stay as they are: nothing that mail programs see of
 * them changed. To be called after the messages and their folders are written.
 */
export function touchEntries(tx: Tx, modSeq: number, { messages, added = [], removed }: TouchedEntries): void {
  const folders = new Set([...removed, ...added].map(({ folder }) => folder))
  const update = `UPDATE message_folders SET mod_seq = ?,
    flags = (flags & ${ENTRY_FLAGS.deleted}) | (${entryFlagsOf('message_folders.message')})`
  for (const { folder, firstUid } of added) {
    tx.run(`${update} WHERE folder = ? AND uid >= ?`, [modSeq, folder, firstUid])
  }
  if (messages.length > 0) {
    const sql = `${update} WHERE message IN (SELECT value FROM json_each(?)) RETURNING folder`
    const rows = tx.all<{ folder: number }>(sql, [modSeq, JSON.stringify(messages)])
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

/** Condition: the message whose public id is in `column` is in the folder. */
export function isMessageInFolder(column: string, folder: number): Fragment {
  const { sql, values } = inFolder('m.n', folder)
  return { sql: `EXISTS (SELECT 1 FROM messages m WHERE m.id = ${column} AND ${sql})`, values }
}
