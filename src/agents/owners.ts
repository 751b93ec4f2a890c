// Actions of owners on their pages: each is authorised, runs in one unit of work and is confirmed by a message.

import { conflict, notFound } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'
import type { People } from '../people/people.ts'
import type { SignInBrowser, SignInSession } from '../people/sessions.ts'
import type { AgentDeps } from './deps.ts'
import type { InviteDecision, Invites, OpenInvite } from './invites.ts'
import { type OwnerAction, ownerActionMessage } from './owner-messages.ts'
import type { Ownership } from './ownership.ts'
import { isAlive, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'

interface Deps extends Pick<AgentDeps, 'db' | 'config' | 'mailer'> {
  registrations: Registrations
  ownership: Ownership
  invites: Invites
  people: People
}

/** The signed-in person and the scope of the session. */
type Owner = Pick<SignInSession, 'email' | 'teamId'> & Partial<Pick<SignInSession, 'createdAt'>>

export class Owners {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The agents of the teams the signed-in person owns, the newest first. */
  agentsOf(session: Owner): Registration[] {
    const memberships = this.#deps.people.membershipsOf(session)
    const teams = memberships.filter(({ role }) => role === 'owner').map(({ teamId }) => teamId)
    return this.#deps.registrations.ofTeams(teams)
  }

  /**
   * Records the answer to an invitation. Accepting signs the person in.
   * @param browser default: an unknown one
   * @returns a null session unless this call accepted the invitation
   */
  async answer(
    token: string,
    decision: InviteDecision,
    browser?: SignInBrowser,
  ): Promise<OpenInvite & { session: SignInSession | null }> {
    const { invites, people, db } = this.#deps
    const open = invites.open(token)
    if (open === undefined) throw notFound('invitation')
    const done = await invites.decide(token, decision)
    if (!done.decided || done.invite.state === 'declined') return { ...done, session: null }
    await this.#confirm(
      done.invite.email,
      done.registration,
      decision.approveSending ? 'accepted_and_approved' : 'accepted',
    )
    const { invite, registration } = done
    // A mailed link proves the address. A link shown by the operator opens only this agent's team.
    const teamId = invite.isShown ? registration.teamId : null
    const scope = { email: invite.email, teamId, mailboxId: invite.mailboxId, shownBy: null }
    return { ...done, session: await db.write((tx) => people.signInAs(tx, scope, browser)) }
  }

  /**
   * Records the answer of a person who has signed in to an invitation that waits for them.
   * @throws ProductError conflict when it was decided or has expired meanwhile
   */
  async decideInvite({ invite }: OpenInvite, decision: InviteDecision): Promise<void> {
    const done = await this.#deps.invites.decideFor(invite, decision)
    if (!done.decided) throw conflict('This invitation was decided meanwhile, or has expired.')
    if (!decision.accept) return
    const action = decision.approveSending ? 'accepted_and_approved' : 'accepted'
    await this.#confirm(invite.email, done.registration, action)
  }

  /**
   * Puts the question aside whether an agent may send: it goes on reading, and can be allowed later.
   * @throws ProductError not_found for an agent of another owner, conflict when it may send or has ended
   */
  async refuseSending(session: Owner, id: string): Promise<void> {
    this.#own(session, id)
    await this.#deps.db.write((tx) => this.#deps.ownership.refuseSending(tx, id))
  }

  /** @throws ProductError not_found for an agent of another owner, conflict for one that has ended */
  approveSending(session: Owner, id: string): Promise<void> {
    return this.#do(session, id, 'approved', (tx) => this.#deps.ownership.approveSending(tx, id))
  }

  /** @throws ProductError not_found, conflict */
  revokeSending(session: Owner, id: string): Promise<void> {
    return this.#do(session, id, 'sending_revoked', (tx) => this.#deps.ownership.revokeSending(tx, id))
  }

  /** @param typed the address of the inbox, typed to confirm @throws ProductError not_found, conflict */
  async revoke(session: Owner, id: string, typed: string): Promise<void> {
    const registration = this.#own(session, id)
    if (typed.trim().toLowerCase() !== registration.email)
      throw conflict('The address does not match the agent. Type the address of its inbox to confirm.')
    await this.#do(session, id, 'revoked', (tx) => this.#deps.ownership.revoke(tx, id))
  }

  /** Revokes every agent of the owner. @returns how many */
  async revokeAll(session: Owner): Promise<number> {
    const alive = this.agentsOf(session).filter(isAlive)
    for (const { id } of alive) await this.#do(session, id, 'revoked', (tx) => this.#deps.ownership.revoke(tx, id))
    return alive.length
  }

  async #do(session: Owner, id: string, action: OwnerAction, work: (tx: Tx) => void): Promise<void> {
    const registration = this.#own(session, id)
    const { db, mailer, config } = this.#deps
    const message = await mailer.prepare(ownerActionMessage(action, registration, session.email, config))
    await db.write((tx) => {
      work(tx)
      message.sendIn(tx)
    })
  }

  async #confirm(email: string, registration: Registration, action: OwnerAction): Promise<void> {
    const { db, mailer, config } = this.#deps
    const message = await mailer.prepare(ownerActionMessage(action, registration, email, config))
    await db.write((tx) => message.sendIn(tx))
  }

  #own(session: Owner, id: string): Registration {
    const found = this.agentsOf(session).find((registration) => registration.id === id)
    if (found === undefined) throw notFound('agent')
    return found
  }
}
