// Messages of programs that wait for a person, as their approvers see and decide them (docs/design/agents.md §13).

import { randomBytes } from 'node:crypto'
import { conflict, notFound, ProductError } from '../base/errors.ts'
import type { LargeMemory } from '../base/lent-memory.ts'
import { sha256 } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import { htmlToText } from '../html/visible-text.ts'
import type { Address } from '../mime/message.ts'
import { mailedName } from '../mime/one-line.ts'
import type { HeldMessage, HeldState, HoldReason } from '../outbound/held/held-rows.ts'
import type { HeldDecision } from '../outbound/held/holds.ts'
import { SHOWN_MAX } from '../outbound/held/stranger-reads.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { approversOf } from '../people/approvers.ts'
import type { People } from '../people/people.ts'
import type { SessionRecord } from '../people/sessions.ts'
import type { Store } from '../store/store.ts'
import type { Inspector } from '../workers/inspector.ts'
import { type HeldEdit, memberOf, sendEdited } from './held-edits.ts'
import type { HeldRecord } from './held-record.ts'

export interface HeldMessagesDeps {
  db: Db
  config: Config
  directory: Pick<Directory, 'mailboxes'>
  outbound: Pick<Outbound, 'held' | 'log' | 'mail' | 'submit'>
  store: { blobs: Pick<Store['blobs'], 'bytes'> }
  inspector: Pick<Inspector, 'view'>
  memory: LargeMemory
  people: Pick<People, 'linkMailPolicy' | 'membershipsOf' | 'persons' | 'passkeys'>
}

/** What a held message says, as a recipient sees it. */
export interface HeldContent {
  text: string
  /** The visible text of its HTML part; null without one. */
  htmlText: string | null
  isTruncated: boolean
  to: readonly Address[]
  cc: readonly Address[]
  replyTo: readonly Address[]
  attachments: { filename: string; contentType: string; sizeBytes: number }[]
}

/** Characters of a text that are shown. */
const TEXT_MAX = 50_000
/** Messages shown at once. */
const LISTED_MAX = 100
const NOTICES_AT_ONCE = 20
const TOKEN_BYTES = 32

/** Without addresses: the program has chosen them. */
const WHY: Readonly<Record<HoldReason, string>> = {
  first_contact: 'No person has written to a recipient of it before.',
  after_reading_strangers: 'A program has read a message of a stranger within the last day.',
  always: 'Every message of programs waits for a person.',
  changed: 'It was changed after it was approved.',
}

type Approver = Pick<SessionRecord, 'email' | 'teamId' | 'createdAt'>

export class HeldMessages {
  readonly #deps: HeldMessagesDeps

  constructor(deps: HeldMessagesDeps) {
    this.#deps = deps
  }

  /** Messages that wait for the person, or were decided, the newest first. */
  list(session: Approver, states: readonly HeldState[]): HeldRecord[] {
    const { outbound, people } = this.#deps
    const teams = people.membershipsOf(session).map(({ teamId }) => teamId)
    const { holds } = outbound.held
    // Chosen before the limit: the messages of other mailboxes would hide theirs.
    const theirs = holds.mailboxesOf(teams).filter((mailbox) => this.#mayDecide(session.email, mailbox))
    const mailboxIds = theirs.map(({ mailboxId }) => mailboxId)
    return holds.list(mailboxIds, states, LISTED_MAX).flatMap((held) => this.#withEmail(held) ?? [])
  }

  /** @param id `eml_…` @throws ProductError not_found for what does not wait for this person */
  get(session: Approver, id: string): HeldRecord {
    const held = this.#deps.outbound.held.holds.of(id)
    const isTheirs = held && this.#deps.people.membershipsOf(session).some(({ teamId }) => teamId === held.teamId)
    const found = isTheirs && this.#mayDecide(session.email, held) ? this.#withEmail(held) : undefined
    if (found === undefined) throw notFound('held message')
    return found
  }

  /** @throws ProductError conflict for a message whose content is gone: it no longer waits */
  async content({ held, email: { hash, sizeBytes } }: HeldRecord): Promise<HeldContent> {
    const { store, inspector, memory } = this.#deps
    if (hash === null) throw conflict(`The content of the message is no longer kept: it is ${held.state}.`)
    const load = () => store.blobs.bytes(hash, 0, sizeBytes)
    const { message, bodies } = await memory.during(sizeBytes, held.mailboxId, () =>
      inspector.view(sizeBytes, load, { chars: TEXT_MAX, headers: false }),
    )
    const { to, cc, replyTo, attachments } = message
    return {
      ...{
        to,
        cc,
        replyTo,
        text: bodies?.text ?? '',
        isTruncated: bodies?.truncated.text === true || bodies?.truncated.html === true,
      },
      htmlText: bodies?.html == null ? null : htmlToText(bodies.html, { alternative: true }),
      attachments: attachments.map(({ filename, contentType, sizeBytes: size }) => ({
        filename,
        contentType,
        sizeBytes: size,
      })),
    }
  }

  /** @throws ProductError not_found; conflict for another decision, or another version than the one that was shown */
  approve(session: Approver, id: string, decision: Omit<HeldDecision, 'by'>): Promise<void> {
    this.get(session, id)
    return this.#deps.outbound.held.holds.approve(id, { ...decision, by: session.email })
  }

  /** @throws ProductError as `approve` */
  reject(session: Approver, id: string, decision: Omit<HeldDecision, 'by'>): Promise<void> {
    this.get(session, id)
    return this.#deps.outbound.held.holds.reject(id, { ...decision, by: session.email })
  }

  /** Sends what the person made of a message in its place. @returns `eml_…` of what is sent @throws ProductError as `approve`, and as a new message */
  edit(session: Approver, id: string, decision: Omit<HeldDecision, 'by'> & { edit: HeldEdit }): Promise<string> {
    const found = this.get(session, id)
    const person = memberOf(this.#deps.people.membershipsOf(session), session, found.held.teamId)
    return sendEdited(this.#deps, found, person, decision)
  }

  /** Ends the mark that readings left on the programs of a mailbox. @throws ProductError not_found */
  async clearReads(session: Approver, mailboxId: string): Promise<void> {
    const { db, directory, outbound, people } = this.#deps
    const mailbox = directory.mailboxes.byId(mailboxId)
    const isMember = people.membershipsOf(session).some(({ teamId }) => teamId === mailbox?.teamId)
    const mayClear = mailbox !== undefined && isMember && approversOf(db.read, mailbox).includes(session.email)
    if (!mayClear) throw notFound('mailbox')
    await db.write((tx) => outbound.held.reads.clear(tx, mailboxId))
  }

  /** The message of a mailed link; undefined for a link that is unknown, or was ended by a decision or a new version. */
  byLink(token: string): (HeldRecord & { person: string; mustSignIn: boolean }) | undefined {
    const { outbound, people, db } = this.#deps
    const link = outbound.held.holds.byLink(sha256(token))
    const found = link && this.#mayDecide(link.person, link.held) ? this.#withEmail(link.held) : undefined
    if (link === undefined || found === undefined) return undefined
    const { person } = link
    // An assistant may read the mail of the person, so a person with a password or a passkey signs in.
    const mustSignIn =
      (people.persons.get(person, db.read)?.password ?? null) !== null || people.passkeys.count(person) > 0
    return { ...found, person, mustSignIn }
  }

  /** @throws ProductError not_found, conflict, insufficient_permissions for a person who must sign in */
  async decideByLink(token: string, decide: 'approve' | 'reject', hash: Uint8Array): Promise<void> {
    const found = this.byLink(token)
    if (found === undefined) throw notFound('held message')
    const { held, person, mustSignIn } = found
    if (mustSignIn)
      throw new ProductError('insufficient_permissions', 'Sign in to decide: a link alone is not enough for you.')
    if (held.state !== 'held') throw conflict(`The message is ${held.state} already.`)
    await this.#deps.outbound.held.holds[decide](held.emailId, { by: person, hash, note: null })
  }

  /** Notifies the approvers of messages. A link goes only to an address outside this appliance. @returns the number of messages */
  async notify(): Promise<number> {
    const { outbound } = this.#deps
    const due = outbound.held.holds.unnoticed(NOTICES_AT_ONCE)
    for (const held of due) await this.#notifyApprovers(held)
    return due.length
  }

  async #notifyApprovers(held: HeldMessage): Promise<void> {
    const { db, outbound, directory } = this.#deps
    const mailbox = directory.mailboxes.byId(held.mailboxId)
    const email = outbound.log.sentMessages.get(held.teamId, held.emailId)
    const approvers = mailbox === undefined || email === undefined ? [] : approversOf(db.read, mailbox)
    const prepared = await Promise.all(
      approvers.map(async (to) => {
        const token = this.#isOutside(to) ? randomBytes(TOKEN_BYTES).toString('base64url') : null
        const text = this.#noticeOf(held, mailbox!.email, token)
        const subject = `A message from ${mailedName(mailbox!.email)} waits for you`
        return { to, token, message: await outbound.mail.prepare({ to, subject, text }) }
      }),
    )
    await db.write((tx) => {
      if (!outbound.held.holds.markNoticed(tx, held.emailId)) return
      for (const { to, token, message } of prepared) {
        if (token !== null) outbound.held.holds.link(tx, held, to, sha256(token))
        message.sendIn(tx)
      }
    })
  }

  /** Nothing that the program or a stranger wrote: it could persuade before the page shows it as what it is. */
  #noticeOf({ emailId, expiresAt, reason }: HeldMessage, from: string, token: string | null): string {
    const { APP_ORIGIN } = this.#deps.config
    const where = token === null ? `${APP_ORIGIN}/owner/held/${emailId}` : `${APP_ORIGIN}/held/${token}`
    return [
      `A program wants to send a message from ${from}. It waits for your decision.`,
      WHY[reason],
      `Look at it, then approve or reject it, until ${new Date(expiresAt).toUTCString()}:`,
      where,
      'Without a decision it is not sent.',
    ].join('\n\n')
  }

  /** Whether no mailbox of this appliance receives or mirrors the mail of an address: programs could read the link there. */
  #isOutside(address: string): boolean {
    const policy = this.#deps.people.linkMailPolicy(address)
    return policy.mailed && policy.mailboxId === null
  }

  #mayDecide(email: string, { mailboxId, teamId }: Pick<HeldMessage, 'mailboxId' | 'teamId'>): boolean {
    return approversOf(this.#deps.db.read, { id: mailboxId, teamId }).includes(email)
  }

  #withEmail(held: HeldMessage): HeldRecord | undefined {
    const { outbound, db } = this.#deps
    const email = outbound.log.sentMessages.get(held.teamId, held.emailId)
    const read = outbound.held.reads.recent(db.read, held.mailboxId, SHOWN_MAX, held.createdAt)
    return email && { held, email, read }
  }
}
