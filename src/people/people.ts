// People: members of teams who use the console and the owner's pages, and sign in without a password.

import { DAY_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import type { Reader, Tx } from '../db/db.ts'
import { checkName } from '../directory/keys/teams.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { AccessEnds } from './access-ends.ts'
import { AuditLog } from './audit.ts'
import { PersonAuthentication } from './authentication.ts'
import type { PeopleDeps, PersonalMessage } from './deps.ts'
import { KnownDevices } from './devices.ts'
import { FirstRun } from './first-run.ts'
import { MailboxGrants } from './grants.ts'
import { KnownPeople } from './known-people.ts'
import { type LinkMailPolicy, linkMailPolicy, maySendNotices } from './link-mail.ts'
import { INVITATION_MS, type LinkAsker, type Links, SIGN_IN_MS, type SignInScope } from './links.ts'
import { type MadeByMember, MadeCredentials } from './made-credentials.ts'
import { MailboxSharing } from './mailbox-sharing.ts'
import { checkPersonEmail, type MemberRole, Members, type TeamMember } from './members.ts'
import { invitationMessage, newDeviceMessage, signInMessage } from './messages.ts'
import { OwnerNotices } from './owner-notices.ts'
import { Passkeys } from './passkeys.ts'
import { Persons } from './persons.ts'
import { RecoveryCodes } from './recovery-codes.ts'
import { type SessionRecord, Sessions, type SignInBrowser, type SignInSession } from './sessions.ts'
import { type LinkViewer, ShownLinks } from './shown-links.ts'
import { requireWholePerson } from './whole-person.ts'

const LINK_WINDOW_SECONDS = 3600

/** A new member. */
export interface InvitedMember extends TeamMember {
  /** False when no link was mailed because the address belongs to this appliance. */
  isMailed: boolean
}

/** The browser that asks for a sign-in link. */
export interface LinkRequest {
  /** Address it comes from. */
  source: string
  /** The cookie by which it is recognised: see `devices.ts`. */
  device: string | null
}

/** What a sign-in opens, and when its session began. */
type MembershipScope = Pick<SignInScope, 'email' | 'teamId'> & { createdAt?: number }

export class People {
  readonly members: Members
  readonly links: Links
  readonly sessions: Sessions
  readonly persons: Persons
  readonly passkeys: Passkeys
  readonly recoveryCodes: RecoveryCodes
  /** Browsers that people signed in with. */
  readonly devices: KnownDevices
  /** Passkeys, passwords, codes, and the fresh proof. */
  readonly authentication: PersonAuthentication
  /** Which members may open which mailboxes. */
  readonly grants: MailboxGrants
  /** Grants them, and takes them back. */
  readonly sharing: MailboxSharing
  /** What members made that gives access without them. */
  readonly made: MadeCredentials
  readonly audit: AuditLog
  /** Everyone, for the operator. */
  readonly known: KnownPeople
  readonly firstRun: FirstRun
  /** Notices to team owners. */
  readonly ownerNotices: OwnerNotices
  readonly #deps: PeopleDeps
  readonly #ends: AccessEnds
  readonly #shownLinks: ShownLinks
  readonly #inProgress = new Set<Promise<void>>()

  constructor(deps: PeopleDeps) {
    this.#deps = deps
    this.members = new Members({ ...deps, onAdded: (tx, member) => this.#grantOwnMailbox(tx, member) })
    this.links = deps.links
    this.sessions = new Sessions(deps)
    this.persons = new Persons(deps)
    this.passkeys = new Passkeys(deps)
    this.recoveryCodes = new RecoveryCodes(deps)
    this.devices = new KnownDevices(deps)
    this.authentication = this.#openAuthentication()
    this.grants = new MailboxGrants(deps)
    this.made = new MadeCredentials({ ...deps, members: this.members })
    this.sharing = new MailboxSharing({ ...deps, members: this.members, grants: this.grants, made: this.made })
    this.audit = new AuditLog(deps)
    this.known = new KnownPeople({
      ...deps,
      ...{ members: this.members, passkeys: this.passkeys, sessions: this.sessions },
    })
    this.firstRun = this.#openFirstRun()
    this.ownerNotices = new OwnerNotices({ ...deps, members: this.members, persons: this.persons })
    this.#ends = new AccessEnds(this)
    const { members, links, persons, passkeys, grants, sharing } = this
    this.#shownLinks = new ShownLinks({ ...deps, members, links, persons, passkeys, grants, sharing })
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
    const inviteIn = await this.prepareInvitation({ email, role: person.role }, team)
    const mailbox = this.#ownMailbox(team.id, email)
    const notices = mailbox !== undefined ? await this.sharing.prepareNotices(team.id, mailbox, email, 'owner') : []
    return this.#deps.db.write((tx) => {
      const invited = inviteIn(tx, team.id)
      for (const notice of notices) notice.sendIn(tx)
      also(tx, invited)
      return invited
    })
  }

  /**
   * Prepares the message of an invitation to a team that may not exist yet.
   * @param team its id, where it exists already
   * @param field the name of the address in errors
   * @returns a function that creates the member and sends the message inside a unit of work
   * @throws ProductError validation_error; inside, conflict when the person is a member already, and rate_limit_exceeded
   */
  async prepareInvitation(
    person: { email: string; role: MemberRole },
    team: { id?: string; name: string },
    field = 'email',
  ): Promise<(tx: Tx, teamId: string) => InvitedMember> {
    const email = checkPersonEmail(person.email, field)
    const messageOf = (url: string) => invitationMessage({ to: email, team: checkName(team.name, 100), url })
    const policy = this.linkMailPolicy(email)
    // Checked again inside the unit of work; this check saves preparing a message that would not be sent.
    // A team that does not exist yet is the operator's, whose invitations are counted together.
    const asker = { kind: 'team', key: team.id ?? 'operator' } as const
    if (policy.mailed && this.links.isMailLimitReached(email, asker)) throw mailedTooOften()
    const sendIn = policy.mailed ? await this.#prepareLink(email, policy.mailboxId, INVITATION_MS, messageOf) : null
    return (tx, teamId) => {
      const member = this.members.add(tx, teamId, { email, role: person.role })
      if (sendIn !== null && !this.links.countMessage(tx, email, asker)) throw mailedTooOften()
      sendIn?.(tx)
      return { ...member, isMailed: policy.mailed }
    }
  }

  #openAuthentication(): PersonAuthentication {
    const { persons, passkeys, recoveryCodes, sessions, devices } = this
    return new PersonAuthentication({
      ...{ ...this.#deps, persons, passkeys, recoveryCodes, sessions, devices },
      mayEnter: (scope, reader) => this.mayEnter(scope, reader),
      requireWhole: (session, reader) => this.requireWhole(session, reader),
      signInAs: (tx, scope, client) => this.signInAs(tx, scope, client),
      isLinkMailed: (email) => this.linkMailPolicy(email).mailed,
    })
  }

  #openFirstRun(): FirstRun {
    const { members, persons, authentication } = this
    return new FirstRun({
      ...{ ...this.#deps, members, persons, authentication },
      signInAs: (tx, scope, client) => this.signInAs(tx, scope, client),
    })
  }

  /** Makes a link for an operator, which the command line prints: it opens everything that is the person's. */
  makeOperatorLink(tx: Tx, email: string): string {
    return this.#makeWholeLink(tx, email, SIGN_IN_MS)
  }

  /** Makes a link for an operator who gives the appliance another address, where their passkeys cannot be used. */
  makeMoveLink(tx: Tx, email: string): string {
    return this.#makeWholeLink(tx, email, DAY_MS)
  }

  #makeWholeLink(tx: Tx, email: string, ms: number): string {
    const token = this.links.newToken()
    this.links.make(tx, token, { email, teamId: null, mailboxId: null, shownBy: null }, ms)
    return this.links.urlOf(token)
  }

  /** Whether a link may be mailed to an address, and which mailbox of this appliance would receive it. */
  linkMailPolicy(email: string): LinkMailPolicy {
    return linkMailPolicy(this.#deps, email)
  }

  /**
   * Mails a sign-in link to a known person, and nothing to other addresses. Runs in the background, so that the response time does not
   * reveal whether the address is known.
   * @param from the browser that asks: one the person signed in with has a count of its own
   * @param fail called with the error
   */
  mailLinkSoon(written: string, from: LinkRequest, fail: (error: unknown) => void): void {
    this.#inBackground(this.#mailLink(written, from).catch(fail))
  }

  #inBackground(work: Promise<void>): void {
    this.#inProgress.add(work)
    void work.finally(() => this.#inProgress.delete(work))
  }

  /** Resolves when all background messages are queued. */
  async settle(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.all(this.#inProgress)
  }

  async #mailLink(written: string, { source, device }: LinkRequest): Promise<void> {
    const email = checkPersonEmail(written)
    if (!this.#deps.config.SIGN_IN.includes('link') || !this.mayEnter({ email, teamId: null })) return
    const policy = this.linkMailPolicy(email)
    if (!policy.mailed) return
    const known = this.devices.keyOf(email, device)
    const asker: LinkAsker = known === null ? { kind: 'stranger', key: source } : { kind: 'browser', key: known }
    if (!(await this.#deps.db.write((tx) => this.links.countMessage(tx, email, asker)))) return
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

  /** See {@link ShownLinks.show}. */
  showLink(teamId: string, email: string, viewer: LinkViewer | null): Promise<string | undefined> {
    return this.#shownLinks.show(teamId, email, viewer)
  }

  /**
   * The teams a session opens, the oldest membership first: not those that ended it.
   * @param scope `createdAt` is that of the session, ms; left out for a sign-in that begins now
   */
  membershipsOf({ email, teamId, createdAt = Infinity }: MembershipScope, reader?: Reader): TeamMember[] {
    const isOpen = (member: TeamMember) =>
      (teamId === null || member.teamId === teamId) && (member.signedOutAt === null || createdAt > member.signedOutAt)
    return this.members.of(email, reader).filter(isOpen)
  }

  /** Whether a sign-in opens anything: a team, or the appliance for its operator. */
  mayEnter(scope: Pick<SignInScope, 'email' | 'teamId'>, reader?: Reader): boolean {
    return this.membershipsOf(scope, reader).length > 0 || this.isOperator(scope, reader)
  }

  /** Whether a sign-in opens the operator's routes: never by a link that was shown, which does not prove the address. */
  isOperator({ email, teamId }: Pick<SignInScope, 'email' | 'teamId'>, reader?: Reader): boolean {
    return teamId === null && this.persons.get(email, reader)?.isOperator === true
  }

  /**
   * Exchanges a link for a session, also on a full disk: who signs in may delete. Undefined for a link that has expired, was used, or opens
   * no team.
   */
  async signIn(token: string, client?: SignInBrowser): Promise<SignInSession | undefined> {
    return this.#deps.db.writeFreeing((tx) => {
      const scope = this.links.use(tx, token)
      if (scope === undefined || !this.mayEnter(scope, tx)) return undefined
      return this.signInAs(tx, scope, client)
    })
  }

  /**
   * Opens a session for a person who has just authenticated, and mails them when the browser is new.
   * @param client default: a link in an unknown browser
   */
  signInAs(tx: Tx, scope: SignInScope, client?: SignInBrowser): SignInSession {
    this.members.noteSignIn(tx, scope)
    this.persons.ensure(tx, scope.email)
    const session = this.sessions.open(tx, scope, client)
    if (client?.cookies === undefined) return session
    const isReported = this.devices.note(tx, session, client.cookies.device)
    if (isReported && maySendNotices(this.#deps.config, this.#deps.mailboxes.byEmail(scope.email))) {
      tx.afterCommit(() => this.#inBackground(this.#mailNotice(session)))
    }
    return session
  }

  async #mailNotice(session: SignInSession): Promise<void> {
    const { config, mailer, db, log } = this.#deps
    try {
      const message = await mailer.prepare(newDeviceMessage(session, config.APP_ORIGIN))
      await db.write((tx) => message.sendIn(tx))
    } catch (error) {
      log.warn({ event: 'people.notice_not_mailed', err: error }, 'Notice of a new device not mailed')
    }
  }

  /** @throws ProductError insufficient_permissions: see `whole-person.ts` */
  requireWhole(session: SessionRecord, reader: Reader = this.#deps.db.read): void {
    const { members, persons, passkeys, recoveryCodes, sessions } = this
    requireWholePerson({ members, persons, passkeys, recoveryCodes, sessions }, session, reader)
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
      if (role !== 'owner') this.#ends.endShownTo(tx, id)
      return this.members.changeRole(tx, teamId, id, role, check)
    })
  }

  /** See {@link AccessEnds.removeIn}. The owners of their mailboxes receive a message, and they themself. */
  async remove(teamId: string, id: string, check: (current: TeamMember) => void = () => {}): Promise<MadeByMember> {
    const notices = await this.sharing.prepareLeaving(teamId, id)
    return this.#deps.db.write((tx) => {
      const made = this.#ends.removeIn(tx, teamId, id, check)
      for (const notice of notices) notice.sendIn(tx)
      return made
    })
  }

  /** Withdraws the rights of an operator; see {@link AccessEnds.forgetUnattached}. */
  withdrawOperator(tx: Tx, email: string): void {
    this.persons.setOperator(tx, email, false)
    this.#ends.forgetUnattached(tx, email)
  }

  /** See {@link AccessEnds.signOutIn}. */
  async endSessions(teamId: string, id: string, check: (current: TeamMember) => void = () => {}): Promise<void> {
    await this.#deps.db.write((tx) => this.#ends.signOutIn(tx, teamId, id, check))
  }

  /** Ends the links mailed to a mailbox and their sessions, when its keys could read them or its address is reassigned. */
  endSignInsThrough(tx: Tx, mailboxId: string): void {
    this.links.dropThrough(tx, mailboxId)
    this.sessions.closeThrough(tx, mailboxId)
  }

  /** A member whose address is a mailbox of the team opens it as its owner. */
  #grantOwnMailbox(tx: Tx, member: TeamMember): void {
    const mailbox = this.#ownMailbox(member.teamId, member.email)
    if (mailbox !== undefined) this.sharing.grantOwn(tx, member, mailbox.id)
  }

  /** The mailbox of a team with the address of a person: hosted here, or an outside account. */
  #ownMailbox(teamId: string, email: string): Mailbox | undefined {
    const { mailboxes } = this.#deps
    const found = [mailboxes.byEmail(email) ?? mailboxes.outsideAt(email)].flat()
    return found.find((one) => one.teamId === teamId)
  }

  /** Gives a new mailbox to the member of its team who has its address. */
  welcomeMailbox(tx: Tx, mailbox: { id: string; teamId: string; email: string }): void {
    const member = this.members.of(mailbox.email, tx).find(({ teamId }) => teamId === mailbox.teamId)
    if (member !== undefined) this.sharing.grantOwn(tx, member, mailbox.id)
  }

  /**
   * Forgets a mailbox that is deleted, and the person whose sign-in address it was: the address may belong to another one tomorrow. That of
   * an outside account is not the team's to give away: the person stays.
   * @throws ProductError conflict while that person is the last owner of a team
   */
  forgetMailbox(tx: Tx, mailbox: { id: string; email: string; domainId: string | null }): void {
    this.grants.deleteOfMailbox(tx, mailbox.id)
    if (mailbox.domainId === null) return
    this.#ends.forgetIn(tx, mailbox.email)
  }

  /** Deletes expired links and sessions. @returns how many */
  async prune(): Promise<number> {
    // No write transaction when nothing is due.
    if (!this.links.isDue() && !this.sessions.isDue() && !this.devices.isDue()) return 0
    return this.#deps.db.write((tx) => this.links.prune(tx) + this.sessions.prune(tx) + this.devices.prune(tx))
  }
}

function mailedTooOften(): ProductError {
  const sentence = 'This person received several invitations within the hour. Try again later.'
  return new ProductError('rate_limit_exceeded', sentence, { retryAfter: LINK_WINDOW_SECONDS })
}
