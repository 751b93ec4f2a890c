// The change ledger after a sequence number: retention of old changes, and the objects that caches of an account read again.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import type { AnyReader, Db, Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Accounts } from './accounts.ts'
import { pruneExpunged } from './folders-expunged.ts'
import { CHANGE_TYPES, type ChangeType } from './records.ts'

/** docs/design/mailbox.md §1: changes are kept this long (ms), and at least this many of each type regardless of age. */
export const RETENTION_MS = 30 * DAY_MS
export const RETAINED_MIN = 10_000
const ACCOUNTS_PER_PAGE = 100
/** Rows deleted in one unit of work. */
const BATCH_ROWS = 500

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
}

export class ChangeHistory {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Deletes expired changes of all accounts, and ranges of UIDs that left folders as long ago, in batches. @returns how many rows */
  async prune(signal: AbortSignal): Promise<number> {
    const before = this.#deps.clock.now() - RETENTION_MS
    let deleted = 0
    for (let after = 0; !signal.aborted; ) {
      const accounts = await this.#deps.accounts.numbers({ after, limit: ACCOUNTS_PER_PAGE })
      for (const account of accounts) {
        for (const type of CHANGE_TYPES) deleted += await this.#pruneType(account, type, before, signal)
      }
      if (accounts.length < ACCOUNTS_PER_PAGE) break
      after = accounts.at(-1)!
    }
    return deleted + (await this.#pruneExpunged(before, signal))
  }

  async #pruneExpunged(before: number, signal: AbortSignal): Promise<number> {
    let deleted = 0
    while (!signal.aborted) {
      const batch = await this.#deps.db.write((tx) => pruneExpunged(tx, before, BATCH_ROWS))
      deleted += batch
      if (batch < BATCH_ROWS) break
    }
    return deleted
  }

  async #pruneType(account: number, type: ChangeType, before: number, signal: AbortSignal): Promise<number> {
    const { db } = this.#deps
    const retainedFrom = await firstRetainedSeq(db.scan, account, type, before)
    let deleted = 0
    while (retainedFrom !== undefined && !signal.aborted) {
      const batch = await db.write((tx) => deleteBatch(tx, account, type, { retainedFrom, before }))
      deleted += batch
      if (batch < BATCH_ROWS) break
    }
    return deleted
  }
}

/** Sequence number of the oldest change kept by RETAINED_MIN; undefined if nothing may be deleted. */
async function firstRetainedSeq(
  reader: AnyReader,
  account: number,
  type: ChangeType,
  before: number,
): Promise<number | undefined> {
  const oldest = await reader.get<{ at: number }>(
    'SELECT changed_at AS at FROM changes WHERE account = ? AND type = ? ORDER BY changed_seq LIMIT 1',
    [account, type],
  )
  if (oldest === undefined || oldest.at >= before) return undefined
  const row = await reader.get<{ seq: number }>(
    'SELECT changed_seq AS seq FROM changes WHERE account = ? AND type = ? ORDER BY changed_seq DESC LIMIT 1 OFFSET ?',
    [account, type, RETAINED_MIN - 1],
  )
  return row?.seq
}

/** Deletes a batch and raises the floor to its last change. @returns how many changes were deleted */
function deleteBatch(
  tx: Tx,
  account: number,
  type: ChangeType,
  { retainedFrom, before }: { retainedFrom: number; before: number },
): number {
  const rows = tx.all<{ n: number; seq: number; at: number }>(
    `SELECT n, changed_seq AS seq, changed_at AS at FROM changes WHERE account = ? AND type = ? AND changed_seq < ?
     ORDER BY changed_seq LIMIT ?`,
    [account, type, retainedFrom, BATCH_ROWS],
  )
  const firstRecent = rows.findIndex(({ at }) => at >= before)
  const expired = firstRecent < 0 ? rows : rows.slice(0, firstRecent)
  if (expired.length === 0) return 0
  tx.run(`DELETE FROM changes WHERE account = ? AND type = ? AND n IN (${placeholders(expired)})`, [
    account,
    type,
    ...expired.map(({ n }) => n),
  ])
  tx.run(
    `INSERT INTO change_floors (account, type, seq) VALUES (?, ?, ?)
     ON CONFLICT (account, type) DO UPDATE SET seq = max(change_floors.seq, excluded.seq)`,
    [account, type, expired.at(-1)!.seq],
  )
  return expired.length
}

/** The oldest state of a type, as a sequence number, for which all later changes are still recorded. */
export function floorOf(reader: Reader, account: number, type: ChangeType): number {
  const sql = 'SELECT seq FROM change_floors WHERE account = ? AND type = ?'
  return reader.get<{ seq: number }>(sql, [account, type])?.seq ?? 0
}

/** Deletes the floors of a deleted account. @returns how many */
export function deleteFloors(tx: Tx, account: number): number {
  return tx.run('DELETE FROM change_floors WHERE account = ?', [account]).changes
}

/** Makes every state below the given sequence number of its account too old. */
export function raiseFloors(tx: Tx, accounts: readonly { n: number; seq: number }[]): void {
  const floors = accounts.flatMap(({ n, seq }) => CHANGE_TYPES.map((type) => [n, type, seq]))
  tx.run(
    `INSERT INTO change_floors (account, type, seq)
       SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
     ON CONFLICT (account, type) DO UPDATE SET seq = max(change_floors.seq, excluded.seq)`,
    [JSON.stringify(floors)],
  )
}

interface LedgerRow {
  type: ChangeType
  n: number
  seq: number
  /** Sequence number of the last change of more than counts. */
  altered: number
}

/** A point up to which everything is known, and the sequence number of each type as the account's row has it. */
interface LedgerRange {
  since: number
  newest: Partial<Record<ChangeType, number>>
}

/**
 * The objects of the types in `newest` that were changed after `since`.
 * @returns null when the ledger does not have all of them: there are more than `max`, some are pruned, or a type was advanced without rows
 */
export function objectsChangedSince(
  reader: Reader,
  account: number,
  { since, newest }: LedgerRange,
  max: number,
): LedgerRow[] | null {
  const rows: LedgerRow[] = []
  for (const [type, last] of Object.entries(newest) as [ChangeType, number][]) {
    if (last <= since) continue
    const found = reader.all<LedgerRow>(
      `SELECT type, n, changed_seq AS seq, coalesce(altered_seq, changed_seq) AS altered FROM changes
       WHERE account = ? AND type = ? AND changed_seq > ? ORDER BY changed_seq LIMIT ?`,
      [account, type, since, max + 1],
    )
    const isComplete =
      found.length <= max && (found.at(-1)?.seq ?? 0) >= last && floorOf(reader, account, type) <= since
    if (!isComplete) return null
    rows.push(...found)
  }
  return rows
}
