// Folders: their rows and paths, the UIDs of the messages in them, and their counts.

import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Row, SqlValue, Tx } from '../../db/db.ts'
import { inPieces, insertMany } from '../../db/many-rows.ts'
import { placeholders } from '../../db/sql-text.ts'
import { numberRange, reserveUidValidity } from './accounts-numbers.ts'
import { forgetExpunged } from './folders-expunged.ts'
import type { Account, Folder, FolderRole } from './records.ts'

/** A piece of SQL with the values of its placeholders. */
export interface Fragment {
  sql: string
  values: SqlValue[]
}

export interface FolderKey {
  n: number
  id: string
  role: FolderRole | null
}

/** Where new messages arrive, or are filed without being seen. */
export type ArrivalFolders = Record<'inbox' | 'junk' | 'archive', FolderKey>

export interface FolderRow {
  n: number
  id: string
  parent: number | null
  name: string
  role: FolderRole | null
  sort_order: number
  total_messages: number
  unread_messages: number
  total_threads: number
  unread_threads: number
  is_subscribed: number
  created_at: number
  updated_at: number
}

type NamedRow = Pick<FolderRow, 'parent' | 'name'>

// The folders of a new mailbox in display order (docs/design/directory.md §6.3).
const INITIAL_FOLDERS: readonly (readonly [FolderRole, string])[] = [
  ['inbox', 'Inbox'],
  ['drafts', 'Drafts'],
  ['sent', 'Sent'],
  ['junk', 'Junk'],
  ['trash', 'Trash'],
  ['archive', 'Archive'],
]
const SORT_STEP = 10

/** Messages that are only in folders with these roles are left out of lists by default (docs/design/mailbox.md §3). */
export const HIDDEN_ROLES: readonly FolderRole[] = ['junk', 'trash']

/** Whether the messages of a folder are in lists by default. */
export function isListedIn({ role }: Pick<FolderKey, 'role'>): boolean {
  return role === null || !HIDDEN_ROLES.includes(role)
}

export class Folders {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Creates the six folders of a new account. */
  createInitial(tx: Tx, account: number): { n: number; id: string }[] {
    const now = this.#clock.now()
    const created: { n: number; id: string }[] = []
    const uidValidity = reserveUidValidity(tx, account, INITIAL_FOLDERS.length, now)
    const { low } = numberRange(account)
    for (const [index, [role, name]] of INITIAL_FOLDERS.entries()) {
      const id = newId('folder')
      const n = low + index + 1
      tx.insert('folders', {
        n,
        id,
        account,
        name,
        role,
        sort_order: (index + 1) * SORT_STEP,
        uid_validity: uidValidity + index,
        created_at: now,
        updated_at: now,
      })
      created.push({ n, id })
    }
    return created
  }

  /** All folders of the account by sort order and name. */
  list(account: Account): Folder[] {
    const rows = this.#rows(account.n)
    return rows.map((row) => present(row, rows))
  }

  byId(account: Account, id: string, reader: Reader = this.#db.read): Folder | undefined {
    const rows = this.#rows(account.n, reader)
    const row = rows.find((candidate) => candidate.id === id)
    return row && present(row, rows)
  }

  byRole(account: number, role: FolderRole, reader: Reader = this.#db.read): FolderKey {
    const row = reader.get<FolderKey>('SELECT n, id, role FROM folders WHERE account = ? AND role = ?', [account, role])
    if (!row) throw new Error(`Account ${account} has no ${role} folder.`)
    return row
  }

  /** The folders in which new messages of several accounts arrive, by account. */
  arrivalFolders(accounts: Iterable<number>, reader: Reader): Map<number, ArrivalFolders> {
    const rows = reader.all<FolderKey & { account: number }>(
      `SELECT f.account, f.n, f.id, f.role FROM json_each(?) a CROSS JOIN folders f
       WHERE f.account = a.value AND f.role IN ('inbox', 'junk', 'archive')`,
      [JSON.stringify([...accounts])],
    )
    const found = new Map<number, Partial<ArrivalFolders>>()
    for (const { account, ...key } of rows) found.set(account, { ...found.get(account), [key.role!]: key })
    return found as Map<number, ArrivalFolders>
  }

  /**
   * The maintained number of messages or threads of a folder, or of those that are unread.
   * @returns undefined if there is no such folder
   */
  total(account: Account, id: string, entries: 'messages' | 'threads', isUnread: boolean): number | undefined {
    const row = this.#db.read.get<{ total: number }>(
      `SELECT ${isUnread ? 'unread' : 'total'}_${entries} AS total FROM folders WHERE id = ? AND account = ?`,
      [id, account.n],
    )
    return row?.total
  }

  /** Threads with an unread message in the Inbox, by account. */
  unreadThreads(accounts: Iterable<number>): Map<number, number> {
    const sql = `SELECT account, unread_threads AS unread FROM folders
      WHERE role = 'inbox' AND account IN (SELECT value FROM json_each(?))`
    const rows = this.#db.read.all<{ account: number; unread: number }>(sql, [JSON.stringify([...accounts])])
    return new Map(rows.map(({ account, unread }) => [account, unread]))
  }

  /** The keys of all folders of an account, to resolve folders by id, role or name. */
  keys(account: Account, reader: Reader = this.#db.read): (FolderKey & { name: string })[] {
    return reader.all('SELECT n, id, role, name FROM folders WHERE account = ?', [account.n])
  }

  /** Deletes all folders of a deleted account; they must be empty. @returns how many. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    const rows = tx.all<{ n: number }>('DELETE FROM folders WHERE account = ? RETURNING n', [account.n])
    const deleted = rows.map(({ n }) => n)
    forgetExpunged(tx, deleted)
    return deleted.length
  }

  /** The keys of all folders of an account with their paths. */
  paths(account: Account, reader: Reader = this.#db.read): (FolderKey & { path: string })[] {
    const rows = this.#rows(account.n, reader)
    const byKey = new Map(rows.map((row) => [row.n, row]))
    return rows.map((row) => ({ n: row.n, id: row.id, role: row.role, path: pathOf(row, byKey) }))
  }

  #rows(account: number, reader: Reader = this.#db.read): FolderRow[] {
    return reader.all<FolderRow>(
      `SELECT n, id, parent, name, role, sort_order, total_messages, unread_messages, total_threads, unread_threads,
         is_subscribed, created_at, updated_at
       FROM folders WHERE account = ? ORDER BY sort_order, name, n`,
      [account],
    )
  }
}

/** Names from the top level down, joined by "/". */
export function pathOf(row: NamedRow, byKey: ReadonlyMap<number, NamedRow>): string {
  const names: string[] = []
  for (let at: NamedRow | undefined = row; at; at = at.parent === null ? undefined : byKey.get(at.parent)) {
    names.unshift(at.name)
  }
  return names.join('/')
}

function present(row: FolderRow, all: readonly FolderRow[]): Folder {
  const byKey = new Map(all.map((folder) => [folder.n, folder]))
  return {
    id: row.id,
    name: row.name,
    parentId: row.parent === null ? null : (byKey.get(row.parent)?.id ?? null),
    path: pathOf(row, byKey),
    role: row.role,
    sortOrder: row.sort_order,
    totalMessages: row.total_messages,
    unreadMessages: row.unread_messages,
    totalThreads: row.total_threads,
    unreadThreads: row.unread_threads,
    isSubscribed: row.is_subscribed === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** A new message in a folder. */
export interface NewEntry {
  folder: number
  /** Number of the message. */
  message: number
  thread: number
  receivedAt: number
  /** Now, ms. */
  filedAt: number
  unread: boolean
  /** The thread's sort time with all entries of the unit of work. */
  threadLastReceivedAt: number
  /** Sequence number of the unit of work in the account. */
  modSeq: number
  /** See `entryFlags`. */
  flags: number
  /** As mail programs get it. */
  sizeBytes: number
}

/**
 * Adds new messages to folders: assigns UIDs in their order, and updates the counts of the folders and of the threads in them.
 * @returns the UIDs in the order of the entries
 */
export function fileMessages(tx: Tx, entries: readonly NewEntry[]): number[] {
  const threads = countThreadsInFolders(tx, entries)
  const uids = new Map<NewEntry, number>()
  for (const [folder, filed] of Map.groupBy(entries, (entry) => entry.folder)) {
    const { newThreads, newUnreadThreads } = threads.get(folder)!
    const unread = filed.filter((entry) => entry.unread).length
    const modSeq = Math.max(...filed.map((entry) => entry.modSeq))
    const { uid } = tx.get<{ uid: number }>(
      `UPDATE folders SET uid_next = uid_next + ?, mod_seq = ?, total_messages = total_messages + ?,
         unread_messages = unread_messages + ?, total_threads = total_threads + ?, unread_threads = unread_threads + ?
       WHERE n = ? RETURNING uid_next - ? AS uid`,
      [filed.length, modSeq, filed.length, unread, newThreads, newUnreadThreads, folder, filed.length],
    )!
    for (const [index, entry] of filed.entries()) uids.set(entry, uid + index)
  }
  const rows = [...uids].map(([entry, uid]) => rowOf(entry, uid))
  insertMany(tx, 'message_folders', rows)
  return entries.map((entry) => uids.get(entry)!)
}

function rowOf(entry: NewEntry, uid: number): Row {
  return {
    folder: entry.folder,
    uid,
    message: entry.message,
    received_at: entry.receivedAt,
    filed_at: entry.filedAt,
    mod_seq: entry.modSeq,
    flags: entry.flags,
    size_bytes: entry.sizeBytes,
  }
}

/** Counts new messages in the rows of their threads. @returns by folder: threads that were not in it, and that had nothing unread in it */
function countThreadsInFolders(
  tx: Tx,
  entries: readonly NewEntry[],
): Map<number, { newThreads: number; newUnreadThreads: number }> {
  const added = new Map<string, { thread: number; folder: number; messages: number; unread: number; last: number }>()
  for (const { thread, folder, unread, threadLastReceivedAt: last } of entries) {
    const sum = added.get(`${thread} ${folder}`) ?? { thread, folder, messages: 0, unread: 0, last }
    sum.messages++
    if (unread) sum.unread++
    added.set(`${thread} ${folder}`, sum)
  }
  const counts = new Map(entries.map(({ folder }) => [folder, { newThreads: 0, newUnreadThreads: 0 }]))
  const values = [...added.values()].map((sum) => [sum.thread, sum.folder, sum.messages, sum.unread, sum.last])
  inPieces(values, (marks, piece) => {
    const rows = tx.all<{ thread: number; folder: number; messages: number; unread: number }>(
      `INSERT INTO thread_folders (thread, folder, messages, unread, last_received_at) VALUES ${marks}
       ON CONFLICT (thread, folder) DO UPDATE SET messages = messages + excluded.messages, unread = unread + excluded.unread
       RETURNING thread, folder, messages, unread`,
      piece,
    )
    for (const { thread, folder, messages, unread } of rows) {
      const sum = added.get(`${thread} ${folder}`)!
      if (messages === sum.messages) counts.get(folder)!.newThreads++
      if (sum.unread > 0 && unread === sum.unread) counts.get(folder)!.newUnreadThreads++
    }
  })
  return counts
}

/** Sets the sort time of a thread in all its folders. */
export function updateThreadOrder(tx: Tx, thread: number, lastReceivedAt: number): void {
  tx.run('UPDATE thread_folders SET last_received_at = ? WHERE thread = ? AND last_received_at <> ?', [
    lastReceivedAt,
    thread,
    lastReceivedAt,
  ])
}

/** Condition: the message whose number is in `column` is in the folder. */
export function inFolder(column: string, folder: number): Fragment {
  return {
    sql: `EXISTS (SELECT 1 FROM message_folders f WHERE f.message = ${column} AND f.folder = ?)`,
    values: [folder],
  }
}

/** Query for the messages of a folder and their sort time, to use in FROM. */
export function folderMessages(folder: number): Fragment {
  return { sql: 'SELECT message, received_at FROM message_folders WHERE folder = ?', values: [folder] }
}

/** Query for the threads of a folder and their sort time, to use in FROM. */
export function folderThreads(folder: number): Fragment {
  return { sql: 'SELECT thread, last_received_at FROM thread_folders WHERE folder = ?', values: [folder] }
}

/** Folder ids of each message, by message number. */
export function folderIdsOf(reader: Reader, messages: readonly number[]): Map<number, string[]> {
  const rows = reader.all<{ key: number; id: string }>(
    `SELECT f.message AS key, folders.id FROM message_folders f JOIN folders ON folders.n = f.folder
     WHERE f.message IN (${placeholders(messages)}) ORDER BY folders.sort_order, folders.n`,
    messages,
  )
  return grouped(rows)
}

/** Folder ids of each thread, by thread number; without Junk and Trash for threads with `listed`. */
export function threadFolderIds(
  reader: Reader,
  threads: readonly { n: number; listed: boolean }[],
): Map<number, string[]> {
  const rows = reader.all<{ key: number; id: string; role: FolderRole | null }>(
    `SELECT t.thread AS key, folders.id, folders.role FROM thread_folders t JOIN folders ON folders.n = t.folder
     WHERE t.thread IN (${placeholders(threads)}) ORDER BY folders.sort_order, folders.n`,
    threads.map((thread) => thread.n),
  )
  const listed = new Map(threads.map((thread) => [thread.n, thread.listed]))
  return grouped(rows.filter((row) => !listed.get(row.key) || isListedIn(row)))
}

function grouped(rows: { key: number; id: string }[]): Map<number, string[]> {
  const result = new Map<number, string[]>()
  for (const { key, id } of rows) {
    const ids = result.get(key)
    if (ids) ids.push(id)
    else result.set(key, [id])
  }
  return result
}

export interface FolderCounts {
  messages: number
  unread: number
  threads: number
  unreadThreads: number
}

/** The folders of an account with their stored counts. */
export function shownFolders(reader: Reader, account: number): { n: number; id: string; counts: FolderCounts }[] {
  const rows = reader.all<FolderCounts & { n: number; id: string }>(
    `SELECT n, id, total_messages AS messages, unread_messages AS unread, total_threads AS threads,
       unread_threads AS unreadThreads
     FROM folders WHERE account = ? ORDER BY n`,
    [account],
  )
  return rows.map(({ n, id, ...counts }) => ({ n, id, counts }))
}

/** Counts the messages of a folder. @param messages all messages of the account, by number */
export function countFolder(
  reader: Reader,
  folder: number,
  messages: ReadonlyMap<number, { thread: number; seen: number }>,
): FolderCounts {
  const threads = new Set<number>()
  const unreadThreads = new Set<number>()
  const rows = reader.all<{ message: number }>('SELECT message FROM message_folders WHERE folder = ?', [folder])
  let unread = 0
  for (const { message } of rows) {
    const counted = messages.get(message)
    if (counted === undefined) continue
    threads.add(counted.thread)
    if (counted.seen === 1) continue
    unread++
    unreadThreads.add(counted.thread)
  }
  return { messages: rows.length, unread, threads: threads.size, unreadThreads: unreadThreads.size }
}
