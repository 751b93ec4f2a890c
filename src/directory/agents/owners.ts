// What an owner does on her pages: each deed is hers to do, is one unit of work, and is confirmed by a mail.

import { conflict, notFound } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import type { People } from '../people/people.ts'
import type { Session } from '../people/sessions.ts'
import type { InviteDecision, Invites, OpenInvite } from './invites.ts'
import { type Deed, deedLetter } from './owner-letters.ts'
import type { Ownership } from './ownership.ts'
import type { AgentParts } from './parts.ts'
import { isAlive, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'

interface Parts extends Pick<AgentParts, 'db' | 'config' | 'post'> {
  registrations: Registrations
  ownership: Ownership
  invites: Invites
  people: People
}

export class Owners {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The agents whose teams a person owns, the newest first. */
  async agentsOf(email: string): Promise<Registration[]> {
    const memberships = await this.#parts.people.members.of(email)
    const teams = memberships.filter(({ role }) => role === 'owner').map(({ teamId }) => teamId)
    return this.#parts.registrations.ofTeams(teams)
  }

  /**
   * Her answer to an invitation. Whoever accepts is signed in: the link has proven her address.
   * @returns null as session where nothing was accepted now
   */
  async answer(token: string, decision: InviteDecision): Promise<OpenInvite & { session: Session | null }> {
    const { invites, people, db } = this.#parts
    const open = await invites.open(token)
    if (open === undefined) throw notFound('invitation')
    const done = await invites.decide(token, decision)
    if (!done.decided || done.invite.state === 'declined') return { ...done, session: null }
    await this.#confirm(
      done.invite.email,
      done.registration,
      decision.approveSending ? 'accepted_and_approved' : 'accepted',
    )
    return { ...done, session: await db.write((tx) => people.signInAs(tx, done.invite.email)) }
  }

  /** @throws ProductError not_found for an agent that is not hers, conflict for one that has ended */
  approveSending(email: string, id: string): Promise<void> {
    return this.#do(email, id, 'approved', (tx) => this.#parts.ownership.approveSending(tx, id))
  }

  /** @throws ProductError not_found, conflict */
  revokeSending(email: string, id: string): Promise<void> {
    return this.#do(email, id, 'sending_revoked', (tx) => this.#parts.ownership.revokeSending(tx, id))
  }

  /** @param typed the address of the inbox, typed by her to confirm @throws ProductError not_found, conflict */
  async revoke(email: string, id: string, typed: string): Promise<void> {
    const registration = await this.#own(email, id)
    if (typed.trim().toLowerCase() !== registration.email) throw conflict('The address typed is not that of the agent.')
    await this.#do(email, id, 'revoked', (tx) => this.#parts.ownership.revoke(tx, id))
  }

  /** Ends every agent of hers. @returns how many */
  async revokeAll(email: string): Promise<number> {
    const alive = (await this.agentsOf(email)).filter(isAlive)
    for (const { id } of alive) await this.#do(email, id, 'revoked', (tx) => this.#parts.ownership.revoke(tx, id))
    return alive.length
  }

  async #do(email: string, id: string, deed: Deed, work: (tx: Tx) => Promise<void>): Promise<void> {
    const registration = await this.#own(email, id)
    const { db, post, config } = this.#parts
    const mail = await post.prepare(deedLetter(deed, registration, email, config))
    await db.write(async (tx) => {
      await work(tx)
      await mail.sendIn(tx)
    })
  }

  async #confirm(email: string, registration: Registration, deed: Deed): Promise<void> {
    const { db, post, config } = this.#parts
    const mail = await post.prepare(deedLetter(deed, registration, email, config))
    await db.write((tx) => mail.sendIn(tx))
  }

  async #own(email: string, id: string): Promise<Registration> {
    const found = (await this.agentsOf(email)).find((registration) => registration.id === id)
    if (found === undefined) throw notFound('agent')
    return found
  }
}
