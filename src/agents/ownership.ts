// State transitions of registrations: invited, accepted, approved, revoked, expired; each with its consequences in one unit of work.

import { DAY_MS } from '../base/durations.ts'
import { conflict, notFound } from '../base/errors.ts'
import { isSecret } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import { placeholders } from '../db/sql-text.ts'
import type { Assertions } from './assertions.ts'
import type { AgentDeps } from './deps.ts'
import { isAlive, type Registration, type RegistrationState } from './records.ts'
import type { Registrations } from './registrations.ts'
import { endSignInsThrough } from './sign-ins.ts'
import type { AgentTokens } from './tokens.ts'

/** Minimum quota of an inbox after its owner approved sending, bytes (docs/design/contract.md §8). */
export const APPROVED_QUOTA_BYTES = 5 * 1024 * 1024 * 1024
/** How long the content of a revoked or expired inbox is kept, with an owner and without (docs/design/agents.md §6). */
const KEEP_OWNED_MS = 30 * DAY_MS
const KEEP_MS = 14 * DAY_MS
const SWEEP_MAX = 100

interface Deps extends AgentDeps {
  registrations: Registrations
  tokens: AgentTokens
  assertions: Assertions
}

export class Ownership {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Records an invitation; a decision of an owner stays. */
  noteInvited(tx: Tx, n: number): void {
    this.#setState(tx, n, 'invited', ['unclaimed'])
  }

  /** Records that the invitation was declined or expired. */
  noteUndecided(tx: Tx, n: number): void {
    this.#setState(tx, n, 'unclaimed', ['invited'])
  }

  /** Makes a person the owner. @throws ProductError conflict when the registration has ended */
  accept(tx: Tx, registration: Registration, email: string): void {
    if (!isAlive(registration)) throw conflict(`The registration is ${registration.state}.`)
    this.#deps.people.members.addOwner(tx, registration.teamId, email)
    this.#setState(tx, registration.n, 'accepted', ['unclaimed', 'invited'])
  }

  /** Approves sending. @throws ProductError not_found, conflict unless it is accepted or approved */
  approveSending(tx: Tx, id: string): void {
    const registration = this.#require(tx, id, ['accepted', 'approved'])
    this.#setState(tx, registration.n, 'approved', ['accepted'])
    this.#setInviteState(tx, registration.n, 'accepted', 'approved')
    this.#deps.mailboxes.raiseQuota(tx, registration.mailboxId, APPROVED_QUOTA_BYTES)
    this.#deps.store.sending.quotas.recordStorageLimitChange(tx, registration.mailboxId)
  }

  /** Records that an agent asked for sending while its owner has not decided. */
  noteSendingAsked(tx: Tx, { n, sendingAskedAt }: Registration): void {
    if (sendingAskedAt !== null) return
    tx.run('UPDATE agent_registrations SET sending_asked_at = ? WHERE n = ?', [this.#deps.clock.now(), n])
  }

  /** Records that the owner does not want to be asked again. @throws ProductError not_found, conflict unless it is accepted */
  refuseSending(tx: Tx, id: string): void {
    const { n } = this.#require(tx, id, ['accepted'])
    tx.run('UPDATE agent_registrations SET sending_refused_at = ? WHERE n = ?', [this.#deps.clock.now(), n])
  }

  /** Revokes the approval immediately and rejects queued messages. Reading and quota stay. */
  revokeSending(tx: Tx, id: string): void {
    const registration = this.#require(tx, id, ['accepted', 'approved'])
    this.#setState(tx, registration.n, 'accepted', ['approved'])
    this.#setInviteState(tx, registration.n, 'approved', 'accepted')
    // The owner has just decided: the agent that goes on asking is no new question.
    this.refuseSending(tx, id)
    this.#deps.tokens.revokeOf(tx, registration.n, 'sending')
    this.#deps.stopSending(tx, registration.mailboxId)
  }

  /**
   * Sets how many recipients an agent may send to; they apply to its next message.
   * @param limits per hour and per day; null for those of the settings
   * @throws ProductError not_found
   */
  setSendLimits(tx: Tx, id: string, { hourly, daily }: { hourly: number | null; daily: number | null }): void {
    const registration = this.#deps.registrations.byId(tx, id)
    if (registration === undefined) throw notFound('registration')
    const sql = 'UPDATE agent_registrations SET send_hourly = ?, send_daily = ? WHERE n = ?'
    tx.run(sql, [hourly, daily, registration.n])
  }

  /** Revokes a registration with its tokens, invitations and queued messages. Idempotent. @throws ProductError not_found */
  revoke(tx: Tx, id: string): void {
    const registration = this.#deps.registrations.byId(tx, id)
    if (registration === undefined) throw notFound('registration')
    if (isAlive(registration)) this.#end(tx, registration, 'revoked')
  }

  /**
   * Revokes every registration since a time, for an operator who finds mass registrations.
   * @param createdAfter ms, inclusive
   * @param dryRun only counts them
   * @returns how many were or would be revoked
   */
  async revokeAll(createdAfter: number, dryRun: boolean): Promise<number> {
    const { db } = this.#deps
    const condition = `state NOT IN ('revoked', 'expired') AND created_at >= ?`
    if (dryRun) {
      const sql = `SELECT count(*) AS count FROM agent_registrations WHERE ${condition}`
      return (await db.scan.get<{ count: number }>(sql, [createdAfter]))!.count
    }
    let revoked = 0
    for (let batch = this.#numbers(condition, createdAfter); batch.length > 0; ) {
      await db.write((tx) => {
        for (const n of batch) this.#endByNumber(tx, n, 'revoked')
      })
      revoked += batch.length
      batch = this.#numbers(condition, createdAfter)
    }
    return revoked
  }

  /**
   * Implements `POST /oauth2/revoke` (RFC 7009): a sending token is revoked alone, any other token revokes the registration. An unknown
   * token changes nothing.
   */
  async revokeToken(token: string): Promise<void> {
    const { db, assertions, tokens, registrations } = this.#deps
    const assertion = isSecret(token) ? undefined : await assertions.read(token, { expired: true })
    await db.write((tx) => {
      if (assertion !== undefined) return this.#endIfAlive(tx, registrations.byId(tx, assertion.registrationId))
      if (!isSecret(token)) return
      if (token.startsWith('clm_')) return this.#endIfAlive(tx, registrations.byClaim(tx, token))
      if (token.startsWith('sat_')) return this.#endIfAlive(tx, registrations.byDurable(tx, token))
      const found = tokens.find(tx, token)
      if (found?.audience === 'send') return tokens.revoke(tx, token)
      if (found !== undefined) this.#endIfAlive(tx, registrations.byN(tx, found.registration))
    })
  }

  /** Expires unclaimed and idle registrations, and deletes inboxes after their retention. @returns how many */
  async sweep(idleDays: number): Promise<number> {
    const { db, clock } = this.#deps
    const now = clock.now()
    const unclaimed = this.#numbers(`state IN ('unclaimed', 'invited') AND claim_expires_at <= ?`, now)
    const idle = `state NOT IN ('revoked', 'expired') AND coalesce(last_used_at, created_at) <= ?`
    const unused = idleDays === 0 ? [] : this.#numbers(idle, now - idleDays * DAY_MS)
    for (const n of unclaimed) await db.write((tx) => this.#endByNumber(tx, n, 'expired'))
    for (const n of unused) await db.write((tx) => this.#endByNumber(tx, n, 'revoked'))
    return unclaimed.length + unused.length + (await this.#deleteDue(now))
  }

  async #deleteDue(now: number): Promise<number> {
    const { db, mailboxes, people, registrations } = this.#deps
    const due = this.#numbers('delete_at <= ?', now)
    for (const n of due) {
      await db.write((tx) => {
        const { teamId, mailboxId } = registrations.byN(tx, n)!
        // It may have been deleted, and even purged, before.
        if (mailboxes.byId(mailboxId, tx)?.status !== 'deleted') {
          mailboxes.deleteIn(tx, teamId, mailboxId)
          endSignInsThrough(tx, people, mailboxId)
        }
        tx.run('UPDATE agent_registrations SET delete_at = NULL WHERE n = ?', [n])
      })
    }
    return due.length
  }

  #numbers(condition: string, value: number): number[] {
    const rows = this.#deps.db.read.all<{ n: number }>(
      `SELECT n FROM agent_registrations WHERE ${condition} ORDER BY n LIMIT ?`,
      [value, SWEEP_MAX],
    )
    return rows.map(({ n }) => n)
  }

  #endByNumber(tx: Tx, n: number, state: 'revoked' | 'expired'): void {
    const registration = this.#deps.registrations.byN(tx, n)
    if (registration !== undefined && isAlive(registration)) this.#end(tx, registration, state)
  }

  #endIfAlive(tx: Tx, registration: Registration | undefined): void {
    if (registration !== undefined && isAlive(registration)) this.#end(tx, registration, 'revoked')
  }

  #end(tx: Tx, registration: Registration, state: 'revoked' | 'expired'): void {
    const { clock, tokens, mailboxes, stopSending } = this.#deps
    const { n, teamId, mailboxId } = registration
    const now = clock.now()
    const isOwned = registration.state === 'accepted' || registration.state === 'approved'
    tx.run('UPDATE agent_registrations SET state = ?, ended_at = ?, delete_at = ? WHERE n = ?', [
      state,
      now,
      now + (isOwned ? KEEP_OWNED_MS : KEEP_MS),
      n,
    ])
    tokens.revokeOf(tx, n)
    tx.run(
      `UPDATE owner_invites SET state = 'revoked', decided_at = ? WHERE registration = ? AND state IN ('pending', 'accepted', 'approved')`,
      [now, n],
    )
    const mailbox = mailboxes.byId(mailboxId, tx)
    // An operator may have deleted it before.
    if (mailbox?.status !== 'deleted') {
      mailboxes.suspendIn(tx, teamId, mailboxId, `The agent's registration is ${state}.`)
    }
    stopSending(tx, mailboxId)
  }

  #setState(tx: Tx, n: number, to: RegistrationState, from: readonly RegistrationState[]): void {
    const marks = placeholders(from)
    tx.run(`UPDATE agent_registrations SET state = ? WHERE n = ? AND state IN (${marks})`, [to, n, ...from])
  }

  #setInviteState(tx: Tx, registration: number, from: string, to: string): void {
    tx.run('UPDATE owner_invites SET state = ? WHERE registration = ? AND state = ?', [to, registration, from])
  }

  #require(tx: Tx, id: string, states: readonly RegistrationState[]): Registration {
    const registration = this.#deps.registrations.byId(tx, id)
    if (registration === undefined) throw notFound('registration')
    if (!states.includes(registration.state)) throw conflict(`The registration is ${registration.state}.`)
    return registration
  }
}
