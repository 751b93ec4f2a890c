// Gives members of a team access to its mailboxes, notifies the owners of the mailbox, and takes it back.

import { notFound } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'
import type { Forward } from '../directory/mailboxes/forwards.ts'
import type { PeopleDeps } from './deps.ts'
import type { MailboxAccess, MailboxGrant, MailboxGrants } from './grants.ts'
import type { MadeCredentials } from './made-credentials.ts'
import type { Members, TeamMember } from './members.ts'
import { accessMessage, credentialMessage } from './messages.ts'

/** A mailbox of the team, as far as sharing needs it. */
interface SharedMailbox {
  id: string
  email: string
}

/** A member with their access to a mailbox. */
export interface MailboxMember {
  member: TeamMember
  grant: MailboxGrant
}

interface Deps extends Pick<PeopleDeps, 'db' | 'mailer' | 'mailboxes'> {
  members: Members
  grants: MailboxGrants
  made: MadeCredentials
}

export class MailboxSharing {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Who may open a mailbox, the first granted first. */
  list(teamId: string, mailboxId: string): MailboxMember[] {
    return this.#deps.grants.ofMailbox(mailboxId).flatMap((grant) => {
      const member = this.#deps.members.get(teamId, grant.memberId)
      return member === undefined ? [] : [{ member, grant }]
    })
  }

  /**
   * Who may open each of these mailboxes, the first granted first, and how many they are.
   * @param most people of one mailbox
   */
  ofMailboxes(
    teamId: string,
    mailboxIds: readonly string[],
    most: number,
  ): Map<string, { people: MailboxMember[]; count: number }> {
    const { grants, members } = this.#deps
    const granted = grants.ofMailboxes(mailboxIds, most)
    const ids = new Set([...granted.values()].flatMap(({ first }) => first.map(({ memberId }) => memberId)))
    const known = members.byIds(teamId, [...ids])
    const withMember = (grant: MailboxGrant) => {
      const member = known.get(grant.memberId)
      return member === undefined ? [] : [{ member, grant }]
    }
    return new Map([...granted].map(([id, { first, count }]) => [id, { people: first.flatMap(withMember), count }]))
  }

  /**
   * Grants access, or changes it. Every other owner of the mailbox receives a message, and an owner who is one no longer; the forwards of
   * the mailbox that they made to their own address end.
   * @returns the access, and whether the member had none before
   * @throws ProductError not_found for a person who is no member of the team
   */
  async grant(
    teamId: string,
    mailbox: SharedMailbox,
    { memberId, access, createdBy }: { memberId: string; access: MailboxAccess; createdBy: string },
  ): Promise<MailboxMember & { isNew: boolean }> {
    const { db, grants, members, made } = this.#deps
    const member = members.get(teamId, memberId)
    if (member === undefined) throw notFound('member')
    const notices = await this.prepareNotices(teamId, mailbox, member.email, access)
    return db.write((tx) => {
      if (members.get(teamId, memberId, tx) === undefined) throw notFound('member')
      if (access !== 'owner') made.endOwnForwardsIn(tx, member, mailbox.id)
      const isNew = grants.put(tx, { mailboxId: mailbox.id, memberId, access, createdBy })
      for (const notice of notices) notice.sendIn(tx)
      return { member, grant: grants.get(mailbox.id, memberId, tx)!, isNew }
    })
  }

  /**
   * Takes access back, with the app passwords of the mailbox that the member made and the forwards to their own address. Every owner of
   * the mailbox receives a message, also the one who is removed: no one becomes its only owner unseen.
   * @returns the other forwards of the mailbox that they made, which stay
   * @throws ProductError not_found for a member without access
   */
  async revoke(teamId: string, mailbox: SharedMailbox, memberId: string): Promise<Forward[]> {
    const { db, grants, members, made } = this.#deps
    const member = members.get(teamId, memberId)
    if (member === undefined) throw notFound('member')
    const notices = await this.prepareNotices(teamId, mailbox, member.email, null)
    return db.write((tx) => {
      if (!grants.delete(tx, mailbox.id, memberId)) throw notFound('member')
      made.endOwnForwardsIn(tx, member, mailbox.id)
      for (const notice of notices) notice.sendIn(tx)
      return made.of(teamId, memberId, tx).forwards.filter((one) => one.mailboxId === mailbox.id)
    })
  }

  /**
   * Prepares messages to the owners of a mailbox that a credential of it was made by another person or a key: no role opens a mailbox unseen.
   * @param made what, by whom as it is shown, and the member that is (null for a key)
   * @returns a function that sends them
   */
  async prepareCredentialNotices(
    teamId: string,
    { id, email }: SharedMailbox,
    made: { what: string; by: string; memberId: string | null },
  ): Promise<() => Promise<void>> {
    const { db, mailer } = this.#deps
    const others = this.list(teamId, id).filter(
      ({ grant, member }) => grant.access === 'owner' && member.id !== made.memberId,
    )
    const notices = await Promise.all(
      others.map(({ member: { email: to } }) => mailer.prepare(credentialMessage({ ...made, to, mailbox: email }))),
    )
    return async () => {
      if (notices.length === 0) return
      await db.write((tx) => {
        for (const notice of notices) notice.sendIn(tx)
      })
    }
  }

  /** Prepares the messages of `revoke` for a member who leaves the team, for each mailbox they own. */
  async prepareLeaving(teamId: string, memberId: string) {
    const { grants, members, mailboxes } = this.#deps
    const member = members.get(teamId, memberId)
    if (member === undefined) return []
    const owned = grants.ofMember(memberId).flatMap(({ mailboxId, access }) => {
      const mailbox = access === 'owner' ? mailboxes.byId(mailboxId) : undefined
      return mailbox === undefined || mailbox.status === 'deleted' ? [] : [mailbox]
    })
    return (await Promise.all(owned.map((one) => this.prepareNotices(teamId, one, member.email, null)))).flat()
  }

  /** Makes a member the owner of the mailbox that has their address. */
  grantOwn(tx: Tx, member: Pick<TeamMember, 'id'>, mailboxId: string): void {
    this.#deps.grants.put(tx, { mailboxId, memberId: member.id, access: 'owner', createdBy: member.id })
  }

  /**
   * Prepares messages to the owners of a mailbox, but none to the person themself who becomes or stays an owner.
   * @param person the address of who gets the access
   * @param access null when it is taken back
   */
  prepareNotices(teamId: string, { id, email }: SharedMailbox, person: string, access: MailboxAccess | null) {
    const owners = this.list(teamId, id).filter(
      ({ grant, member }) => grant.access === 'owner' && (member.email !== person || access !== 'owner'),
    )
    const messages = owners.map(({ member }) => accessMessage({ to: member.email, mailbox: email, person, access }))
    return Promise.all(messages.map((message) => this.#deps.mailer.prepare(message)))
  }
}
