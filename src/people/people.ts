// People: members of teams who use the console and the owner's pages, and sign in without a password.

import { ProductError } from '../base/errors.ts'
import type { Reader, Tx } from '../db/db.ts'
import { checkName } from '../directory/teams.ts'
import type { PeopleDeps, PersonalMessage } from './deps.ts'
import { type LinkMailPolicy, linkMailPolicy } from './link-mail.ts'
import { INVITATION_MS, LINK_MESSAGES_PER_HOUR, Links, SIGN_IN_MS, type SignInScope } from './links.ts'
import { checkPersonEmail, type MemberRole, Members, type TeamMember } from './members.ts'
import { invitationMessage, signInMessage } from './messages.ts'
import { OwnerNotices } from './owner-notices.ts'
import { Sessions, type SignInSession } from './sessions.ts'

const LINK_WINDOW_SECONDS = 3600

/** A new member. */
export interface InvitedMember extends TeamMember {
  /** False when no link was mailed because the address belongs to this appliance. */
  isMailed: boolean
}

export class People {
  readonly members: Members
  readonly links: Links
  readonly sessions: Sessions
  /** Notices to team owners. */
  readonly ownerNotices: OwnerNotices
  readonly #deps: PeopleDeps
  readonly #inProgress = new Set<Promise<void>>()

  constructor(deps: PeopleDeps) {
    this.#deps = deps
    this.members = new Members(deps)
    this.links = new Links(deps)
    this.sessions = new Sessions(deps)
    this.ownerNotices = new OwnerNotices({ ...deps, members: this.members })
  }

  /**
   * Makes a person a member and, where it may be mailed, mails them a link that works for seven days.
   * @param team its name is in the message
   * @param also runs in the same unit of work
   * @throws ProductError conflict when the person is a member already, rate_limit_exceeded, validation_error
   */
  async invite(
    team: { id: string; name: string },
    person: { email: string; role: MemberRole },
    also: (tx: Tx, invited: InvitedMember) => void = () => {},
  ): Promise<InvitedMember> {
    const email = checkPersonEmail(person.email)
    // Checked again inside the unit of work.
    this.members.refuseExisting(this.#deps.db.read, team.id, email)
    const inviteIn = await this.prepareInvitation({ email, role: person.role }, team.name)
    return this.#deps.db.write((tx) => {
      const invited = inviteIn(tx, team.id)
      also(tx, invited)
      return invited
    })
  }

  /**
   * Prepares the message of an invitation to a team that may not exist yet.
   * @param field the name of the address in errors
   * @returns a function that creates the member and sends the message inside a unit of work
   * @throws ProductError validation_error; inside, conflict when the person is a member already, and rate_limit_exceeded
   */
  async prepareInvitation(
    person: { email: string; role: MemberRole },
    teamName: string,
    field = 'email',
  ): Promise<(tx: Tx, teamId: string) => InvitedMember> {
    const email = checkPersonEmail(person.email, field)
    const messageOf = (url: string) => invitationMessage({ to: email, team: checkName(teamName, 100), url })
    const policy = this.linkMailPolicy(email)
    // Checked again inside the unit of work; this check saves preparing a message that would not be sent.
    if (policy.mailed && this.links.isMailLimitReached(email)) throw mailedTooOften()
    const sendIn = policy.mailed ? await this.#prepareLink(email, policy.mailboxId, INVITATION_MS, messageOf) : null
    return (tx, teamId) => {
      const member = this.members.add(tx, teamId, { email, role: person.role })
      if (sendIn !== null && !this.links.countMessage(tx, email)) throw mailedTooOften()
      sendIn?.(tx)
      return { ...member, isMailed: policy.mailed }
    }
  }

  /** Whether a link may be mailed to an address, and which mailbox of this appliance would receive it. */
  linkMailPolicy(email: string): LinkMailPolicy {
    return linkMailPolicy(this.#deps, email)
  }

  /**
   * Mails a sign-in link to a known person, and nothing to other addresses. Runs in the background, so that the response time does not
   * reveal whether the address is known.
   * @param fail called with the error
   */
  mailLinkSoon(written: string, fail: (error: unknown) => void): void {
    const work = this.#mailLink(written).catch(fail)
    this.#inProgress.add(work)
    void work.finally(() => this.#inProgress.delete(work))
  }

  /** Resolves when all background messages are queued. */
  async settle(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.all(this.#inProgress)
  }

  async #mailLink(written: string): Promise<void> {
    const email = checkPersonEmail(written)
    if (this.members.of(email).length === 0) return
    const policy = this.linkMailPolicy(email)
    if (!policy.mailed || !(await this.#deps.db.write((tx) => this.links.countMessage(tx, email)))) return
    const messageOf = (url: string) => signInMessage({ to: email, url })
    const sendIn = await this.#prepareLink(email, policy.mailboxId, SIGN_IN_MS, messageOf)
    await this.#deps.db.write(sendIn)
  }

  /** Creates a link and its message in one unit of work. */
  async #prepareLink(
    email: string,
    mailboxId: string | null,
    ms: number,
    messageOf: (url: string) => PersonalMessage,
  ): Promise<(tx: Tx) => void> {
    const token = this.links.newToken()
    const message = await this.#deps.mailer.prepare(messageOf(this.links.urlOf(token)))
    return (tx) => {
      this.links.make(tx, token, { email, teamId: null, mailboxId, shownBy: null }, ms)
      message.sendIn(tx)
    }
  }

  /**
   * Creates a link that the operator or a team owner hands over. It opens only that team, because it does not prove the address.
   * @param by the member (`usr_…`) the link is shown to; null for the operator
   * @returns undefined when the person is not a member of the team
   */
  async showLink(teamId: string, written: string, by: string | null): Promise<string | undefined> {
    const email = checkPersonEmail(written)
    const token = this.links.newToken()
    return this.#deps.db.write((tx) => {
      if (this.members.of(email, tx).every((member) => member.teamId !== teamId)) return undefined
      this.links.make(tx, token, { email, teamId, mailboxId: null, shownBy: by }, SIGN_IN_MS)
      return this.links.urlOf(token)
    })
  }

  /** The teams a session opens, the oldest membership first. */
  membershipsOf({ email, teamId }: Pick<SignInScope, 'email' | 'teamId'>, reader?: Reader): TeamMember[] {
    const all = this.members.of(email, reader)
    return teamId === null ? all : all.filter((member) => member.teamId === teamId)
  }

  /** Exchanges a link for a session; undefined for a link that has expired, was used, or opens no team. */
  async signIn(token: string): Promise<SignInSession | undefined> {
    return this.#deps.db.write((tx) => {
      const scope = this.links.use(tx, token)
      if (scope === undefined || this.membershipsOf(scope, tx).length === 0) return undefined
      return this.signInAs(tx, scope)
    })
  }

  /** Opens a session for a person who has just used a link. */
  signInAs(tx: Tx, scope: SignInScope): SignInSession {
    this.members.noteSignIn(tx, scope)
    return this.sessions.open(tx, scope)
  }

  /**
   * Changes the role of a member. A former owner loses the links they were shown and the sessions opened with those.
   * @param check sees the member as they are inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict for the last owner
   */
  async changeRole(
    teamId: string,
    id: string,
    role: MemberRole,
    check: (current: TeamMember) => void,
  ): Promise<TeamMember> {
    return this.#deps.db.write((tx) => {
      if (role !== 'owner') this.#endShownTo(tx, id)
      return this.members.changeRole(tx, teamId, id, role, check)
    })
  }

  /**
   * Removes a person from a team. All their sessions end, and their unused links are revoked (decisions §2.3); a member of another team
   * requests a new link. Sessions opened with links shown to them end too.
   * @param check sees the member inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict for the last owner
   */
  async remove(teamId: string, id: string, check: (current: TeamMember) => void = () => {}): Promise<void> {
    await this.#deps.db.write((tx) => {
      const { email } = this.members.remove(tx, teamId, id, check)
      this.sessions.closeOf(tx, email)
      this.links.dropOf(tx, email)
      this.#endShownTo(tx, id)
    })
  }

  /** Ends the links mailed to a mailbox and their sessions, when its keys could read them or its address is reassigned. */
  endSignInsThrough(tx: Tx, mailboxId: string): void {
    this.links.dropThrough(tx, mailboxId)
    this.sessions.closeThrough(tx, mailboxId)
  }

  #endShownTo(tx: Tx, memberId: string): void {
    this.links.dropShownTo(tx, memberId)
    this.sessions.closeShownTo(tx, memberId)
  }

  /** Deletes expired links and sessions. @returns how many */
  async prune(): Promise<number> {
    // No write transaction when nothing is due.
    if (!this.links.isDue() && !this.sessions.isDue()) return 0
    return this.#deps.db.write((tx) => this.links.prune(tx) + this.sessions.prune(tx))
  }
}

function mailedTooOften(): ProductError {
  const sentence = `This person received ${LINK_MESSAGES_PER_HOUR} messages with links within the hour. Try again later.`
  return new ProductError('rate_limit_exceeded', sentence, { retryAfter: LINK_WINDOW_SECONDS })
}
