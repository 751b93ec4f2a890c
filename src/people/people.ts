// People: who may open the console and the owner's pages, and how they get in without a password.

import { ProductError } from '../base/errors.ts'
import type { Reader, Tx } from '../db/db.ts'
import { checkName } from '../directory/teams.ts'
import type { PeopleParts, PersonalMail } from './deps.ts'
import { type LinkMail, linkMailTo } from './link-mail.ts'
import { INVITATION_MS, Links, MAILS_PER_HOUR, SIGN_IN_MS, type SignInScope } from './links.ts'
import { checkPersonEmail, type Member, type MemberRole, Members } from './members.ts'
import { invitationLetter, signInLetter } from './messages.ts'
import { Told } from './owner-notices.ts'
import { type Session, Sessions } from './sessions.ts'

const MAILS_WINDOW_SECONDS = 3600

/** A new member. */
export interface Invited extends Member {
  /** False where no link was mailed, because the address is one of this appliance. */
  isMailed: boolean
}

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
   * Makes a person a member and mails them a link that works for seven days, where it may be mailed.
   * @param team its name stands in the mail
   * @param also runs in the same unit of work
   * @throws ProductError conflict for who belongs to the team already, rate_limit_exceeded, validation_error
   */
  async invite(
    team: { id: string; name: string },
    person: { email: string; role: MemberRole },
    also: (tx: Tx, invited: Invited) => Promise<void> = async () => {},
  ): Promise<Invited> {
    const email = checkPersonEmail(person.email)
    // Asked again inside, as below.
    await this.members.refuseKnown(this.#parts.db.read, team.id, email)
    const inviteIn = await this.prepareInvitation({ email, role: person.role }, team.name)
    return this.#parts.db.write(async (tx) => {
      const invited = await inviteIn(tx, team.id)
      await also(tx, invited)
      return invited
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
  ): Promise<(tx: Tx, teamId: string) => Promise<Invited>> {
    const email = checkPersonEmail(person.email, field)
    const letter = (url: string) => invitationLetter({ to: email, team: checkName(teamName, 100), url })
    const way = await this.linkMailTo(email)
    // Asked again inside: here it spares writing a mail that nobody gets.
    if (way.mailed && (await this.links.isMailedEnough(email))) throw mailedTooOften()
    const sendIn = way.mailed ? await this.#prepareLink(email, way.mailboxId, INVITATION_MS, letter) : null
    return async (tx, teamId) => {
      const member = await this.members.add(tx, teamId, { email, role: person.role })
      if (sendIn !== null && !(await this.links.mayMail(tx, email))) throw mailedTooOften()
      await sendIn?.(tx)
      return { ...member, isMailed: way.mailed }
    }
  }

  /** Whether a link may be mailed to an address, and through which mailbox of this appliance it would go. */
  linkMailTo(email: string): Promise<LinkMail> {
    return linkMailTo(this.#parts, email)
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
    const way = await this.linkMailTo(email)
    if (!way.mailed || !(await this.#parts.db.write((tx) => this.links.mayMail(tx, email)))) return
    const letter = (url: string) => signInLetter({ to: email, url })
    const sendIn = await this.#prepareLink(email, way.mailboxId, SIGN_IN_MS, letter)
    await this.#parts.db.write(sendIn)
  }

  /** A link and the mail that brings it, both made in one unit of work. */
  async #prepareLink(
    email: string,
    mailboxId: string | null,
    ms: number,
    letter: (url: string) => PersonalMail,
  ): Promise<(tx: Tx) => Promise<void>> {
    const token = this.links.newToken()
    const mail = await this.#parts.post.prepare(letter(this.links.urlOf(token)))
    return async (tx) => {
      await this.links.make(tx, token, { email, teamId: null, mailboxId, shownBy: null }, ms)
      await mail.sendIn(tx)
    }
  }

  /**
   * A link for the operator, or for an owner of the team, to hand over. It opens that one team: it does not prove the address.
   * @param by the member (`usr_…`) who is shown it; null for the operator
   * @returns undefined for who does not belong to the team
   */
  async showLink(teamId: string, written: string, by: string | null): Promise<string | undefined> {
    const email = checkPersonEmail(written)
    const token = this.links.newToken()
    return this.#parts.db.write(async (tx) => {
      if ((await this.members.of(email, tx)).every((member) => member.teamId !== teamId)) return undefined
      await this.links.make(tx, token, { email, teamId, mailboxId: null, shownBy: by }, SIGN_IN_MS)
      return this.links.urlOf(token)
    })
  }

  /** The teams a session opens, the oldest membership first. */
  async membershipsOf({ email, teamId }: Pick<SignInScope, 'email' | 'teamId'>, reader?: Reader): Promise<Member[]> {
    const all = await this.members.of(email, reader)
    return teamId === null ? all : all.filter((member) => member.teamId === teamId)
  }

  /** Trades a link for a session; undefined for a link that has expired, was used, or opens nothing. */
  async signIn(token: string): Promise<Session | undefined> {
    return this.#parts.db.write(async (tx) => {
      const scope = await this.links.use(tx, token)
      if (scope === undefined || (await this.membershipsOf(scope, tx)).length === 0) return undefined
      return this.signInAs(tx, scope)
    })
  }

  /** A session for a person who has just shown a link. */
  async signInAs(tx: Tx, scope: SignInScope): Promise<Session> {
    await this.members.noteSignIn(tx, scope)
    return this.sessions.open(tx, scope)
  }

  /**
   * Changes what a member may do. Who is no owner any more loses what they were shown as one.
   * @param check sees the member as they are inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict for the last owner
   */
  async changeRole(teamId: string, id: string, role: MemberRole, check: (current: Member) => void): Promise<Member> {
    return this.#parts.db.write(async (tx) => {
      if (role !== 'owner') await this.#endShownTo(tx, id)
      return this.members.changeRole(tx, teamId, id, role, check)
    })
  }

  /**
   * Takes a person out of a team. They are signed out everywhere, and links they have not used yet work no more (decisions §2.3); who
   * belongs to another team asks for a new one. So are the sessions that came of links shown to them.
   * @param check sees the member inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict for the last owner
   */
  async remove(teamId: string, id: string, check: (current: Member) => void = () => {}): Promise<void> {
    await this.#parts.db.write(async (tx) => {
      const { email } = await this.members.remove(tx, teamId, id, check)
      await this.sessions.closeOf(tx, email)
      await this.links.dropOf(tx, email)
      await this.#endShownTo(tx, id)
    })
  }

  /** Ends the links and sessions of a mailbox whose keys could read them, or whose address is another's from now on. */
  async endSignInsThrough(tx: Tx, mailboxId: string): Promise<void> {
    await this.links.dropThrough(tx, mailboxId)
    await this.sessions.closeThrough(tx, mailboxId)
  }

  async #endShownTo(tx: Tx, memberId: string): Promise<void> {
    await this.links.dropShownTo(tx, memberId)
    await this.sessions.closeShownTo(tx, memberId)
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
