// The change ledger: which objects of an account changed since a state that a client knows.

import { ProductError } from '../../base/errors.ts'
import type { Db, Reader, SqlValue, Tx } from '../../db/db.ts'
import { inPieces } from '../../db/many-rows.ts'
import { type Accounts, readState, writeState } from './accounts.ts'
import { deleteFloors, floorOf } from './changes-history.ts'
import type { Fragment } from './folders.ts'
import type { Account, ChangeType } from './records.ts'

/** An object that a unit of work created, updated or destroyed. */
export interface Change {
  type: ChangeType
  /** Its number inside the store. Numbers grow with time, so that new ledger rows are written at the end of the table. */
  n: number
  /** Public id. */
  object: string
  kind: 'created' | 'updated' | 'destroyed'
  /** Set if only its counts changed. */
  countsOnly?: true
}

/** Changes of a type since a state (docs/design/mailbox.md §3 "Changes object"). */
export interface Changes {
  oldState: string
  newState: string
  hasMoreChanges: boolean
  created: string[]
  updated: string[]
  destroyed: string[]
  /** True if `updated` is not empty and only counts changed in it. */
  countsOnly: boolean
}

/** The creation of an object, or its last change. */
interface ChangePoint {
  object: string
  seq: number
  kind: 'created' | 'updated' | 'destroyed'
  /** Only counts changed since the requested state. */
  countsOnly: boolean
}

/** Below the first sequence number: stands for a creation or update that the ledger no longer records. */
const BEFORE_LEDGER = 0

export class ChangeLedger {
  readonly #db: Db
  readonly #accounts: Accounts

  constructor(db: Db, accounts: Accounts) {
    this.#db = db
    this.#accounts = accounts
  }

  /**
   * Records what one unit of work changed, under its sequence number. There is one row per object. An object whose history was
   * pruned is not reported as created when it changes again.
   */
  record(tx: Tx, account: number, seq: number, changes: readonly Change[], now: number): void {
    const rows = distinctChanges(changes).map((change): SqlValue[] => {
      const created = change.kind === 'created' ? seq : BEFORE_LEDGER
      const isDestroyed = change.kind === 'destroyed' ? 1 : 0
      // Without a row an object has no recorded update other than of counts.
      const altered = change.countsOnly ? BEFORE_LEDGER : seq
      return [account, change.type, change.n, change.object, created, seq, isDestroyed, now, altered]
    })
    inPieces(rows, (marks, values) =>
      tx.run(
        `INSERT INTO changes (account, type, n, object, created_seq, changed_seq, gone, changed_at, altered_seq)
         VALUES ${marks}
         ON CONFLICT (account, type, n) DO UPDATE SET
           changed_seq = excluded.changed_seq, gone = excluded.gone, changed_at = excluded.changed_at,
           altered_seq = max(excluded.altered_seq, coalesce(altered_seq, changed_seq))`,
        values,
      ),
    )
  }

  /**
   * The changes of one type after `since`, at most `max` of them.
   *
   * Each object has two points: (created_seq, created) and (changed_seq, updated or destroyed). Pages are cut between points, not
   * rows: an object created on one page and updated later must not be reported as updated without its creation.
   * @throws ProductError `conflict` if the state is unknown, in the future or too old
   */
  since(account: Account, type: ChangeType, since: string, max: number): Changes {
    const from = readState(type, since)
    const newest = this.#accounts.lastSeq(account, type)
    if (from === null || from > newest) throw stateTooOld('since_state')
    const { points, complete } = this.#page(account.n, type, from, max)
    // Checked after the points are read: changes pruned in the meantime are missing from them.
    if (from < floorOf(this.#db.read, account.n, type)) throw stateTooOld('since_state')
    const last = complete ? newest : points.at(-1)!.seq
    return { oldState: since, newState: writeState(type, last), hasMoreChanges: last < newest, ...mergePoints(points) }
  }

  /**
   * Numbers of objects that changed after a sequence number, in the order of their last changes. A page ends between units of work.
   * @param max of a page; a unit of work with more objects is returned in full
   * @returns null when the ledger no longer goes back that far; `upTo`: every change up to it is in the page
   */
  numbersSince(
    account: Account,
    type: ChangeType,
    since: number,
    max: number,
  ): { numbers: number[]; upTo: number; hasMore: boolean } | null {
    const reader = this.#db.read
    // Read first: what changes after it belongs to the next page.
    const newest = this.#accounts.seqIn(reader, account.n)
    if (since < floorOf(reader, account.n, type)) return null
    const columns = 'SELECT n, changed_seq AS seq FROM changes WHERE account = ? AND type = ?'
    const rows = reader.all<{ n: number; seq: number }>(
      `${columns} AND changed_seq > ? AND changed_seq <= ? ORDER BY changed_seq LIMIT ?`,
      [account.n, type, since, newest, max + 1],
    )
    if (rows.length <= max) return { numbers: rows.map(({ n }) => n), upTo: newest, hasMore: false }
    const split = rows.at(-1)!.seq
    const complete = rows.filter(({ seq }) => seq < split)
    if (complete.length > 0) return { numbers: complete.map(({ n }) => n), upTo: complete.at(-1)!.seq, hasMore: true }
    const unit = reader.all<{ n: number }>(`${columns} AND changed_seq = ?`, [account.n, type, split])
    return { numbers: unit.map(({ n }) => n), upTo: split, hasMore: true }
  }

  /** Deletes the next changes of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
    const { changes } = tx.run(
      `DELETE FROM changes WHERE (account, type, n) IN
         (SELECT account, type, n FROM changes WHERE account = ? LIMIT ?)`,
      [account.n, limit],
    )
    return changes === 0 ? deleteFloors(tx, account.n) : changes
  }

  /**
   * Public ids of the objects created, updated or destroyed after `since`, and the current state.
   * @throws ProductError `conflict` if the state is unknown, in the future or too old, or if there are more than `max` ids
   */
  changedIds(account: Account, type: ChangeType, since: string, max: number): { ids: string[]; newState: string } {
    const from = readState(type, since)
    const newest = this.#accounts.lastSeq(account, type)
    if (from === null || from > newest) throw stateTooOld('since_query_state')
    const { sql, values } = changedSince(account.n, type, from, max + 1)
    const rows = this.#db.read.all<{ object: string }>(sql, values)
    if (rows.length > max || from < floorOf(this.#db.read, account.n, type)) throw stateTooOld('since_query_state')
    return { ids: rows.map(({ object }) => object), newState: writeState(type, newest) }
  }

  // A page ends between units of work: a state cannot name a point inside one.
  #page(account: number, type: ChangeType, from: number, max: number) {
    const points = this.#points(account, type, from, Number.MAX_SAFE_INTEGER, max + 1)
    if (points.length <= max) return { points, complete: true }
    const split = points[max]!.seq
    const complete = points.filter((point) => point.seq < split)
    if (complete.length > 0) return { points: complete, complete: false }
    // A unit of work larger than the page is returned in full: an empty page would make no progress.
    return { points: this.#points(account, type, from, split, Number.MAX_SAFE_INTEGER), complete: false }
  }

  #points(account: number, type: ChangeType, from: number, to: number, max: number): ChangePoint[] {
    const created = this.#db.read.all<{ object: string; seq: number }>(
      `SELECT object, created_seq AS seq FROM changes WHERE account = ? AND type = ? AND created_seq > ? AND created_seq <= ?
       ORDER BY created_seq LIMIT ?`,
      [account, type, from, to, max],
    )
    const changed = this.#db.read.all<{ object: string; seq: number; gone: number; altered: number }>(
      `SELECT object, changed_seq AS seq, gone, coalesce(altered_seq, changed_seq) AS altered FROM changes WHERE account = ? AND type = ? AND changed_seq > ? AND changed_seq <= ?
       AND (gone = 1 OR changed_seq > created_seq) ORDER BY changed_seq LIMIT ?`,
      [account, type, from, to, max],
    )
    const points: ChangePoint[] = [
      ...created.map((row): ChangePoint => ({ object: row.object, seq: row.seq, kind: 'created', countsOnly: false })),
      ...changed.map(
        (row): ChangePoint => ({
          object: row.object,
          seq: row.seq,
          kind: row.gone ? 'destroyed' : 'updated',
          countsOnly: row.altered <= from,
        }),
      ),
    ]
    // A creation sorts before the other changes of the same unit of work.
    const order = { created: 0, updated: 1, destroyed: 2 }
    return points.sort((a, b) => a.seq - b.seq || order[a.kind] - order[b.kind])
  }
}

/** The error for a state that cannot be answered; `param` names the parameter. */
export function stateTooOld(param: string): ProductError {
  return new ProductError('conflict', 'State is too old; fetch the list again', { param })
}

/** The first `limit` objects of a type that were created, updated or destroyed after `since`: a query for (n, object, gone). */
export function changedSince(account: number, type: ChangeType, since: number, limit: number): Fragment {
  return {
    sql: `SELECT n, object, gone FROM changes WHERE account = ? AND type = ? AND changed_seq > ? ORDER BY changed_seq LIMIT ?`,
    values: [account, type, since, limit],
  }
}

/**
 * The highest object number of a type in the ledger, for a scalar subquery: null for none. A number in the ledger is not assigned again:
 * one row could not record both the destruction of one object and the creation of another.
 */
export function lastNumberOf(account: number, type: ChangeType): Fragment {
  return { sql: 'SELECT max(n) FROM changes WHERE account = ? AND type = ?', values: [account, type] }
}

/** {@link lastNumberOf}, read; 0 for none. */
export function lastNumber(reader: Reader, account: number, type: ChangeType): number {
  const { sql, values } = lastNumberOf(account, type)
  return reader.get<{ last: number | null }>(`SELECT (${sql}) AS last`, values)?.last ?? 0
}

/** The sequence number of the last change of an object; 0 if the ledger has none. */
export function lastChangeSeq(reader: Reader, account: number, type: ChangeType, n: number): number {
  const sql = 'SELECT changed_seq AS seq FROM changes WHERE account = ? AND type = ? AND n = ?'
  return reader.get<{ seq: number }>(sql, [account, type, n])?.seq ?? 0
}

/** Whether the ledger has a row for an object number. */
export function isNumberRecorded(reader: Reader, account: number, type: ChangeType, n: number): boolean {
  const sql = 'SELECT 1 AS found FROM changes WHERE account = ? AND type = ? AND n = ?'
  return reader.get(sql, [account, type, n]) !== undefined
}

/** Without repeated updates of one object: an update after the creation adds nothing, nor does one of counts after another update. */
function distinctChanges(changes: readonly Change[]): readonly Change[] {
  if (changes.length === 1) return changes
  const distinct = new Map<string, Change>()
  for (const change of changes) {
    const key = `${change.type} ${change.n}`
    const before = distinct.get(key)
    if (change.kind === 'destroyed') distinct.set(`${key} destroyed`, change)
    else if (before === undefined || (before.kind === 'updated' && before.countsOnly)) distinct.set(key, change)
  }
  return [...distinct.values()]
}

/** created + updated = created; created + destroyed = nothing. */
function mergePoints(
  points: readonly ChangePoint[],
): Pick<Changes, 'created' | 'updated' | 'destroyed' | 'countsOnly'> {
  const kinds = new Map<string, 'created' | 'updated' | 'destroyed'>()
  for (const point of points) {
    const before = kinds.get(point.object)
    if (before === 'created' && point.kind === 'destroyed') kinds.delete(point.object)
    else if (before !== 'created') kinds.set(point.object, point.kind)
  }
  const of = (kind: string) => [...kinds].filter(([, value]) => value === kind).map(([object]) => object)
  const updated = of('updated')
  const altered = new Set(points.filter(({ countsOnly }) => !countsOnly).map(({ object }) => object))
  const countsOnly = updated.length > 0 && updated.every((object) => !altered.has(object))
  return { created: of('created'), updated, destroyed: of('destroyed'), countsOnly }
}
