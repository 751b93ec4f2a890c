// Sign-in links that are shown to an operator or an owner of a team, who hands them over.

import type { Tx } from '../db/db.ts'
import type { PeopleDeps, PersonalMessage } from './deps.ts'
import type { MailboxGrants } from './grants.ts'
import { maySendNotices } from './link-mail.ts'
import { type Links, SIGN_IN_MS } from './links.ts'
import type { MailboxSharing } from './mailbox-sharing.ts'
import { checkPersonEmail, type Members, type TeamMember } from './members.ts'
import { shownLinkMessage } from './messages.ts'
import type { Passkeys } from './passkeys.ts'
import type { Persons } from './persons.ts'

/** Who is shown a link in the browser. */
export interface LinkViewer {
  /** The address of an owner or operator, as it is shown. */
  by: string
  /** An owner of the team (`usr_…`); null for an operator. */
  memberId: string | null
}

interface Deps extends Pick<PeopleDeps, 'db' | 'config' | 'mailer' | 'mailboxes'> {
  members: Members
  links: Links
  persons: Persons
  passkeys: Passkeys
  grants: MailboxGrants
  sharing: MailboxSharing
}

export class ShownLinks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Makes a link to hand over. It opens only that team, because it does not prove the address. Who is shown a link can use it: the person,
   * and the owners of the mailboxes it opens, receive a message when it opens what is their own, because no role opens a mailbox unseen.
   * @param viewer null for the command, which runs with the rights of the machine and notifies no one
   * @returns undefined when the person is not a member of the team
   */
  async show(teamId: string, written: string, viewer: LinkViewer | null): Promise<string | undefined> {
    const { db, links, members } = this.#deps
    const email = checkPersonEmail(written)
    const memberIn = (tx?: Tx) => members.of(email, tx).find((one) => one.teamId === teamId)
    const member = memberIn()
    if (member === undefined) return undefined
    const notices = viewer === null ? [] : await this.#prepareNotices(member, viewer)
    const token = links.newToken()
    return db.write((tx) => {
      if (memberIn(tx) === undefined) return undefined
      links.make(tx, token, { email, teamId, mailboxId: null, shownBy: viewer?.memberId ?? null }, SIGN_IN_MS)
      for (const notice of notices) notice.sendIn(tx)
      return links.urlOf(token)
    })
  }

  async #prepareNotices(member: TeamMember, { by }: LinkViewer) {
    if (!this.#hasOwn(member)) return []
    const { mailer } = this.#deps
    return Promise.all(this.#noticesOf(member, by).map((message) => mailer.prepare(message)))
  }

  /** Whether the link opens more than the first sign-in of a new person. */
  #hasOwn({ id, email, joinedAt }: TeamMember): boolean {
    const { passkeys, persons, grants } = this.#deps
    const hasCredential = passkeys.count(email) > 0 || (persons.get(email)?.password ?? null) !== null
    return hasCredential || (joinedAt !== null && grants.ofMember(id).length > 0)
  }

  /** One message to each receiver, with the mailboxes that concern them. */
  #noticesOf(member: TeamMember, by: string): PersonalMessage[] {
    const { config, mailboxes } = this.#deps
    const concerned = this.#concerned(member)
    concerned.delete(by)
    return [...concerned]
      .filter(([to]) => mailboxes.byEmail(to) !== undefined || maySendNotices(config, undefined))
      .map(([to, opened]) => shownLinkMessage({ to, person: member.email, by, mailboxes: opened }))
  }

  /** The person and the owners of the mailboxes they may open, each with the addresses of these mailboxes. */
  #concerned({ id, teamId, email }: TeamMember): Map<string, string[]> {
    const { grants, sharing, mailboxes } = this.#deps
    const concerned = new Map<string, string[]>([[email, []]])
    for (const { mailboxId } of grants.ofMember(id)) {
      const mailbox = mailboxes.byId(mailboxId)
      if (mailbox === undefined || mailbox.status === 'deleted') continue
      const owners = sharing.list(teamId, mailboxId).filter(({ grant }) => grant.access === 'owner')
      for (const to of new Set([email, ...owners.map((one) => one.member.email)])) {
        concerned.set(to, [...(concerned.get(to) ?? []), mailbox.email])
      }
    }
    return concerned
  }
}
