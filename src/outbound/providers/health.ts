// The health of sending accounts: what the results of checks and hand-overs change.

import { MINUTE_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Provider, ProviderStatus, RemoteReply } from '../model/records.ts'
import type { CheckResult, Stage } from '../model/transport.ts'
import { listProviders } from './row.ts'
import { checked, countsAsFailure, FAILURES_MAX } from './status.ts'

/** Delay in ms before an account in `error` is checked again; it doubles up to the maximum. */
const RECHECK_MS = 15 * MINUTE_MS
const RECHECK_MAX_MS = 4 * 60 * MINUTE_MS
export const REASON_MAX = 300
/** A test result, its duration and its end time, in ms. */
export interface Tested {
  result: CheckResult
  latencyMs: number
  testedAt: number
}

export class Health {
  readonly #deps: OutboundDeps
  /** Accounts with no recorded failures, so that a success needs no write per message. */
  readonly #clean = new Set<number>()

  constructor(deps: OutboundDeps) {
    this.#deps = deps
  }

  /** Across all teams: the number of active accounts, and the accounts in `error` or `pending`, oldest first. */
  overview(): { working: number; troubled: Provider[] } {
    const { read } = this.#deps.db
    const row = read.get<{ working: number }>(`SELECT count(*) AS working FROM providers WHERE status = 'active'`)
    return { working: row!.working, troubled: listProviders(read, `WHERE status IN ('error', 'pending') ORDER BY n`) }
  }

  /** The accounts whose check is due, at most `limit`. */
  due(limit: number): Provider[] {
    const rest = 'WHERE check_due_at <= ? ORDER BY check_due_at LIMIT ?'
    return listProviders(this.#deps.db.read, rest, [this.#deps.clock.now(), limit])
  }

  /** Runs the due background checks right after the commit. */
  checkSoon(tx: Tx): void {
    tx.afterCommit(() => this.#deps.notifier.notify('providers'))
  }

  /** Applies a changed connection: invalidates the open transport, and schedules a check unless the account is inactive. */
  reconnect(tx: Tx, n: number, status: ProviderStatus): void {
    const due = status === 'pending' ? this.#deps.clock.now() : null
    tx.run(
      `UPDATE providers SET connection_version = connection_version + 1, status = ?, status_reason = NULL, failures = 0,
         checked_ok_at = NULL, check_due_at = ?, check_wait_ms = NULL, takes_verp = 0 WHERE n = ?`,
      [status, due, n],
    )
    this.checkSoon(tx)
  }

  activate(tx: Tx, provider: Provider, decide: (checkedOkAt: number | null, now: number) => ProviderStatus): void {
    const now = this.#deps.clock.now()
    const row = tx.get<{ checked_ok_at: number | null }>('SELECT checked_ok_at FROM providers WHERE n = ?', [
      provider.n,
    ])
    const status = decide(row!.checked_ok_at, now)
    tx.run(
      `UPDATE providers SET status = ?, status_reason = NULL, failures = 0, check_due_at = ?, check_wait_ms = NULL,
         updated_at = ? WHERE n = ?`,
      [status, status === 'pending' ? now : null, now, provider.n],
    )
    this.checkSoon(tx)
  }

  deactivate(tx: Tx, n: number): void {
    tx.run(
      `UPDATE providers SET status = 'inactive', status_reason = NULL, failures = 0, check_due_at = NULL,
         check_wait_ms = NULL, updated_at = ? WHERE n = ?`,
      [this.#deps.clock.now(), n],
    )
  }

  /**
   * Records a hand-over that failed before anything was accepted; five in a row remove the account from routing. A single refusal of
   * the account's own envelope sender removes it at once, because the server then refuses all its messages.
   */
  async noteFailure(provider: Provider, stage: Stage, { smtpCode, text }: RemoteReply): Promise<void> {
    if (stage === 'sender' && (smtpCode ?? 0) >= 500) return this.refuse(provider, text, stage)
    if (!countsAsFailure(stage)) return
    this.#clean.delete(provider.n)
    await this.#deps.db.write((tx) => {
      // Ignore failures of an older connection version.
      const row = tx.get<{ failures: number; status: ProviderStatus }>(
        'UPDATE providers SET failures = failures + 1 WHERE n = ? AND connection_version = ? RETURNING failures, status',
        [provider.n, provider.connectionVersion],
      )
      if (row?.status !== 'active' || row.failures < FAILURES_MAX) return
      this.#fail(tx, provider, reasonOf(stage, text))
    })
  }

  /** Resets the failure count after a successful hand-over. */
  async noteSuccess(provider: Provider): Promise<void> {
    if (this.#clean.has(provider.n)) return
    this.#clean.add(provider.n)
    await this.#deps.db.write((tx) =>
      tx.run('UPDATE providers SET failures = 0 WHERE n = ? AND failures > 0', [provider.n]),
    )
  }

  /** Records the last use, at most once per minute. */
  async noteUsed(provider: Provider): Promise<void> {
    const now = this.#deps.clock.now()
    const minute = now - (now % MINUTE_MS)
    if (provider.lastUsedAt !== null && provider.lastUsedAt >= minute) return
    await this.#deps.db.write((tx) =>
      tx.run('UPDATE providers SET last_used_at = ? WHERE n = ? AND (last_used_at IS NULL OR last_used_at < ?)', [
        minute,
        provider.n,
        minute,
      ]),
    )
  }

  /** Puts the account into `error` when the issuer rejects its token or the server its sender; rechecks may recover it. */
  async refuse(provider: Provider, text: string, stage: Stage = 'auth'): Promise<void> {
    await this.#deps.db.write((tx) => {
      const row = tx.get<{ status: ProviderStatus }>(
        'SELECT status FROM providers WHERE n = ? AND connection_version = ?',
        [provider.n, provider.connectionVersion],
      )
      if (row === undefined || row.status === 'inactive' || row.status === 'error') return
      this.#fail(tx, provider, reasonOf(stage, text))
    })
  }

  /** Stores the result of a check, unless the connection has changed during it. */
  apply(tx: Tx, provider: Provider, { result, testedAt }: Tested): void {
    const row = tx.get<{ status: ProviderStatus }>(
      'UPDATE providers SET last_tested_at = ? WHERE n = ? AND connection_version = ? RETURNING status',
      [testedAt, provider.n, provider.connectionVersion],
    )
    if (row === undefined) return
    const status = checked(row.status, result)
    if (result.success) {
      tx.run(
        `UPDATE providers SET status = ?, status_reason = CASE ? WHEN 'inactive' THEN status_reason END, failures = 0,
           checked_ok_at = ?, check_due_at = NULL, check_wait_ms = NULL, takes_verp = coalesce(?, takes_verp) WHERE n = ?`,
        [status, status, testedAt, result.verp ?? null, provider.n],
      )
    } else if (status === 'error') {
      this.#fail(tx, provider, reasonOf(result.stage, result.message))
    }
  }

  #fail(tx: Tx, provider: Provider, reason: string): void {
    this.#deps.log.warn(
      { event: 'provider.failing', provider: provider.id, team_id: provider.teamId, reason },
      'Sending account set to error',
    )
    tx.run(`UPDATE providers SET status = 'error', status_reason = ? WHERE n = ?`, [reason, provider.n])
    const now = this.#deps.clock.now()
    // Repeated manual tests must not postpone the next background check.
    tx.run(
      `UPDATE providers SET check_wait_ms = min(coalesce(check_wait_ms * 2, ?), ?),
         check_due_at = ? + min(coalesce(check_wait_ms * 2, ?), ?)
       WHERE n = ? AND (check_due_at IS NULL OR check_due_at <= ?)`,
      [RECHECK_MS, RECHECK_MAX_MS, now, RECHECK_MS, RECHECK_MAX_MS, provider.n, now],
    )
  }
}

function reasonOf(stage: Stage, text: string): string {
  return `${stage}: ${text}`.slice(0, REASON_MAX)
}
