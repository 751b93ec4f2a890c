// Sign-ins of mail programs to mailboxes, successful and failed (docs/design/mail-programs.md §1.1).

import type { WrongSpan } from '../../base/clock-guard.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import type { ClientProtocol } from '../../config/client-protocols.ts'
import type { Db, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { redateRows } from '../../db/redate.ts'
import { Where } from '../../db/sql-text.ts'

export const SIGN_IN_OUTCOMES = ['ok', 'wrong_secret', 'expired', 'not_allowed', 'too_many'] as const
export type SignInOutcome = (typeof SIGN_IN_OUTCOMES)[number]

/** One sign-in, or several equal ones within ten minutes. */
export interface SignIn {
  /** Time of the first, ms. */
  at: number
  protocol: ClientProtocol
  mechanism: string
  outcome: SignInOutcome
  /** Address without a port. */
  source: string
  /** `apw_…`, `key_…` or `areg_…`; null when none was recognised. */
  credentialId: string | null
  /** What the program says of itself. */
  client: string | null
  times: number
}

export type SignInInput = Omit<SignIn, 'times'> & { mailboxId: string }

export interface SignInFilter {
  outcome?: SignInOutcome
  protocol?: ClientProtocol
  limit: number
  after: PageKey | null
}

/** Equal sign-ins within this time are one row. */
export const REPEAT_MS = 10 * MINUTE_MS
/** Maximum rows of a mailbox (docs/design/mail-programs.md §1.1). */
export const SIGN_INS_MAX = 1000
/** Maximum rows of failures: a flood of them must not remove the successful ones, by which known sources are recognised. */
export const FAILURES_MAX = 500
const PRUNED_AT_ONCE = 1000

interface SignInRow extends Pick<SignIn, 'at' | 'protocol' | 'mechanism' | 'outcome' | 'source' | 'client' | 'times'> {
  n: number
  credential_id: string | null
}

export class SignIns {
  readonly #db: Db

  constructor(deps: { db: Db }) {
    this.#db = deps.db
  }

  /** Adds a sign-in, or counts it with an equal one; removes the oldest rows above the maximum. */
  recordIn(tx: Tx, signIn: SignInInput): void {
    const { mailboxId, client } = signIn
    const known = this.#repeatedIn(tx, signIn)
    if (known !== undefined) {
      tx.run('UPDATE sign_ins SET times = times + 1, client = coalesce(?, client) WHERE n = ?', [client, known])
      return
    }
    const { at, protocol, mechanism, outcome, source, credentialId } = signIn
    const row = { mailbox_id: mailboxId, at, protocol, mechanism, outcome, source, client, times: 1 }
    tx.insert('sign_ins', { ...row, credential_id: credentialId })
    if (outcome !== 'ok') removeAbove(tx, mailboxId, FAILURES_MAX, ` AND outcome <> 'ok'`)
    removeAbove(tx, mailboxId, SIGN_INS_MAX, '')
  }

  /** Adds what a program says of itself after it has signed in. */
  noteClientIn(tx: Tx, signIn: SignInInput): void {
    const known = this.#repeatedIn(tx, signIn)
    if (known !== undefined) tx.run('UPDATE sign_ins SET client = ? WHERE n = ?', [signIn.client, known])
  }

  /** Newest first. */
  list(mailboxId: string, filter: SignInFilter): Page<SignIn> {
    const where = new Where().add('mailbox_id = ?', mailboxId)
    if (filter.outcome !== undefined) where.add('outcome = ?', filter.outcome)
    if (filter.protocol !== undefined) where.add('protocol = ?', filter.protocol)
    if (filter.after !== null) where.add('n < ?', filter.after[1])
    const rows = this.#db.read.all<SignInRow>(`SELECT * FROM sign_ins WHERE ${where.sql} ORDER BY n DESC LIMIT ?`, [
      ...where.values,
      filter.limit + 1,
    ])
    return pageOf(rows, filter.limit, (row) => [row.at, row.n], present)
  }

  /** The addresses from which sign-ins to a mailbox succeeded. */
  knownSources(mailboxId: string): string[] {
    const sql = `SELECT DISTINCT source FROM sign_ins WHERE mailbox_id = ? AND outcome = 'ok'`
    return this.#db.read.all<{ source: string }>(sql, [mailboxId]).map(({ source }) => source)
  }

  /** Deletes rows older than `before` (ms). @returns how many */
  async prune(before: number): Promise<number> {
    let pruned = 0
    for (;;) {
      const sql = 'DELETE FROM sign_ins WHERE n IN (SELECT n FROM sign_ins WHERE at < ? ORDER BY at LIMIT ?)'
      // No write transaction when nothing is due.
      if (this.#db.read.get('SELECT 1 AS due FROM sign_ins WHERE at < ? LIMIT 1', [before]) === undefined) return pruned
      pruned += (await this.#db.write((tx) => tx.run(sql, [before, PRUNED_AT_ONCE]))).changes
    }
  }

  /** Deletes those of a purged mailbox. */
  purgeOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM sign_ins WHERE mailbox_id = ?', [mailboxId])
  }

  /** Dates rows as of now that a wrong clock dated; see `redateRows`. */
  redate(wrong: WrongSpan, now: number): Promise<number> {
    return redateRows(this.#db, { table: 'sign_ins', column: 'at' }, wrong, now)
  }

  /** The row an equal sign-in is counted in; the program's name does not distinguish them, because it often comes later. */
  #repeatedIn(tx: Tx, signIn: SignInInput): number | undefined {
    const { mailboxId, at, protocol, mechanism, outcome, source, credentialId } = signIn
    return tx.get<{ n: number }>(
      `SELECT n FROM sign_ins WHERE mailbox_id = ? AND +at > ? AND protocol = ? AND mechanism = ? AND outcome = ? AND source = ?
         AND credential_id IS ? ORDER BY n DESC LIMIT 1`,
      [mailboxId, at - REPEAT_MS, protocol, mechanism, outcome, source, credentialId],
    )?.n
  }
}

function removeAbove(tx: Tx, mailboxId: string, most: number, condition: string): void {
  tx.run(
    `DELETE FROM sign_ins WHERE mailbox_id = ?${condition} AND n <=
       (SELECT n FROM sign_ins WHERE mailbox_id = ?${condition} ORDER BY n DESC LIMIT 1 OFFSET ?)`,
    [mailboxId, mailboxId, most],
  )
}

function present(row: SignInRow): SignIn {
  const { at, protocol, mechanism, outcome, source, credential_id: credentialId, client, times } = row
  return { at, protocol, mechanism, outcome, source, credentialId, client, times }
}
