// People: who may open the console and the owner's pages, and how they get in without a password.

import { ProductError } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import { checkName } from '../teams.ts'
import { invitationLetter, signInLetter } from './letters.ts'
import { INVITATION_MS, Links, MAILS_PER_HOUR, SIGN_IN_MS } from './links.ts'
import { checkPersonEmail, type Member, type MemberRole, Members } from './members.ts'
import type { PeopleParts } from './parts.ts'
import { type Session, Sessions } from './sessions.ts'
import { Told } from './told.ts'

const MAILS_WINDOW_SECONDS = 3600

export class People {
  readonly members: Members
  readonly links: Links
  readonly sessions: Sessions
  /** What owners were told. */
  readonly told: Told
  readonly #parts: PeopleParts
  readonly #underWay = new Set<Promise<void>>()

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
   * @throws ProductError conflict for who belongs to the team already, rate_limit_exceeded, validation_error
   */
  async invite(
    team: { id: string; name: string },
    person: { email: string; role: MemberRole },
    also: (tx: Tx, member: Member) => Promise<void> = async () => {},
  ): Promise<Member> {
    const email = checkPersonEmail(person.email)
    // Asked again inside, as below.
    await this.members.refuseKnown(this.#parts.db.read, team.id, email)
    const inviteIn = await this.prepareInvitation({ email, role: person.role }, team.name)
    return this.#parts.db.write(async (tx) => {
      const member = await inviteIn(tx, team.id)
      await also(tx, member)
      return member
    })
  }

  /**
   * Writes the mail of an invitation, for a team that may be yet to be made.
   * @param field what the address is called in a sentence about it
   * @returns what makes the member and sends the mail inside a unit of work
   * @throws ProductError validation_error; inside, conflict for who belongs to the team already, and rate_limit_exceeded
   */
  async prepareInvitation(
    person: { email: string; role: MemberRole },
    teamName: string,
    field = 'email',
  ): Promise<(tx: Tx, teamId: string) => Promise<Member>> {
    const email = checkPersonEmail(person.email, field)
    // Asked again inside: here it spares writing a mail that nobody gets.
    if (await this.links.isMailedEnough(email)) throw mailedTooOften()
    const token = this.links.newToken()
    const letter = invitationLetter({ to: email, team: checkName(teamName, 100), url: this.links.urlOf(token) })
    const mail = await this.#parts.post.prepare(letter)
    return async (tx, teamId) => {
      const member = await this.members.add(tx, teamId, { email, role: person.role })
      if (!(await this.links.mayMail(tx, email))) throw mailedTooOften()
      await this.links.make(tx, token, email, INVITATION_MS)
      await mail.sendIn(tx)
      return member
    }
  }

  /**
   * Mails a link to who is known, and nothing to anybody else. Nobody waits for it: who asked must not learn from how long it took.
   * @param fail is told what went wrong
   */
  mailLinkSoon(written: string, fail: (error: unknown) => void): void {
    const work = this.#mailLink(written).catch(fail)
    this.#underWay.add(work)
    void work.finally(() => this.#underWay.delete(work))
  }

  /** Resolves when every letter that nobody waits for is written. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  async #mailLink(written: string): Promise<void> {
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

  /**
   * Takes a person out of a team. She is signed out everywhere, and links she has not used yet work no more (decisions §2.3); who
   * belongs to another team asks for a new one.
   * @param check sees the member inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict for the last owner
   */
  async remove(teamId: string, id: string, check: (current: Member) => void = () => {}): Promise<void> {
    await this.#parts.db.write(async (tx) => {
      const { email } = await this.members.remove(tx, teamId, id, check)
      await this.sessions.closeOf(tx, email)
      await this.links.dropOf(tx, email)
    })
  }

  /** Forgets links and sessions that are over. */
  async prune(): Promise<number> {
    // A disk that rests is left alone.
    if (!(await this.links.isDue()) && !(await this.sessions.isDue())) return 0
    return this.#parts.db.write(async (tx) => (await this.links.prune(tx)) + (await this.sessions.prune(tx)))
  }
}

function mailedTooOften(): ProductError {
  const sentence = `This person got ${MAILS_PER_HOUR} mails with links within the hour; invite her later.`
  return new ProductError('rate_limit_exceeded', sentence, { retryAfter: MAILS_WINDOW_SECONDS })
}
