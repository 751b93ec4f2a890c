// What an owner does on her pages: each deed is hers to do, is one unit of work, and is confirmed by a mail.

import { conflict, notFound } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'
import type { People } from '../people/people.ts'
import type { Session } from '../people/sessions.ts'
import type { AgentParts } from './deps.ts'
import type { InviteDecision, Invites, OpenInvite } from './invites.ts'
import { type Deed, deedLetter } from './owner-messages.ts'
import type { Ownership } from './ownership.ts'
import { isAlive, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'

interface Parts extends Pick<AgentParts, 'db' | 'config' | 'post'> {
  registrations: Registrations
  ownership: Ownership
  invites: Invites
  people: People
}

/** Who is signed in, and which teams that opens. */
type Owner = Pick<Session, 'email' | 'teamId'>

export class Owners {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The agents of the teams a session opens as their owner, the newest first. */
  async agentsOf(session: Owner): Promise<Registration[]> {
    const memberships = await this.#parts.people.membershipsOf(session)
    const teams = memberships.filter(({ role }) => role === 'owner').map(({ teamId }) => teamId)
    return this.#parts.registrations.ofTeams(teams)
  }

  /**
   * Her answer to an invitation. Who accepts is signed in by the link.
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
    const { invite, registration } = done
    // Mail proves the address. A link that was shown proves only that somebody vouches for this one agent.
    const teamId = invite.isShown ? registration.teamId : null
    const scope = { email: invite.email, teamId, mailboxId: invite.mailboxId, shownBy: null }
    return { ...done, session: await db.write((tx) => people.signInAs(tx, scope)) }
  }

  /** @throws ProductError not_found for an agent that is not hers, conflict for one that has ended */
  approveSending(session: Owner, id: string): Promise<void> {
    return this.#do(session, id, 'approved', (tx) => this.#parts.ownership.approveSending(tx, id))
  }

  /** @throws ProductError not_found, conflict */
  revokeSending(session: Owner, id: string): Promise<void> {
    return this.#do(session, id, 'sending_revoked', (tx) => this.#parts.ownership.revokeSending(tx, id))
  }

  /** @param typed the address of the inbox, typed by her to confirm @throws ProductError not_found, conflict */
  async revoke(session: Owner, id: string, typed: string): Promise<void> {
    const registration = await this.#own(session, id)
    if (typed.trim().toLowerCase() !== registration.email) throw conflict('The address typed is not that of the agent.')
    await this.#do(session, id, 'revoked', (tx) => this.#parts.ownership.revoke(tx, id))
  }

  /** Ends every agent of hers. @returns how many */
  async revokeAll(session: Owner): Promise<number> {
    const alive = (await this.agentsOf(session)).filter(isAlive)
    for (const { id } of alive) await this.#do(session, id, 'revoked', (tx) => this.#parts.ownership.revoke(tx, id))
    return alive.length
  }

  async #do(session: Owner, id: string, deed: Deed, work: (tx: Tx) => Promise<void>): Promise<void> {
    const registration = await this.#own(session, id)
    const { db, post, config } = this.#parts
    const mail = await post.prepare(deedLetter(deed, registration, session.email, config))
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

  async #own(session: Owner, id: string): Promise<Registration> {
    const found = (await this.agentsOf(session)).find((registration) => registration.id === id)
    if (found === undefined) throw notFound('agent')
    return found
  }
}
