// How far back the ledger of changes tells: older changes are forgotten, and who asks for them has to fetch the list again.

import type { Clock } from '../base/clock.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import { CHANGE_TYPES, type ChangeType } from './records.ts'

/** Decisions §10.1: changes are kept so long (ms), and so many of each type however old they are. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000
export const KEPT_MIN = 10_000
const ACCOUNTS_AT_ONCE = 100
/** Rows forgotten in one unit of work. */
const PIECE = 500

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

  /** Forgets in every account what may be forgotten, in pieces. @returns how many changes */
  async prune(signal: AbortSignal): Promise<number> {
    const before = this.#deps.clock.now() - KEPT_MS
    let forgotten = 0
    for (let after = 0; !signal.aborted; ) {
      const accounts = await this.#deps.accounts.numbers({ after, limit: ACCOUNTS_AT_ONCE })
      for (const account of accounts) {
        for (const type of CHANGE_TYPES) forgotten += await this.#pruneType(account, type, before, signal)
      }
      if (accounts.length < ACCOUNTS_AT_ONCE) break
      after = accounts.at(-1)!
    }
    return forgotten
  }

  async #pruneType(account: number, type: ChangeType, before: number, signal: AbortSignal): Promise<number> {
    const { db } = this.#deps
    const keptFrom = await keptFromOf(db.scan, account, type, before)
    let forgotten = 0
    while (keptFrom !== undefined && !signal.aborted) {
      const piece = await db.write((tx) => forgetNext(tx, account, type, { keptFrom, before }))
      forgotten += piece
      if (piece < PIECE) break
    }
    return forgotten
  }
}

/** The number from which on changes are kept because they are the newest; undefined where nothing may be forgotten. */
async function keptFromOf(
  reader: Reader,
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
    [account, type, KEPT_MIN - 1],
  )
  return row?.seq
}

/** @returns how many changes were forgotten; with them everything that is not newer than the last of them cannot be told any more */
async function forgetNext(
  tx: Tx,
  account: number,
  type: ChangeType,
  { keptFrom, before }: { keptFrom: number; before: number },
): Promise<number> {
  const rows = await tx.all<{ n: number; seq: number; at: number }>(
    `SELECT n, changed_seq AS seq, changed_at AS at FROM changes WHERE account = ? AND type = ? AND changed_seq < ?
     ORDER BY changed_seq LIMIT ?`,
    [account, type, keptFrom, PIECE],
  )
  const young = rows.findIndex(({ at }) => at >= before)
  const old = young < 0 ? rows : rows.slice(0, young)
  if (old.length === 0) return 0
  await tx.run(`DELETE FROM changes WHERE account = ? AND type = ? AND n IN (${old.map(() => '?').join(', ')})`, [
    account,
    type,
    ...old.map(({ n }) => n),
  ])
  await tx.run(
    `INSERT INTO change_floors (account, type, seq) VALUES (?, ?, ?)
     ON CONFLICT (account, type) DO UPDATE SET seq = max(change_floors.seq, excluded.seq)`,
    [account, type, old.at(-1)!.seq],
  )
  return old.length
}

/** The oldest state of a type from which on everything can still be told, as a number. */
export async function floorOf(reader: Reader, account: number, type: ChangeType): Promise<number> {
  const sql = 'SELECT seq FROM change_floors WHERE account = ? AND type = ?'
  return (await reader.get<{ seq: number }>(sql, [account, type]))?.seq ?? 0
}

/** Forgets how far back the ledger of an account tells, when it ends for good. @returns how many types this was */
export async function dropFloors(tx: Tx, account: number): Promise<number> {
  return (await tx.run('DELETE FROM change_floors WHERE account = ?', [account])).changes
}

/** Forgets everything: a state below the number (seq) of its account is too old from now on. */
export async function raiseFloors(tx: Tx, accounts: readonly { n: number; seq: number }[]): Promise<void> {
  const floors = accounts.flatMap(({ n, seq }) => CHANGE_TYPES.map((type) => [n, type, seq]))
  await tx.run(
    `INSERT INTO change_floors (account, type, seq)
       SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
     ON CONFLICT (account, type) DO UPDATE SET seq = max(change_floors.seq, excluded.seq)`,
    [JSON.stringify(floors)],
  )
}
