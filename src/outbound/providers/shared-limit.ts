// The daily limit of a team at the shared Amazon SES account, and its requests for an increase (docs/design/sending.md §5).

import { DAY_MS } from '../../base/durations.ts'
import { conflict, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { Where } from '../../db/sql-text.ts'
import type { RowOf } from '../../db/table.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Provider } from '../model/records.ts'
import {
  checkDaily,
  checkNote,
  checkRaise,
  LIMIT_REQUESTS,
  type LimitRequest,
  type LimitRequestStatus,
  type SharedLimitAccount,
  type SharedLimitState,
  stateOf,
} from './shared-limit-record.ts'

export type { LimitRequest, LimitRequestStatus, SharedLimitState } from './shared-limit-record.ts'

export interface LimitRequestFilter {
  /** The operator omits it and gets the requests of all teams. */
  teamId?: string
  status?: LimitRequestStatus
  /** Part of the reason, or an id. */
  search?: string
  limit: number
  after: PageKey | null
}

export interface SharedLimitDeps extends OutboundDeps {
  providers: {
    connections: {
      /** Creates the team's row of the shared account, or deactivates it. */
      ensureShared(tx: Tx, teamId: string, enabled: boolean): unknown
      /** That row; undefined for a team without one. */
      sharedOf(teamId: string): Provider | undefined
    }
  }
}

/** A request, and the limit after the request was created or canceled. */
export interface LimitRequestResult {
  request: LimitRequest
  limit: SharedLimitState
}

interface LimitDecision {
  status: LimitRequestStatus
  approvedDailyLimit?: number | null
  note?: string | null
}

export class SharedLimit {
  readonly #deps: SharedLimitDeps

  constructor(deps: SharedLimitDeps) {
    this.#deps = deps
  }

  limitOf(teamId: string): SharedLimitState {
    const { db, providers } = this.#deps
    const account = this.#account(db.read, teamId)
    const shared = account.enabled ? providers.connections.sharedOf(teamId) : undefined
    const pending = this.pendingOf(teamId)
    const deniedLately = this.#deniedLately(db.read, teamId)
    return stateOf(account, shared?.id ?? null, pending?.id ?? null, deniedLately)
  }

  /** Whether the team may send through the shared account. */
  isEnabled(teamId: string): boolean {
    return this.#account(this.#deps.db.read, teamId).enabled
  }

  pendingOf(teamId: string): LimitRequest | undefined {
    return this.#pending(this.#deps.db.read, teamId)
  }

  /** Requests of all teams decided since a time: their owners must be notified. @param since ms */
  decided(since: number): LimitRequest[] {
    const rest = `WHERE status IN ('approved', 'denied') AND decided_at >= ? ORDER BY n`
    return LIMIT_REQUESTS.all(this.#deps.db.read, rest, [since])
  }

  /** Newest first. */
  list(filter: LimitRequestFilter): Page<LimitRequest> {
    const where = new Where()
    if (filter.teamId !== undefined) where.add('team_id = ?', filter.teamId)
    if (filter.status !== undefined) where.add('status = ?', filter.status)
    if (filter.search !== undefined) {
      where.add(`instr(lower(id || ' ' || coalesce(reason, '')), ?) > 0`, filter.search.toLowerCase())
    }
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const rows = this.#deps.db.read.all<RowOf<typeof LIMIT_REQUESTS> & { n: number }>(
      `SELECT n, ${LIMIT_REQUESTS.columns} FROM limit_requests WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.created_at, row.n], LIMIT_REQUESTS.record)
  }

  /** @throws ProductError conflict (one is pending or was denied today, SES is off, there is no limit), validation_error */
  async create(
    teamId: string,
    input: { reason: string | null; requestedDailyLimit: number | null },
  ): Promise<LimitRequestResult> {
    const { db, clock, log } = this.#deps
    checkNote('reason', input.reason)
    const request = await db.write((tx) => {
      const { enabled, dailyLimit, sent } = this.#account(tx, teamId)
      if (!enabled) throw conflict('The shared Amazon SES account is not enabled for the team.')
      if (dailyLimit === null) throw conflict('The team has no daily limit that could be raised.')
      if (this.#pending(tx, teamId) !== undefined) throw conflict('A request of the team is pending already.')
      if (this.#deniedLately(tx, teamId)) {
        throw conflict('A request was denied within the last 24 hours; ask again later.')
      }
      const wanted = input.requestedDailyLimit
      if (wanted !== null) checkRaise('requested_daily_limit', wanted, dailyLimit)
      const made: LimitRequest = {
        id: newId('limitRequest'),
        teamId,
        status: 'pending',
        reason: input.reason,
        requestedDailyLimit: wanted,
        currentDailyLimit: dailyLimit,
        currentDailySent: sent,
        approvedDailyLimit: null,
        decisionNote: null,
        createdAt: clock.now(),
        decidedAt: null,
      }
      LIMIT_REQUESTS.insert(tx, made)
      return made
    })
    log.info(
      { event: 'ses.limit_requested', team_id: teamId, request: request.id },
      'Team requests a higher daily limit',
    )
    return { request, limit: this.limitOf(teamId) }
  }

  /** @throws ProductError not_found, conflict (it is no longer pending) */
  async cancel(teamId: string, id: string): Promise<LimitRequestResult> {
    const request = await this.#deps.db.write((tx) => {
      const current = LIMIT_REQUESTS.get(tx, 'WHERE id = ? AND team_id = ?', [id, teamId])
      return this.#decide(tx, current, { status: 'cancelled' })
    })
    return { request, limit: this.limitOf(teamId) }
  }

  /** Approves a request; the new limit applies immediately. @throws ProductError not_found, conflict, validation_error */
  approve(id: string, decision: { approvedDailyLimit: number; note: string | null }): Promise<LimitRequest> {
    const { approvedDailyLimit, note } = decision
    return this.#deps.db.write((tx) => {
      checkNote('decision_note', note)
      const current = LIMIT_REQUESTS.get(tx, 'WHERE id = ?', [id])
      const request = this.#decide(tx, current, { status: 'approved', approvedDailyLimit, note })
      const { enabled, dailyLimit } = this.#account(tx, request.teamId)
      if (!enabled) throw conflict('The shared Amazon SES account is not enabled for the team any more.')
      if (dailyLimit === null) throw conflict('The team no longer has a daily limit, so there is nothing to raise.')
      checkRaise('approved_daily_limit', approvedDailyLimit, dailyLimit)
      tx.run('UPDATE shared_limits SET daily_limit = ? WHERE team_id = ?', [approvedDailyLimit, request.teamId])
      return request
    })
  }

  /** Denies a request. @throws ProductError not_found, conflict, validation_error */
  deny(id: string, decision: { note: string | null }): Promise<LimitRequest> {
    return this.#deps.db.write((tx) => {
      checkNote('decision_note', decision.note)
      const current = LIMIT_REQUESTS.get(tx, 'WHERE id = ?', [id])
      return this.#decide(tx, current, { status: 'denied', note: decision.note })
    })
  }

  /**
   * Enables or disables the shared account for a team, on behalf of the operator.
   * @param limit recipients a day (UTC); null for no limit
   * @throws ProductError not_found, validation_error, service_unavailable (no account is configured)
   */
  async setDaily(teamId: string, enabled: boolean, limit: number | null): Promise<SharedLimitState> {
    const { db, directory } = this.#deps
    if (directory.teams.get(teamId) === undefined) throw notFound('team')
    await db.write((tx) => this.setDailyIn(tx, teamId, { enabled, limit }))
    return this.limitOf(teamId)
  }

  /**
   * Does the same for an existing team in a unit of work; omitted fields keep their values.
   * @throws ProductError validation_error, service_unavailable (no account is configured)
   */
  setDailyIn(tx: Tx, teamId: string, change: { enabled?: boolean; limit?: number | null }): void {
    const { config, directory, providers } = this.#deps
    const before = this.#account(tx, teamId)
    const enabled = change.enabled ?? before.enabled
    const limit = change.limit === undefined ? before.dailyLimit : change.limit
    checkDaily('ses_daily_limit', limit)
    if (enabled && config.SES_ACCESS_KEY_ID === '') {
      throw new ProductError('service_unavailable', 'No Amazon SES account is configured on this appliance.')
    }
    tx.run(
      `INSERT INTO shared_limits (team_id, enabled, daily_limit) VALUES (?, ?, ?)
         ON CONFLICT (team_id) DO UPDATE SET enabled = excluded.enabled, daily_limit = excluded.daily_limit`,
      [teamId, enabled, limit],
    )
    // A team may have deactivated its row: a new limit does not reactivate it.
    if (before.enabled === enabled) return
    providers.connections.ensureShared(tx, teamId, enabled)
    directory.domains.checkSoon(tx, teamId)
  }

  /**
   * Reserves quota for a hand-over when the router chooses the shared account. The transport settles it; a reservation that a
   * crash leaves unsettled lasts until the day ends, because SES may have accepted the message.
   * @returns false when the rest of the daily limit is too small
   */
  take(tx: Tx, teamId: string, recipients: number): boolean {
    const { enabled, dailyLimit, taken, sent } = this.#account(tx, teamId)
    if (!enabled || (dailyLimit !== null && sent + taken + recipients > dailyLimit)) return false
    this.#store(tx, teamId, taken + recipients, sent)
    return true
  }

  /** Releases a reservation and counts the accepted recipients. Only the transport calls it. */
  settle(tx: Tx, teamId: string, taken: number, accepted: number): void {
    const account = this.#account(tx, teamId)
    // A reservation of yesterday is not part of today's count.
    this.#store(tx, teamId, Math.max(0, account.taken - taken), account.sent + accepted)
  }

  /** Days begin at 00:00 UTC: counts of another day read as 0. */
  #account(reader: Reader, teamId: string): SharedLimitAccount {
    const row = reader.get('SELECT * FROM shared_limits WHERE team_id = ?', [teamId])
    const isToday = row?.day === this.#today()
    return {
      enabled: row?.enabled === 1,
      dailyLimit: row?.enabled === 1 ? (row.daily_limit as number | null) : null,
      taken: isToday ? (row.taken_count as number) : 0,
      sent: isToday ? (row.sent_count as number) : 0,
    }
  }

  #store(tx: Tx, teamId: string, taken: number, sent: number): void {
    tx.run('UPDATE shared_limits SET day = ?, taken_count = ?, sent_count = ? WHERE team_id = ?', [
      this.#today(),
      taken,
      sent,
      teamId,
    ])
  }

  #today(): number {
    return Math.floor(this.#deps.clock.now() / DAY_MS)
  }

  #pending(reader: Reader, teamId: string): LimitRequest | undefined {
    return LIMIT_REQUESTS.get(reader, `WHERE team_id = ? AND status = 'pending'`, [teamId])
  }

  #deniedLately(reader: Reader, teamId: string): boolean {
    const row = reader.get(
      `SELECT 1 AS found FROM limit_requests WHERE team_id = ? AND status = 'denied' AND decided_at > ? LIMIT 1`,
      [teamId, this.#deps.clock.now() - DAY_MS],
    )
    return row !== undefined
  }

  /** @throws ProductError not_found, conflict (decided or canceled requests are final) */
  #decide(
    tx: Tx,
    current: LimitRequest | undefined,
    { status, approvedDailyLimit = null, note = null }: LimitDecision,
  ): LimitRequest {
    if (current === undefined) throw notFound('limit request')
    if (current.status !== 'pending') throw conflict(`The request is ${current.status} already.`)
    const decision = { status, approvedDailyLimit, decisionNote: note, decidedAt: this.#deps.clock.now() }
    LIMIT_REQUESTS.update(tx, decision, 'WHERE id = ?', [current.id])
    return { ...current, ...decision }
  }
}
