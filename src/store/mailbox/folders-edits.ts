// Creates, updates and deletes folders (docs/design/mailbox.md §6).

import type { Clock } from '../../base/clock.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { MessageEdits } from '../messages/edits.ts'
import type { Accounts } from '../rows/accounts.ts'
import { numberRange, reserveUidValidity } from '../rows/accounts-numbers.ts'
import { type Change, type ChangeLedger, lastChangeSeq, lastNumber } from '../rows/changes.ts'
import type { FolderRow } from '../rows/folders.ts'
import { forgetExpunged } from '../rows/folders-expunged.ts'
import type { Account } from '../rows/records.ts'

export interface NewFolder {
  name: string
  /** Null: top level. */
  parentId: string | null
  /** Left out: after the other folders. */
  sortOrder?: number
  /** Left out: subscribed. */
  isSubscribed?: boolean
}

export interface FolderChange {
  name?: string
  parentId?: string | null
  sortOrder?: number
  isSubscribed?: boolean
}

/** What to do with the messages of a folder that is deleted. */
export type OnMessages = 'reject' | 'trash' | 'delete'

/** docs/design/mailbox.md §6. */
export const DEPTH_MAX = 10
export const FOLDERS_MAX = 1000
export const FOLDER_NAME_MAX = 255
const SORT_STEP = 10
/** Messages removed from a folder in one unit of work. */
const MESSAGES_PER_BATCH = 200
const COLUMNS = 'n, id, parent, name, role, sort_order, total_messages'

type Row = Pick<FolderRow, 'n' | 'id' | 'parent' | 'name' | 'role' | 'sort_order' | 'total_messages'>

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
  edits: MessageEdits
}

export class FolderEdits {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** @returns its id @throws ProductError validation_error, conflict (the name is in use, or the mailbox has too many folders) */
  create(account: Account, folder: NewFolder): Promise<string> {
    return this.#deps.db.write((tx) => this.createIn(tx, account, folder))
  }

  /** {@link create} inside a unit of work of the caller. */
  createIn(tx: Tx, account: Account, { name: requestedName, parentId, ...more }: NewFolder): string {
    const rows = this.#rows(tx, account)
    if (rows.length >= FOLDERS_MAX) throw conflict(`A mailbox has at most ${FOLDERS_MAX} folders.`)
    const name = checkFolderName(requestedName)
    const parent = parentId === null ? null : parentOf(rows, parentId)
    checkDepth(rows, parent, 1)
    assertNameFree(rows, parent, name, null)
    const now = this.#deps.clock.now()
    const id = newId('folder')
    const n = nextFolderNumber(tx, account.n)
    tx.insert('folders', {
      ...{ n, id, account: account.n, parent: parent?.n ?? null, name },
      sort_order: more.sortOrder ?? Math.max(...rows.map((row) => row.sort_order)) + SORT_STEP,
      is_subscribed: more.isSubscribed ?? true,
      uid_validity: reserveUidValidity(tx, account.n, 1, now),
      created_at: now,
      updated_at: now,
    })
    this.#recordChanges(tx, account, [{ type: 'folders', n, object: id, kind: 'created' }])
    return id
  }

  /**
   * @param check checks a precondition inside the unit of work
   * @throws ProductError not_found, validation_error (also for a cycle), conflict (a folder with a role is renamed or moved, or the name is in use)
   */
  async update(account: Account, id: string, change: FolderChange, check: (tx: Tx) => void): Promise<void> {
    await this.#deps.db.write((tx) => {
      check(tx)
      this.updateIn(tx, account, id, change)
    })
  }

  /** {@link update} inside a unit of work of the caller. */
  updateIn(tx: Tx, account: Account, id: string, change: FolderChange): void {
    const rows = this.#rows(tx, account)
    const row = rows.find((candidate) => candidate.id === id)
    if (row === undefined) throw notFound('folder')
    const name = change.name === undefined ? row.name : checkFolderName(change.name)
    const parent = change.parentId == null ? null : parentOf(rows, change.parentId)
    const parentN = change.parentId === undefined ? row.parent : (parent?.n ?? null)
    const isMoved = parentN !== row.parent
    if (row.role !== null && (name !== row.name || isMoved)) {
      throw conflict('A folder with a role cannot be renamed or moved.')
    }
    if (isMoved) {
      assertNoCycle(rows, row, parent)
      checkDepth(rows, parent, heightOf(rows, row.n))
    }
    const newParent = parentN === null ? null : rows.find(({ n }) => n === parentN)!
    assertNameFree(rows, newParent, name, row.n)
    tx.run(
      `UPDATE folders SET name = ?, parent = ?, sort_order = ?, is_subscribed = coalesce(?, is_subscribed), updated_at = ? WHERE n = ?`,
      [name, parentN, change.sortOrder ?? row.sort_order, change.isSubscribed ?? null, this.#deps.clock.now(), row.n],
    )
    // The paths of its descendants change as well.
    const changed = isMoved || name !== row.name ? [row, ...descendantsOf(rows, row.n)] : [row]
    this.#recordChanges(
      tx,
      account,
      changed.map(({ n, id: object }): Change => ({ type: 'folders', n, object, kind: 'updated' })),
    )
  }

  /**
   * Deletes a folder. Its messages are removed in batches, so that other writes are not blocked; if it is interrupted, the folder
   * remains with the rest of its messages.
   * @param check checks a precondition inside the unit of work: first, and again if another client changed the folder in between
   * @returns how many messages were removed
   * @throws ProductError not_found, conflict (a folder with a role, with subfolders, or with messages if `onMessages` is `reject`)
   */
  async remove(account: Account, id: string, onMessages: OnMessages, check: (tx: Tx) => void): Promise<number> {
    const { db, edits } = this.#deps
    let lastSeq: number | null = null
    for (let removed = 0; ; ) {
      const ids = await db.writeFreeing((tx) => {
        if (lastSeq === null) check(tx)
        const row = this.#deletableFolder(tx, account, id)
        const currentSeq = () => lastChangeSeq(tx, account.n, 'folders', row.n)
        if (lastSeq !== null && lastSeq !== currentSeq()) check(tx)
        if (row.total_messages > 0 && onMessages === 'reject')
          throw conflict('The folder contains messages. Set on_messages to trash or delete to remove them.')
        const batch = edits.messageIdsIn(tx, account, id, MESSAGES_PER_BATCH)
        if (batch.length > 0) edits.removeFromFolder(tx, account, id, batch, onMessages === 'trash')
        else {
          tx.run('DELETE FROM folders WHERE n = ?', [row.n])
          forgetExpunged(tx, [row.n])
          this.#recordChanges(tx, account, [{ type: 'folders', n: row.n, object: id, kind: 'destroyed' }])
        }
        lastSeq = currentSeq()
        return batch
      })
      if (ids.length === 0) return removed
      removed += ids.length
    }
  }

  #deletableFolder(tx: Tx, account: Account, id: string): Row {
    const rows = this.#rows(tx, account)
    const row = rows.find((candidate) => candidate.id === id)
    if (row === undefined) throw notFound('folder')
    if (row.role !== null) throw conflict('A folder with a role cannot be deleted.')
    if (rows.some(({ parent }) => parent === row.n))
      throw conflict('The folder contains other folders. Move or delete them first.')
    return row
  }

  #rows(tx: Tx, account: Account): Row[] {
    return tx.all<Row>(`SELECT ${COLUMNS} FROM folders WHERE account = ?`, [account.n])
  }

  #recordChanges(tx: Tx, account: Account, recorded: readonly Change[]): void {
    const { accounts, changes, clock } = this.#deps
    const seq = accounts.advance(tx, account.n, ['folders'], { bytes: 0, messages: 0 })
    changes.record(tx, account.n, seq, recorded, clock.now())
  }
}

/**
 * The number of the next folder of an account: in its own range and, as far as the ledger goes, never assigned before. Sessions of mail
 * programs still hold the number of a folder that was deleted; it must not become that of another account's folder.
 */
function nextFolderNumber(tx: Tx, account: number): number {
  const { low, high } = numberRange(account)
  const last = tx.get<{ n: number | null }>('SELECT max(n) AS n FROM folders WHERE n BETWEEN ? AND ?', [low, high])?.n
  return Math.max(last ?? low, lastNumber(tx, account, 'folders')) + 1
}

/** @throws ProductError validation_error */
export function checkFolderName(requested: string): string {
  // Canonically equivalent names are the same name.
  const name = requested.normalize('NFC')
  const fail = (code: string, message: string) => invalid('name', code, message)
  if (name.length === 0) throw fail('too_small', 'A folder name must not be empty.')
  if (name.length > FOLDER_NAME_MAX) throw fail('too_big', `A folder name has at most ${FOLDER_NAME_MAX} characters.`)
  if (name.includes('/') || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) || !name.isWellFormed()) {
    throw fail('invalid_format', 'A folder name must not contain a slash or control characters.')
  }
  if (/^\.+$/.test(name)) throw fail('invalid_format', 'A folder name must not consist of dots only.')
  return name
}

function parentOf(rows: readonly Row[], id: string): Row {
  const parent = rows.find((row) => row.id === id)
  if (parent === undefined) throw invalid('parent_id', 'not_found', 'No folder of this mailbox has this id.')
  return parent
}

/** @param height levels of the folder and its descendants */
function checkDepth(rows: readonly Row[], parent: Row | null, height: number): void {
  if (depthOf(rows, parent) + height <= DEPTH_MAX) return
  throw invalid('parent_id', 'too_big', `Folders can be nested at most ${DEPTH_MAX} levels deep.`)
}

function depthOf(rows: readonly Row[], folder: Row | null): number {
  let depth = 0
  for (let at = folder; at !== null; at = rows.find(({ n }) => n === at!.parent) ?? null) depth++
  return depth
}

function heightOf(rows: readonly Row[], n: number): number {
  return 1 + Math.max(0, ...rows.filter(({ parent }) => parent === n).map((child) => heightOf(rows, child.n)))
}

function descendantsOf(rows: readonly Row[], n: number): Row[] {
  return rows.filter(({ parent }) => parent === n).flatMap((child) => [child, ...descendantsOf(rows, child.n)])
}

function assertNoCycle(rows: readonly Row[], folder: Row, parent: Row | null): void {
  if (parent === null || (parent.n !== folder.n && !descendantsOf(rows, folder.n).includes(parent))) return
  throw invalid('parent_id', 'forbidden_value', 'A folder cannot be moved into itself or its descendants.')
}

function assertNameFree(rows: readonly Row[], parent: Row | null, name: string, self: number | null): void {
  // RFC 9051 §5.1: at the top level INBOX in any letter case is the Inbox.
  if (parent === null && name.toLowerCase() === 'inbox' && rows.find(({ n }) => n === self)?.role !== 'inbox')
    throw conflict('This name is reserved for the Inbox.', 'name')
  const inUse = rows.some((row) => row.n !== self && row.parent === (parent?.n ?? null) && row.name === name)
  if (inUse) throw conflict('A folder with this name already exists here.', 'name')
}
