// Moves messages between folders, and counts anew what a thread has in each of them.

import type { Reader, Tx } from '../db/db.ts'
import type { FolderKey } from './folders.ts'
import type { FolderRole } from './records.ts'

/** The folders each of these messages lies in, by the message's key. */
export async function foldersOf(reader: Reader, messages: readonly number[]): Promise<Map<number, FolderKey[]>> {
  const filed = new Map<number, FolderKey[]>(messages.map((n) => [n, []]))
  if (messages.length === 0) return filed
  const rows = await reader.all<FolderKey & { message: number }>(
    `SELECT f.message, folders.n, folders.id, folders.role FROM message_folders f JOIN folders ON folders.n = f.folder
     WHERE f.message IN (${messages.map(() => '?').join(', ')})`,
    messages,
  )
  for (const { message, ...folder } of rows) filed.get(message)!.push(folder)
  return filed
}

/** Messages of a folder, the oldest UID first. */
export async function messagesIn(reader: Reader, folder: number, limit: number): Promise<number[]> {
  const rows = await reader.all<{ message: number }>(
    'SELECT message FROM message_folders WHERE folder = ? ORDER BY uid LIMIT ?',
    [folder, limit],
  )
  return rows.map(({ message }) => message)
}

/** Puts a message into a folder under the folder's next UID; what the folder counts is told by {@link countInFolders}. */
export async function addToFolder(
  tx: Tx,
  folder: number,
  message: { n: number; receivedAt: number },
  now: number,
): Promise<void> {
  const row = await tx.get<{ uid: number }>(
    'UPDATE folders SET uid_next = uid_next + 1 WHERE n = ? RETURNING uid_next - 1 AS uid',
    [folder],
  )
  await tx.insert('message_folders', {
    folder,
    uid: row!.uid,
    message: message.n,
    received_at: message.receivedAt,
    filed_at: now,
  })
}

/** Takes a message out of a folder. */
export async function takeFromFolder(tx: Tx, folder: number, message: number): Promise<void> {
  await tx.run('DELETE FROM message_folders WHERE message = ? AND folder = ?', [message, folder])
}

/**
 * Folders with one of the roles whose oldest message was put there before a time (ms), by their number: for a reader of its own thread.
 * UIDs grow with that time, so that the lowest one tells.
 */
export async function foldersFiledBefore(
  reader: Reader,
  roles: readonly FolderRole[],
  before: number,
  page: { after: number; limit: number },
): Promise<{ n: number; id: string; account: number }[]> {
  return reader.all(
    `SELECT n, id, account FROM folders WHERE n > ? AND role IN (${roles.map(() => '?').join(', ')})
       AND (SELECT filed_at FROM message_folders m WHERE m.folder = folders.n ORDER BY m.uid LIMIT 1) < ?
     ORDER BY n LIMIT ?`,
    [page.after, ...roles, before, page.limit],
  )
}

/** Messages of a folder that were put there before a time (ms), those longest there first, by UID. */
export async function filedBefore(
  reader: Reader,
  folder: number,
  before: number,
  page: { after: number; limit: number },
): Promise<{ uid: number; message: number }[]> {
  const rows = await reader.all<{ uid: number; message: number; filed_at: number | null }>(
    'SELECT uid, message, filed_at FROM message_folders WHERE folder = ? AND uid > ? ORDER BY uid LIMIT ?',
    [folder, page.after, page.limit],
  )
  const end = rows.findIndex(({ filed_at: at }) => at === null || at >= before)
  return end < 0 ? rows : rows.slice(0, end)
}

/**
 * Dates what was put into folders of these roles while the clock was wrong: before its message came in, before there was a team, or
 * ahead of now. It lies there from now on; UIDs go on growing with the time.
 * @param limits ms
 */
export async function redateFiled(
  tx: Tx,
  roles: readonly FolderRole[],
  { now, earliest, slackMs }: { now: number; earliest: number; slackMs: number },
): Promise<number> {
  const { changes } = await tx.run(
    `UPDATE message_folders SET filed_at = ? WHERE folder IN (SELECT n FROM folders WHERE role IN (${roles.map(() => '?').join(', ')}))
       AND (filed_at < ? OR filed_at < received_at - ? OR filed_at > ?)`,
    [now, ...roles, earliest, slackMs, now + slackMs],
  )
  return changes
}

/** Takes messages that are gone out of their folders; nothing is counted: the folders go as well. */
export async function unfileMessages(tx: Tx, messages: readonly number[]): Promise<void> {
  await tx.run(`DELETE FROM message_folders WHERE message IN (${messages.map(() => '?').join(', ')})`, messages)
}

/** The same for threads. */
export async function unfileThreads(tx: Tx, threads: readonly number[]): Promise<void> {
  await tx.run(`DELETE FROM thread_folders WHERE thread IN (${threads.map(() => '?').join(', ')})`, threads)
}

interface Part {
  folder: number
  messages: number
  unread: number
}

/** What a thread has in each folder, as it is; the rows come from whoever knows its messages. */
export interface FolderPart extends Part {}

/**
 * Writes what a thread has in its folders, and what that changes in the counts of the folders.
 * @param lastReceivedAt of the thread: it orders the thread in every folder
 * @returns the folders whose counts changed
 */
export async function countInFolders(
  tx: Tx,
  thread: number,
  now: readonly FolderPart[],
  lastReceivedAt: number,
): Promise<number[]> {
  const before = await tx.all<Part>('SELECT folder, messages, unread FROM thread_folders WHERE thread = ?', [thread])
  const was = new Map(before.map((part) => [part.folder, part]))
  const is = new Map(now.map((part) => [part.folder, part]))
  const changed: number[] = []
  for (const folder of new Set([...was.keys(), ...is.keys()])) {
    if (await countIn(tx, thread, was.get(folder), is.get(folder), lastReceivedAt)) changed.push(folder)
  }
  await tx.run('UPDATE thread_folders SET last_received_at = ? WHERE thread = ? AND last_received_at <> ?', [
    lastReceivedAt,
    thread,
    lastReceivedAt,
  ])
  return changed
}

async function countIn(
  tx: Tx,
  thread: number,
  was: Part | undefined,
  is: Part | undefined,
  lastReceivedAt: number,
): Promise<boolean> {
  if (was?.messages === is?.messages && was?.unread === is?.unread) return false
  const folder = (was ?? is)!.folder
  if (is === undefined) await tx.run('DELETE FROM thread_folders WHERE thread = ? AND folder = ?', [thread, folder])
  else {
    await tx.run(
      `INSERT INTO thread_folders (thread, folder, messages, unread, last_received_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (thread, folder) DO UPDATE SET messages = excluded.messages, unread = excluded.unread`,
      [thread, folder, is.messages, is.unread, lastReceivedAt],
    )
  }
  const grown = (count: (part: Part) => number) =>
    (is === undefined ? 0 : count(is)) - (was === undefined ? 0 : count(was))
  await tx.run(
    `UPDATE folders SET total_messages = total_messages + ?, unread_messages = unread_messages + ?,
       total_threads = total_threads + ?, unread_threads = unread_threads + ? WHERE n = ?`,
    [
      grown(({ messages }) => messages),
      grown(({ unread }) => unread),
      grown(() => 1),
      grown(({ unread }) => (unread > 0 ? 1 : 0)),
      folder,
    ],
  )
  return true
}

/** What a thread has in its folders by its messages. @param messages `seen` by message key */
export async function partsOf(tx: Tx, messages: ReadonlyMap<number, boolean>): Promise<FolderPart[]> {
  const parts = new Map<number, Part>()
  for (const [message, folders] of await foldersOf(tx, [...messages.keys()])) {
    for (const { n: folder } of folders) {
      const part = parts.get(folder) ?? { folder, messages: 0, unread: 0 }
      part.messages++
      if (messages.get(message) === false) part.unread++
      parts.set(folder, part)
    }
  }
  return [...parts.values()]
}
