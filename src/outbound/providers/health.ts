// Whether a sending account works: checked in the background, tested on demand, and seen by the mail it carries.

import type { Tx } from '../../db/db.ts'
import type { OutboundParts } from '../parts.ts'
import type { Provider, ProviderStatus } from '../records.ts'
import type { CheckResult, OpenTransport } from '../transports/transport.ts'
import { presentProvider } from './row.ts'
import { checked, FAILURES_MAX } from './status.ts'

const MINUTE_MS = 60_000
/** An account in error is looked at again after this, then after twice as long, and so on up to the most. */
const RECHECK_MS = 15 * MINUTE_MS
const RECHECK_MAX_MS = 4 * 60 * MINUTE_MS
/** Accounts looked at in one round; all at once, for most of the time is waiting. */
const ROUND_MAX = 20
const REASON_MAX = 300
/** Stages at which it is the account that fails, whatever the mail (decisions §3.2). */
const OF_THE_ACCOUNT: readonly string[] = ['dns', 'connect', 'tls', 'greeting', 'auth']

interface Parts extends OutboundParts {
  openTransport: OpenTransport
}

export class Health {
  readonly #parts: Parts
  /** Accounts known to have no failures to forget: nothing is written for every mail that went well. */
  readonly #clean = new Set<number>()
  #checking: Promise<number> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Has the background look at what is due right after the commit. */
  hurry(tx: Tx): void {
    tx.afterCommit(() => this.#parts.wake.ring('deliver'))
  }

  /** The connection has changed: what is open is used no more, and it is checked unless it is switched off. */
  async reconnect(tx: Tx, n: number, status: ProviderStatus): Promise<void> {
    const due = status === 'pending' ? this.#parts.clock.now() : null
    await tx.run(
      `UPDATE providers SET connection_version = connection_version + 1, status = ?, status_reason = NULL, failures = 0,
         checked_ok_at = NULL, check_due_at = ?, check_wait_ms = NULL WHERE n = ?`,
      [status, due, n],
    )
    this.hurry(tx)
  }

  async activate(
    tx: Tx,
    provider: Provider,
    decide: (checkedOkAt: number | null, now: number) => ProviderStatus,
  ): Promise<void> {
    const now = this.#parts.clock.now()
    const row = await tx.get<{ checked_ok_at: number | null }>('SELECT checked_ok_at FROM providers WHERE n = ?', [
      provider.n,
    ])
    const status = decide(row!.checked_ok_at, now)
    await tx.run(
      `UPDATE providers SET status = ?, status_reason = NULL, failures = 0, check_due_at = ?, check_wait_ms = NULL,
         updated_at = ? WHERE n = ?`,
      [status, status === 'pending' ? now : null, now, provider.n],
    )
    this.hurry(tx)
  }

  async deactivate(tx: Tx, n: number): Promise<void> {
    await tx.run(
      `UPDATE providers SET status = 'inactive', status_reason = NULL, failures = 0, check_due_at = NULL,
         check_wait_ms = NULL, updated_at = ? WHERE n = ?`,
      [this.#parts.clock.now(), n],
    )
  }

  /** Asks the account itself and moves its status by what it says. */
  async check(provider: Provider, to: string | null): Promise<CheckResult> {
    const transport = await this.#parts.openTransport(provider)
    const result = await transport.check(to)
    await this.#parts.db.write((tx) => this.#apply(tx, provider, result))
    return result
  }

  /**
   * Looks at the accounts whose time has come.
   * @param signal ends the round early; what was not looked at stays due
   * @returns how many were looked at
   */
  checkDue(signal?: AbortSignal): Promise<number> {
    this.#checking ??= this.#round(signal).finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  /** A hand-over failed before anything was accepted; five in a row end the account's part in routing. */
  async noteFailure(provider: Provider, stage: string, text: string): Promise<void> {
    if (!OF_THE_ACCOUNT.includes(stage)) return
    this.#clean.delete(provider.n)
    await this.#parts.db.write(async (tx) => {
      const row = await tx.get<{ failures: number; status: ProviderStatus; connection_version: number }>(
        'UPDATE providers SET failures = failures + 1 WHERE n = ? AND connection_version = ? RETURNING failures, status, connection_version',
        [provider.n, provider.connectionVersion],
      )
      if (row === undefined || row.status !== 'active' || row.failures < FAILURES_MAX) return
      await this.#fail(tx, provider, reasonOf(stage, text))
    })
  }

  /** A hand-over went well: earlier failures are forgotten. */
  async noteSuccess(provider: Provider): Promise<void> {
    if (this.#clean.has(provider.n)) return
    this.#clean.add(provider.n)
    await this.#parts.db.write((tx) =>
      tx.run('UPDATE providers SET failures = 0 WHERE n = ? AND failures > 0', [provider.n]),
    )
  }

  /** Written down once a minute. */
  async noteUsed(provider: Provider): Promise<void> {
    const now = this.#parts.clock.now()
    const minute = now - (now % MINUTE_MS)
    if (provider.lastUsedAt !== null && provider.lastUsedAt >= minute) return
    await this.#parts.db.write((tx) =>
      tx.run('UPDATE providers SET last_used_at = ? WHERE n = ? AND (last_used_at IS NULL OR last_used_at < ?)', [
        minute,
        provider.n,
        minute,
      ]),
    )
  }

  /** The issuer takes the token no more: only a person can help. */
  async refuse(provider: Provider, text: string): Promise<void> {
    await this.#parts.db.write(async (tx) => {
      const row = await tx.get<{ status: ProviderStatus }>('SELECT status FROM providers WHERE n = ?', [provider.n])
      if (row === undefined || row.status === 'inactive') return
      await this.#fail(tx, provider, reasonOf('auth', text))
    })
  }

  async #round(signal?: AbortSignal): Promise<number> {
    const rows = await this.#parts.db.read.all(
      'SELECT * FROM providers WHERE check_due_at <= ? ORDER BY check_due_at LIMIT ?',
      [this.#parts.clock.now(), ROUND_MAX],
    )
    if (signal?.aborted) return 0
    const due = rows.map(presentProvider)
    await Promise.all(due.map((provider) => this.#checkOne(provider)))
    return due.length
  }

  async #checkOne(provider: Provider): Promise<void> {
    try {
      await this.check(provider, null)
    } catch (error) {
      this.#parts.log.error({ err: error, provider: provider.id }, 'a sending account could not be checked')
      await this.#parts.db.write((tx) => this.#postpone(tx, provider.n))
    }
  }

  async #apply(tx: Tx, provider: Provider, result: CheckResult): Promise<void> {
    const now = this.#parts.clock.now()
    const row = await tx.get<{ status: ProviderStatus; connection_version: number }>(
      'SELECT status, connection_version FROM providers WHERE n = ?',
      [provider.n],
    )
    // It has been changed meanwhile: what was found is about another connection.
    if (row === undefined || row.connection_version !== provider.connectionVersion) return
    const status = checked(row.status, result.success)
    await tx.run('UPDATE providers SET last_tested_at = ? WHERE n = ?', [now, provider.n])
    if (result.success) {
      await tx.run(
        `UPDATE providers SET status = ?, status_reason = NULL, failures = 0, checked_ok_at = ?, check_due_at = NULL,
           check_wait_ms = NULL WHERE n = ?`,
        [status, now, provider.n],
      )
    } else if (status === 'error') {
      await this.#fail(tx, provider, reasonOf(result.stage, result.message))
    }
  }

  async #fail(tx: Tx, provider: Provider, reason: string): Promise<void> {
    this.#parts.log.warn({ provider: provider.id, team_id: provider.teamId, reason }, 'a sending account fails')
    await tx.run(`UPDATE providers SET status = 'error', status_reason = ? WHERE n = ?`, [reason, provider.n])
    await this.#postpone(tx, provider.n)
  }

  async #postpone(tx: Tx, n: number): Promise<void> {
    await tx.run(
      `UPDATE providers SET check_wait_ms = min(coalesce(check_wait_ms * 2, ?), ?),
         check_due_at = ? + min(coalesce(check_wait_ms * 2, ?), ?) WHERE n = ?`,
      [RECHECK_MS, RECHECK_MAX_MS, this.#parts.clock.now(), RECHECK_MS, RECHECK_MAX_MS, n],
    )
  }
}

function reasonOf(stage: string, text: string): string {
  return `${stage}: ${text}`.slice(0, REASON_MAX)
}
