// Folders: their rows and paths, the UIDs of the messages in them, and their counts.

import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Db, Reader, SqlValue, Tx } from '../db/db.ts'
import { placeholders } from '../db/sql-text.ts'
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

// The folders of a new mailbox in display order (decisions §5.4).
const INITIAL_FOLDERS: readonly (readonly [FolderRole, string])[] = [
  ['inbox', 'Inbox'],
  ['drafts', 'Drafts'],
  ['sent', 'Sent'],
  ['junk', 'Junk'],
  ['trash', 'Trash'],
  ['archive', 'Archive'],
]
const SORT_STEP = 10

/** Messages that are only in folders with these roles are left out of lists by default (decisions §10.3). */
export const HIDDEN_ROLES: readonly FolderRole[] = ['junk', 'trash']

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
    for (const [index, [role, name]] of INITIAL_FOLDERS.entries()) {
      const id = newId('folder')
      const n = tx.insert('folders', {
        id,
        account,
        name,
        role,
        sort_order: (index + 1) * SORT_STEP,
        // RFC 9051 §2.3.1.1: a folder created later under the same name must have a greater value.
        uid_validity: Math.floor(now / 1000),
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

  /** The keys of all folders of an account, to resolve folders by id, role or name. */
  keys(account: Account, reader: Reader = this.#db.read): (FolderKey & { name: string })[] {
    return reader.all('SELECT n, id, role, name FROM folders WHERE account = ?', [account.n])
  }

  /** Deletes all folders of a deleted account; they must be empty. @returns how many. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    return tx.run('DELETE FROM folders WHERE account = ?', [account.n]).changes
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
function pathOf(row: FolderRow, byKey: ReadonlyMap<number, FolderRow>): string {
  const names: string[] = []
  for (let at: FolderRow | undefined = row; at; at = at.parent === null ? undefined : byKey.get(at.parent)) {
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

/** Adds a new message to a folder: assigns its UID and updates the counts of the folder and of the thread in it. */
export function fileMessage(
  tx: Tx,
  folder: number,
  message: {
    n: number
    thread: number
    receivedAt: number
    /** Now, ms. */
    filedAt: number
    unread: boolean
    threadLastReceivedAt: number
  },
): void {
  const unread = message.unread ? 1 : 0
  const inThread = tx.get<{ messages: number; unread: number }>(
    `INSERT INTO thread_folders (thread, folder, messages, unread, last_received_at) VALUES (?, ?, 1, ?, ?)
     ON CONFLICT (thread, folder) DO UPDATE SET messages = messages + 1, unread = unread + excluded.unread
     RETURNING messages, unread`,
    [message.thread, folder, unread, message.threadLastReceivedAt],
  )
  const newThread = inThread!.messages === 1 ? 1 : 0
  const newUnreadThread = unread === 1 && inThread!.unread === 1 ? 1 : 0
  const row = tx.get<{ uid: number }>(
    `UPDATE folders SET uid_next = uid_next + 1, total_messages = total_messages + 1, unread_messages = unread_messages + ?,
       total_threads = total_threads + ?, unread_threads = unread_threads + ?
     WHERE n = ? RETURNING uid_next - 1 AS uid`,
    [unread, newThread, newUnreadThread, folder],
  )
  tx.insert('message_folders', {
    folder,
    uid: row!.uid,
    message: message.n,
    received_at: message.receivedAt,
    filed_at: message.filedAt,
  })
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
  const isHidden = (role: FolderRole | null) => role !== null && HIDDEN_ROLES.includes(role)
  return grouped(rows.filter((row) => !(listed.get(row.key) && isHidden(row.role))))
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

/** Skips UIDs in all folders: they may have been assigned by commits that were lost (RFC 9051 §2.3.1.1). */
export function skipUids(tx: Tx, count: number): void {
  tx.run('UPDATE folders SET uid_next = uid_next + ?', [count])
}

/**
 * Gives every folder a new UIDVALIDITY, which invalidates what clients have cached. It increases even if the clock was set back.
 * @param now ms
 */
export function renewUidValidity(tx: Tx, now: number): void {
  const row = tx.get<{ last: number | null }>('SELECT max(uid_validity) AS last FROM folders')
  tx.run('UPDATE folders SET uid_validity = ?', [Math.max(Math.floor(now / 1000), (row?.last ?? 0) + 1)])
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
