// What an owner decides about an agent, and what ends one: each move with everything that follows from it, in one unit of work.

import { conflict, notFound } from '../base/errors.ts'
import { isSecret } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import type { Assertions } from './assertions.ts'
import type { AgentParts } from './deps.ts'
import { isAlive, type Registration, type RegistrationState } from './records.ts'
import type { Registrations } from './registrations.ts'
import type { AgentTokens } from './tokens.ts'

/** Storage an inbox has at least once its owner allowed it to send, bytes (specification §8). */
export const APPROVED_QUOTA_BYTES = 5 * 1024 * 1024 * 1024
const DAY_MS = 86_400_000
/** How long the content of an inbox is kept after its end, with an owner and without (decisions §11.8). */
const KEEP_OWNED_MS = 30 * DAY_MS
const KEEP_MS = 14 * DAY_MS
const SWEEP_MAX = 100

interface Parts extends AgentParts {
  registrations: Registrations
  tokens: AgentTokens
  assertions: Assertions
}

export class Ownership {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** An agent names a person; what an owner has decided before is not touched. */
  async noteInvited(tx: Tx, n: number): Promise<void> {
    await this.#move(tx, n, 'invited', ['unclaimed'])
  }

  /** The person does not want to be the owner, or never said. */
  async noteUndecided(tx: Tx, n: number): Promise<void> {
    await this.#move(tx, n, 'unclaimed', ['invited'])
  }

  /** A person becomes the owner. @throws ProductError conflict when the registration has ended */
  async accept(tx: Tx, registration: Registration, email: string): Promise<void> {
    if (!isAlive(registration)) throw conflict(`The registration is ${registration.state}.`)
    await this.#parts.people.members.addOwner(tx, registration.teamId, email)
    await this.#move(tx, registration.n, 'accepted', ['unclaimed', 'invited'])
  }

  /** The owner allows sending. @throws ProductError not_found, conflict unless it is accepted or approved */
  async approveSending(tx: Tx, id: string): Promise<void> {
    const registration = await this.#require(tx, id, ['accepted', 'approved'])
    await this.#move(tx, registration.n, 'approved', ['accepted'])
    await this.#moveInvite(tx, registration.n, 'accepted', 'approved')
    await this.#parts.mailboxes.raiseQuota(tx, registration.mailboxId, APPROVED_QUOTA_BYTES)
  }

  /** The owner forbids sending again: at once, also what waits to leave. Reading and room stay. */
  async revokeSending(tx: Tx, id: string): Promise<void> {
    const registration = await this.#require(tx, id, ['accepted', 'approved'])
    await this.#move(tx, registration.n, 'accepted', ['approved'])
    await this.#moveInvite(tx, registration.n, 'approved', 'accepted')
    await this.#parts.tokens.revokeOf(tx, registration.n, 'send')
    await this.#parts.stopSending(tx, registration.mailboxId)
  }

  /** The end of a registration and of everything that hangs on it; twice is no error. @throws ProductError not_found */
  async revoke(tx: Tx, id: string): Promise<void> {
    const registration = await this.#parts.registrations.byId(tx, id)
    if (registration === undefined) throw notFound('registration')
    if (isAlive(registration)) await this.#end(tx, registration, 'revoked')
  }

  /**
   * Ends every registration made since a time: for the day somebody has made thousands.
   * @param createdAfter ms, inclusive
   * @param dryRun only counts them
   * @returns how many were or would be ended
   */
  async revokeAll(createdAfter: number, dryRun: boolean): Promise<number> {
    const { db } = this.#parts
    const meant = `state NOT IN ('revoked', 'expired') AND created_at >= ?`
    if (dryRun) {
      const sql = `SELECT count(*) AS count FROM agent_registrations WHERE ${meant}`
      return (await db.scan.get<{ count: number }>(sql, [createdAfter]))!.count
    }
    let ended = 0
    for (let some = await this.#numbers(meant, createdAfter); some.length > 0; ) {
      await db.write(async (tx) => {
        for (const n of some) await this.#endByNumber(tx, n, 'revoked')
      })
      ended += some.length
      some = await this.#numbers(meant, createdAfter)
    }
    return ended
  }

  /**
   * What `POST /oauth2/revoke` does with a token (RFC 7009): a sending token ends alone, everything else an agent has ends the
   * registration. What is unknown changes nothing.
   */
  async revokeToken(token: string): Promise<void> {
    const { db, assertions, tokens, registrations } = this.#parts
    const assertion = isSecret(token) ? undefined : await assertions.read(token, { expired: true })
    await db.write(async (tx) => {
      if (assertion !== undefined) return this.#endIfAlive(tx, await registrations.byId(tx, assertion.registrationId))
      if (!isSecret(token)) return
      if (token.startsWith('clm_')) return this.#endIfAlive(tx, await registrations.byClaim(tx, token))
      if (token.startsWith('sat_')) return this.#endIfAlive(tx, await registrations.byDurable(tx, token))
      const found = await tokens.find(tx, token)
      if (found?.audience === 'send') return tokens.revoke(tx, token)
      if (found !== undefined) await this.#endIfAlive(tx, await registrations.byN(tx, found.registration))
    })
  }

  /** Ends what nobody claimed in time or used for long, and deletes inboxes that have been kept long enough. @returns how many */
  async sweep(idleDays: number): Promise<number> {
    const { db, clock } = this.#parts
    const now = clock.now()
    const unclaimed = await this.#numbers(`state IN ('unclaimed', 'invited') AND claim_expires_at <= ?`, now)
    const idle = `state NOT IN ('revoked', 'expired') AND coalesce(last_used_at, created_at) <= ?`
    const unused = idleDays === 0 ? [] : await this.#numbers(idle, now - idleDays * DAY_MS)
    for (const n of unclaimed) await db.write((tx) => this.#endByNumber(tx, n, 'expired'))
    for (const n of unused) await db.write((tx) => this.#endByNumber(tx, n, 'revoked'))
    return unclaimed.length + unused.length + (await this.#deleteDue(now))
  }

  async #deleteDue(now: number): Promise<number> {
    const { db, mailboxes } = this.#parts
    const due = await this.#numbers('delete_at <= ?', now)
    for (const n of due) {
      const registration = (await this.#parts.registrations.byN(db.read, n))!
      // Somebody may have deleted it before, so long ago that its content is erased as well.
      if ((await mailboxes.byId(registration.mailboxId))?.status !== 'deleted') {
        await mailboxes.delete(registration.teamId, registration.mailboxId)
      }
      await db.write((tx) => tx.run('UPDATE agent_registrations SET delete_at = NULL WHERE n = ?', [n]))
    }
    return due.length
  }

  async #numbers(condition: string, value: number): Promise<number[]> {
    const rows = await this.#parts.db.read.all<{ n: number }>(
      `SELECT n FROM agent_registrations WHERE ${condition} ORDER BY n LIMIT ?`,
      [value, SWEEP_MAX],
    )
    return rows.map(({ n }) => n)
  }

  async #endByNumber(tx: Tx, n: number, state: 'revoked' | 'expired'): Promise<void> {
    const registration = await this.#parts.registrations.byN(tx, n)
    if (registration !== undefined && isAlive(registration)) await this.#end(tx, registration, state)
  }

  async #endIfAlive(tx: Tx, registration: Registration | undefined): Promise<void> {
    if (registration !== undefined && isAlive(registration)) await this.#end(tx, registration, 'revoked')
  }

  async #end(tx: Tx, registration: Registration, state: 'revoked' | 'expired'): Promise<void> {
    const { clock, tokens, mailboxes, stopSending } = this.#parts
    const { n, teamId, mailboxId } = registration
    const now = clock.now()
    const isOwned = registration.state === 'accepted' || registration.state === 'approved'
    await tx.run('UPDATE agent_registrations SET state = ?, ended_at = ?, delete_at = ? WHERE n = ?', [
      state,
      now,
      now + (isOwned ? KEEP_OWNED_MS : KEEP_MS),
      n,
    ])
    await tokens.revokeOf(tx, n)
    await tx.run(
      `UPDATE owner_invites SET state = 'revoked', decided_at = ? WHERE registration = ? AND state IN ('pending', 'accepted', 'approved')`,
      [now, n],
    )
    const mailbox = await mailboxes.byId(mailboxId, tx)
    // An operator may have deleted it before.
    if (mailbox?.status !== 'deleted') {
      await mailboxes.suspendIn(tx, teamId, mailboxId, `The agent's registration is ${state}.`)
    }
    await stopSending(tx, mailboxId)
  }

  async #move(tx: Tx, n: number, to: RegistrationState, from: readonly RegistrationState[]): Promise<void> {
    const marks = from.map(() => '?').join(', ')
    await tx.run(`UPDATE agent_registrations SET state = ? WHERE n = ? AND state IN (${marks})`, [to, n, ...from])
  }

  async #moveInvite(tx: Tx, registration: number, from: string, to: string): Promise<void> {
    await tx.run('UPDATE owner_invites SET state = ? WHERE registration = ? AND state = ?', [to, registration, from])
  }

  async #require(tx: Tx, id: string, states: readonly RegistrationState[]): Promise<Registration> {
    const registration = await this.#parts.registrations.byId(tx, id)
    if (registration === undefined) throw notFound('registration')
    if (!states.includes(registration.state)) throw conflict(`The registration is ${registration.state}.`)
    return registration
  }
}
