// The ledger of changes: what a client that knows a state has to ask for again.

import { ProductError } from '../base/errors.ts'
import type { Db, Reader, SqlValue, Tx } from '../db/db.ts'
import { type Accounts, readState, writeState } from './accounts.ts'
import { dropFloors, floorOf } from './changes-history.ts'
import type { Fragment } from './folders.ts'
import type { Account, ChangeType } from './records.ts'

/** One object that a unit of work made, altered or removed. */
export interface Change {
  type: ChangeType
  /** Its number inside the store: grows with time, so that the ledger is written at its end and not all over. */
  n: number
  /** Public id. */
  object: string
  kind: 'created' | 'updated' | 'destroyed'
  /** True when nothing changed but how much there is in it. */
  countsOnly?: true
}

/** What happened to the objects of a type since a state (decisions §10.3 "Changes object"). */
export interface Changes {
  oldState: string
  newState: string
  hasMoreChanges: boolean
  created: string[]
  updated: string[]
  destroyed: string[]
  /** True when there is something in `updated`, and nothing but counts changed of it. */
  countsOnly: boolean
}

/** One end of an object's life as the ledger tells it. */
interface Point {
  object: string
  seq: number
  kind: 'created' | 'updated' | 'destroyed'
  /** Nothing but counts changed since the state that was asked for. */
  countsOnly: boolean
}

/** Before the first number: when an object came whose beginning is not told any more. */
const LONG_AGO = 0

export class ChangeLedger {
  readonly #db: Db
  readonly #accounts: Accounts

  constructor(db: Db, accounts: Accounts) {
    this.#db = db
    this.#accounts = accounts
  }

  /**
   * Writes down what one unit of work changed under the number it took. One row per object, whatever its history; of an object whose
   * history is forgotten nobody hears as of a new one.
   */
  async record(tx: Tx, account: number, seq: number, changes: readonly Change[], now: number): Promise<void> {
    if (changes.length === 0) return
    const values: SqlValue[] = []
    for (const change of changes) {
      const created = change.kind === 'created' ? seq : LONG_AGO
      const gone = change.kind === 'destroyed' ? 1 : 0
      // Of what is forgotten nobody is told: whatever changed before the ledger begins is as long ago as its creation.
      const altered = change.countsOnly ? LONG_AGO : seq
      values.push(account, change.type, change.n, change.object, created, seq, gone, now, altered)
    }
    const marks = changes.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')
    await tx.run(
      `INSERT INTO changes (account, type, n, object, created_seq, changed_seq, gone, changed_at, altered_seq)
       VALUES ${marks}
       ON CONFLICT (account, type, n) DO UPDATE SET
         changed_seq = excluded.changed_seq, gone = excluded.gone, changed_at = excluded.changed_at,
         altered_seq = max(excluded.altered_seq, coalesce(altered_seq, changed_seq))`,
      values,
    )
  }

  /**
   * The changes of one type after `since`, at most `max` of them.
   *
   * Each object is two points, (createdSeq, created) and (changedSeq, updated or destroyed). Points, not rows: an object
   * created on page one and updated later must not be told as "updated" to a client that never heard of it.
   * @throws ProductError `conflict` when the state is unknown, of the future, or too old
   */
  async since(account: Account, type: ChangeType, since: string, max: number): Promise<Changes> {
    const from = readState(type, since)
    const newest = await this.#accounts.lastSeq(account, type)
    if (from === null || from > newest) throw tooOld('since_state')
    const { points, complete } = await this.#page(account.n, type, from, max)
    // Asked behind the points: what was forgotten while they were read is missing among them.
    if (from < (await floorOf(this.#db.read, account.n, type))) throw tooOld('since_state')
    const last = complete ? newest : points.at(-1)!.seq
    return { oldState: since, newState: writeState(type, last), hasMoreChanges: last < newest, ...fold(points) }
  }

  /** Forgets the next changes of an account that ends for good. See `PurgePart`. */
  async purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
    const { changes } = await tx.run(
      `DELETE FROM changes WHERE (account, type, n) IN
         (SELECT account, type, n FROM changes WHERE account = ? LIMIT ?)`,
      [account.n, limit],
    )
    return changes === 0 ? dropFloors(tx, account.n) : changes
  }

  /**
   * Public ids of what was made, altered or removed after `since`, the removed ones among them, and the state after it.
   * @throws ProductError `conflict` when the state is unknown, of the future, too old, or more than `max` ids would be told
   */
  async touched(
    account: Account,
    type: ChangeType,
    since: string,
    max: number,
  ): Promise<{ ids: string[]; newState: string }> {
    const from = readState(type, since)
    const newest = await this.#accounts.lastSeq(account, type)
    if (from === null || from > newest) throw tooOld('since_query_state')
    const { sql, values } = touchedSince(account.n, type, from, max + 1)
    const rows = await this.#db.read.all<{ object: string }>(sql, values)
    if (rows.length > max || from < (await floorOf(this.#db.read, account.n, type))) throw tooOld('since_query_state')
    return { ids: rows.map(({ object }) => object), newState: writeState(type, newest) }
  }

  // One unit of work stays together: a state in the middle of it could not be spelled.
  async #page(account: number, type: ChangeType, from: number, max: number) {
    const points = await this.#points(account, type, from, Number.MAX_SAFE_INTEGER, max + 1)
    if (points.length <= max) return { points, complete: true }
    const split = points[max]!.seq
    const whole = points.filter((point) => point.seq < split)
    if (whole.length > 0) return { points: whole, complete: false }
    // A single unit of work larger than the page is told whole: a page without progress would never end.
    return { points: await this.#points(account, type, from, split, Number.MAX_SAFE_INTEGER), complete: false }
  }

  async #points(account: number, type: ChangeType, from: number, to: number, max: number): Promise<Point[]> {
    const created = await this.#db.read.all<{ object: string; seq: number }>(
      `SELECT object, created_seq AS seq FROM changes WHERE account = ? AND type = ? AND created_seq > ? AND created_seq <= ?
       ORDER BY created_seq LIMIT ?`,
      [account, type, from, to, max],
    )
    const changed = await this.#db.read.all<{ object: string; seq: number; gone: number; altered: number }>(
      `SELECT object, changed_seq AS seq, gone, coalesce(altered_seq, changed_seq) AS altered FROM changes WHERE account = ? AND type = ? AND changed_seq > ? AND changed_seq <= ?
       AND (gone = 1 OR changed_seq > created_seq) ORDER BY changed_seq LIMIT ?`,
      [account, type, from, to, max],
    )
    const points: Point[] = [
      ...created.map((row): Point => ({ object: row.object, seq: row.seq, kind: 'created', countsOnly: false })),
      ...changed.map(
        (row): Point => ({
          object: row.object,
          seq: row.seq,
          kind: row.gone ? 'destroyed' : 'updated',
          countsOnly: row.altered <= from,
        }),
      ),
    ]
    // A creation stands before what happened to the object in the same unit of work.
    const order = { created: 0, updated: 1, destroyed: 2 }
    return points.sort((a, b) => a.seq - b.seq || order[a.kind] - order[b.kind])
  }
}

/** What a state is refused with: `param` names it. */
export function tooOld(param: string): ProductError {
  return new ProductError('conflict', 'State is too old; fetch the list again', { param })
}

/** Objects of a type that were made, altered or removed after `since`, the first of them: a table (n, object, gone). */
export function touchedSince(account: number, type: ChangeType, since: number, limit: number): Fragment {
  return {
    sql: `SELECT n, object, gone FROM changes WHERE account = ? AND type = ? AND changed_seq > ? ORDER BY changed_seq LIMIT ?`,
    values: [account, type, since, limit],
  }
}

/**
 * The highest number the ledger knows of a type, 0 for none. A number is given once as long as the ledger remembers it: the end of one
 * thing and the beginning of another could not both be told under it.
 */
export async function lastNumber(reader: Reader, account: number, type: ChangeType): Promise<number> {
  const row = await reader.get<{ last: number | null }>(
    'SELECT max(n) AS last FROM changes WHERE account = ? AND type = ?',
    [account, type],
  )
  return row?.last ?? 0
}

/** The number of the unit of work that last made, altered or removed a thing; 0 for one the ledger does not know. */
export async function lastTouched(reader: Reader, account: number, type: ChangeType, n: number): Promise<number> {
  const sql = 'SELECT changed_seq AS seq FROM changes WHERE account = ? AND type = ? AND n = ?'
  return (await reader.get<{ seq: number }>(sql, [account, type, n]))?.seq ?? 0
}

/** Whether the ledger remembers a number. */
export async function isRemembered(reader: Reader, account: number, type: ChangeType, n: number): Promise<boolean> {
  const sql = 'SELECT 1 AS found FROM changes WHERE account = ? AND type = ? AND n = ?'
  return (await reader.get(sql, [account, type, n])) !== undefined
}

/** created + updated = created; created + destroyed = nothing. */
function fold(points: readonly Point[]): Pick<Changes, 'created' | 'updated' | 'destroyed' | 'countsOnly'> {
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
