// People: who may open the console and the owner's pages, and how they get in without a password.

import type { Tx } from '../../db/db.ts'
import { checkName } from '../teams.ts'
import { invitationLetter, signInLetter } from './letters.ts'
import { INVITATION_MS, Links, SIGN_IN_MS } from './links.ts'
import { checkPersonEmail, type Member, type MemberRole, Members } from './members.ts'
import type { PeopleParts } from './parts.ts'
import { type Session, Sessions } from './sessions.ts'
import { Told } from './told.ts'

export class People {
  readonly members: Members
  readonly links: Links
  readonly sessions: Sessions
  /** What owners were told. */
  readonly told: Told
  readonly #parts: PeopleParts

  constructor(parts: PeopleParts) {
    this.#parts = parts
    this.members = new Members(parts)
    this.links = new Links(parts)
    this.sessions = new Sessions(parts)
    this.told = new Told({ ...parts, members: this.members })
  }

  /**
   * Makes a person a member and mails her a link that works for seven days.
   * @param team its name stands in the mail
   * @param also runs in the same unit of work
   * @throws ProductError conflict for who belongs to the team already, validation_error
   */
  async invite(
    team: { id: string; name: string },
    person: { email: string; role: MemberRole },
    also: (tx: Tx, member: Member) => Promise<void> = async () => {},
  ): Promise<Member> {
    const email = checkPersonEmail(person.email)
    // Asked again inside: here it spares writing a mail that nobody gets.
    await this.members.refuseKnown(this.#parts.db.read, team.id, email)
    const token = this.links.newToken()
    const letter = invitationLetter({ to: email, team: checkName(team.name, 100), url: this.links.urlOf(token) })
    const mail = await this.#parts.post.prepare(letter)
    return this.#parts.db.write(async (tx) => {
      const member = await this.members.add(tx, team.id, { email, role: person.role })
      await this.links.make(tx, token, email, INVITATION_MS)
      await mail.sendIn(tx)
      await also(tx, member)
      return member
    })
  }

  /** Mails a link to who is known, and nothing to anybody else: the answer is the same. */
  async mailLink(written: string): Promise<void> {
    const email = checkPersonEmail(written)
    if ((await this.members.of(email)).length === 0) return
    if (!(await this.#parts.db.write((tx) => this.links.mayMail(tx, email)))) return
    const token = this.links.newToken()
    const mail = await this.#parts.post.prepare(signInLetter({ to: email, url: this.links.urlOf(token) }))
    await this.#parts.db.write(async (tx) => {
      await this.links.make(tx, token, email, SIGN_IN_MS)
      await mail.sendIn(tx)
    })
  }

  /** A link for the operator to hand over; undefined for who belongs to no team. */
  async printLink(written: string): Promise<string | undefined> {
    const email = checkPersonEmail(written)
    if ((await this.members.of(email)).length === 0) return undefined
    const token = this.links.newToken()
    await this.#parts.db.write((tx) => this.links.make(tx, token, email, SIGN_IN_MS))
    return this.links.urlOf(token)
  }

  /** Trades a link for a session; undefined for a link that is over, used, or of nobody. */
  async signIn(token: string): Promise<Session | undefined> {
    return this.#parts.db.write(async (tx) => {
      const email = await this.links.use(tx, token)
      if (email === undefined || (await this.members.of(email, tx)).length === 0) return undefined
      return this.signInAs(tx, email)
    })
  }

  /** A session for a person whose address has just been proven. */
  async signInAs(tx: Tx, email: string): Promise<Session> {
    await this.members.noteSignIn(tx, email)
    return this.sessions.open(tx, email)
  }

  /** Takes a person out of a team; who belongs to no other one is signed out. @throws ProductError not_found, conflict */
  async remove(teamId: string, id: string): Promise<void> {
    await this.#parts.db.write(async (tx) => {
      const { email } = await this.members.remove(tx, teamId, id)
      if ((await this.members.of(email, tx)).length === 0) await this.sessions.closeOf(tx, email)
    })
  }

  /** Forgets links and sessions that are over. */
  async prune(): Promise<number> {
    // A disk that rests is left alone.
    if (!(await this.links.isDue()) && !(await this.sessions.isDue())) return 0
    return this.#parts.db.write(async (tx) => (await this.links.prune(tx)) + (await this.sessions.prune(tx)))
  }
}
