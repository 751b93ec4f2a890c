// Makes, changes and removes folders (decisions §10.6).

import type { Clock } from '../base/clock.ts'
import { conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import { type Change, type ChangeLedger, lastNumber, lastTouched } from './changes.ts'
import type { FolderRow } from './folders.ts'
import type { MessageEdits } from './messages/edits.ts'
import type { Account } from './records.ts'

export interface NewFolder {
  name: string
  /** Null: at the top. */
  parentId: string | null
  /** Left out: behind the others. */
  sortOrder?: number
}

export interface FolderChange {
  name?: string
  parentId?: string | null
  sortOrder?: number
  isSubscribed?: boolean
}

/** What becomes of the messages of a folder that is removed. */
export type OnMessages = 'reject' | 'trash' | 'delete'

/** Decisions §10.6. */
export const DEPTH_MAX = 10
export const FOLDERS_MAX = 1000
export const FOLDER_NAME_MAX = 255
const SORT_STEP = 10
/** Messages taken out of a folder in one unit of work. */
const PIECE = 200
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

  /** @returns its id @throws ProductError validation_error, conflict (the name is taken, or there are too many) */
  create(account: Account, folder: NewFolder): Promise<string> {
    return this.#deps.db.write((tx) => this.createIn(tx, account, folder))
  }

  /** The same inside a unit of work of the caller. */
  async createIn(tx: Tx, account: Account, { name: written, parentId, sortOrder }: NewFolder): Promise<string> {
    const rows = await this.#rows(tx, account)
    if (rows.length >= FOLDERS_MAX) throw conflict(`A mailbox has at most ${FOLDERS_MAX} folders.`)
    const name = checkFolderName(written)
    const parent = parentId === null ? null : parentOf(rows, parentId)
    checkPlace(rows, parent, 1)
    refuseTaken(rows, parent, name, null)
    const now = this.#deps.clock.now()
    const id = newId('folder')
    const newest = await tx.get<{ n: number | null }>('SELECT max(n) AS n FROM folders')
    // A number is given once as long as the ledger tells of it.
    const n = Math.max(newest?.n ?? 0, await lastNumber(tx, account.n, 'folders')) + 1
    await tx.insert('folders', {
      ...{ n, id, account: account.n, parent: parent?.n ?? null, name },
      sort_order: sortOrder ?? Math.max(...rows.map((row) => row.sort_order)) + SORT_STEP,
      // RFC 3501 2.3.1.1: a folder of the same name made later must have a larger value.
      uid_validity: Math.floor(now / 1000),
      created_at: now,
      updated_at: now,
    })
    await this.#tell(tx, account, [{ type: 'folders', n, object: id, kind: 'created' }])
    return id
  }

  /**
   * @param check sees to a precondition inside the unit of work
   * @throws ProductError not_found, validation_error (also for a cycle), conflict (a role folder is renamed or moved, a name is taken)
   */
  async update(account: Account, id: string, change: FolderChange, check: (tx: Tx) => Promise<void>): Promise<void> {
    await this.#deps.db.write(async (tx) => {
      await check(tx)
      const rows = await this.#rows(tx, account)
      const row = rows.find((one) => one.id === id)
      if (row === undefined) throw notFound('folder')
      const name = change.name === undefined ? row.name : checkFolderName(change.name)
      const parent = change.parentId == null ? null : parentOf(rows, change.parentId)
      const parentN = change.parentId === undefined ? row.parent : (parent?.n ?? null)
      const isMoved = parentN !== row.parent
      if (row.role !== null && (name !== row.name || isMoved)) {
        throw conflict('A folder with a role keeps its name and its place.')
      }
      if (isMoved) {
        refuseCycle(rows, row, parent)
        checkPlace(rows, parent, heightOf(rows, row.n))
      }
      const under = parentN === null ? null : rows.find(({ n }) => n === parentN)!
      refuseTaken(rows, under, name, row.n)
      await tx.run(
        `UPDATE folders SET name = ?, parent = ?, sort_order = ?, is_subscribed = coalesce(?, is_subscribed), updated_at = ? WHERE n = ?`,
        [name, parentN, change.sortOrder ?? row.sort_order, change.isSubscribed ?? null, this.#deps.clock.now(), row.n],
      )
      // Paths below change with it.
      const touched = isMoved || name !== row.name ? [row, ...below(rows, row.n)] : [row]
      await this.#tell(
        tx,
        account,
        touched.map(({ n, id: object }): Change => ({ type: 'folders', n, object, kind: 'updated' })),
      )
    })
  }

  /**
   * Removes a folder. What lies in it is taken out in pieces, so that nobody waits for a large one; stopped in between, the folder is
   * still there with what is left.
   * @param check sees to a precondition inside the unit of work: at first, and again when somebody else touched the folder meanwhile
   * @returns how many messages were taken out
   * @throws ProductError not_found, conflict (a role folder, one with folders in it, or with messages that may not be touched)
   */
  async remove(
    account: Account,
    id: string,
    onMessages: OnMessages,
    check: (tx: Tx) => Promise<void>,
  ): Promise<number> {
    const { db, edits } = this.#deps
    let left: number | null = null
    for (let moved = 0; ; ) {
      const ids = await db.write(async (tx) => {
        if (left === null) await check(tx)
        const row = await this.#removable(tx, account, id)
        const touched = () => lastTouched(tx, account.n, 'folders', row.n)
        if (left !== null && left !== (await touched())) await check(tx)
        if (row.total_messages > 0 && onMessages === 'reject') throw conflict('The folder holds messages.')
        const some = await edits.inFolder(tx, account, id, PIECE)
        if (some.length > 0) await edits.leaveFolder(tx, account, id, some, onMessages === 'trash')
        else {
          await tx.run('DELETE FROM folders WHERE n = ?', [row.n])
          await this.#tell(tx, account, [{ type: 'folders', n: row.n, object: id, kind: 'destroyed' }])
        }
        left = await touched()
        return some
      })
      if (ids.length === 0) return moved
      moved += ids.length
    }
  }

  async #removable(tx: Tx, account: Account, id: string): Promise<Row> {
    const rows = await this.#rows(tx, account)
    const row = rows.find((one) => one.id === id)
    if (row === undefined) throw notFound('folder')
    if (row.role !== null) throw conflict('A folder with a role cannot be removed.')
    if (rows.some(({ parent }) => parent === row.n)) throw conflict('The folder holds other folders.')
    return row
  }

  async #rows(tx: Tx, account: Account): Promise<Row[]> {
    return tx.all<Row>(`SELECT ${COLUMNS} FROM folders WHERE account = ?`, [account.n])
  }

  async #tell(tx: Tx, account: Account, told: readonly Change[]): Promise<void> {
    const { accounts, changes, clock } = this.#deps
    const seq = await accounts.advance(tx, account.n, ['folders'], { bytes: 0, messages: 0 })
    await changes.record(tx, account.n, seq, told, clock.now())
  }
}

/** @throws ProductError validation_error */
export function checkFolderName(written: string): string {
  // The same letters are the same name, however they were typed.
  const name = written.normalize('NFC')
  const wrong = (code: string, message: string) => invalid('name', code, message)
  if (name.length === 0) throw wrong('too_small', 'A folder needs a name.')
  if (name.length > FOLDER_NAME_MAX) throw wrong('too_big', `A name has at most ${FOLDER_NAME_MAX} characters.`)
  if (name.includes('/') || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) || !name.isWellFormed()) {
    throw wrong('invalid_format', 'A name holds no slash and no control characters.')
  }
  if (/^\.+$/.test(name)) throw wrong('invalid_format', 'A name is not made of dots alone.')
  return name
}

function parentOf(rows: readonly Row[], id: string): Row {
  const parent = rows.find((row) => row.id === id)
  if (parent === undefined) throw invalid('parent_id', 'not_found', 'There is no such folder in this mailbox.')
  return parent
}

/** @param height levels the folder has itself */
function checkPlace(rows: readonly Row[], parent: Row | null, height: number): void {
  if (depthOf(rows, parent) + height <= DEPTH_MAX) return
  throw invalid('parent_id', 'too_big', `Folders lie in one another ${DEPTH_MAX} deep at most.`)
}

function depthOf(rows: readonly Row[], folder: Row | null): number {
  let depth = 0
  for (let at = folder; at !== null; at = rows.find(({ n }) => n === at!.parent) ?? null) depth++
  return depth
}

function heightOf(rows: readonly Row[], n: number): number {
  return 1 + Math.max(0, ...rows.filter(({ parent }) => parent === n).map((child) => heightOf(rows, child.n)))
}

function below(rows: readonly Row[], n: number): Row[] {
  return rows.filter(({ parent }) => parent === n).flatMap((child) => [child, ...below(rows, child.n)])
}

function refuseCycle(rows: readonly Row[], folder: Row, parent: Row | null): void {
  if (parent === null || (parent.n !== folder.n && !below(rows, folder.n).includes(parent))) return
  throw invalid('parent_id', 'forbidden_value', 'A folder cannot lie in itself.')
}

function refuseTaken(rows: readonly Row[], parent: Row | null, name: string, self: number | null): void {
  const taken = rows.some((row) => row.n !== self && row.parent === (parent?.n ?? null) && row.name === name)
  if (taken) throw conflict('There is a folder of this name.', 'name')
}
