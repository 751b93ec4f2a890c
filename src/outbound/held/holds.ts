// Messages that wait for a person: held, approved, rejected, expired. One decision counts, for the version that was shown.

import { isoTime } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { conflict, notFound } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { NewEvent } from '../../events/outbox.ts'
import type { Emails } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { Email, RejectionReason } from '../model/records.ts'
import type { DeliveryTransitions } from '../queue/delivery-transitions.ts'
import type { Queue } from '../queue/queue.ts'
import type { Suppressions } from '../queue/suppressions.ts'
import { toDrafts } from '../queue/to-drafts.ts'
import type { KnownContacts } from './contacts.ts'
import {
  fingerprintOf,
  HELD_MESSAGES,
  type HeldMessage,
  type HeldState,
  type HoldReason,
  heldByKey,
  heldOf,
} from './held-rows.ts'

/** How long a message waits, ms. */
export const HELD_MS = 7 * DAY_MS
const EXPIRED_AT_ONCE = 50
/** Messages of a mailbox of which approvers are told within an hour; the others are listed at `/owner/held`. */
const NOTICES_HOURLY_MAX = 20

/** A message that is held in the unit of work that accepts it. */
export interface NewHold {
  email: Email
  domainId: string | null
  deliveries: readonly number[]
  recipients: readonly string[]
  sendAt: number
  credential: string | null
  submission: { id: string; messageId: string | null } | null
  reason: HoldReason
  detail: string
}

/** A decision of a person. */
export interface HeldDecision {
  /** Address of the person. */
  by: string
  /** Of the version that was shown to them. */
  hash: Uint8Array
  note: string | null
}

interface Deps extends OutboundDeps {
  emails: Emails
  transitions: Pick<DeliveryTransitions, 'apply'>
  queue: Pick<Queue, 'add'>
  suppressions: Pick<Suppressions, 'of'>
  contacts: KnownContacts
}

export class Holds {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Holds an accepted message: its deliveries are in no queue. */
  hold(tx: Tx, hold: NewHold): void {
    const now = this.#deps.clock.now()
    const { email, submission, reason, detail, credential } = hold
    HELD_MESSAGES.insert(tx, {
      ...{ email: email.n, emailId: email.id, teamId: email.teamId, mailboxId: email.mailboxId!, credential },
      ...{ submissionId: submission?.id ?? null, storedMessageId: submission?.messageId ?? null, reason, detail },
      ...{ hash: fingerprintOf(email, hold.recipients, hold.sendAt), state: 'held' as const },
      ...{ createdAt: now, expiresAt: now + HELD_MS },
    })
    for (const n of hold.deliveries) this.#deps.transitions.apply(tx, n, { kind: 'held', detail }, null)
    this.#publish(tx, 'message.held', email, { recipients: hold.recipients, domainId: hold.domainId })
  }

  /** @param emailId `eml_…` */
  of(emailId: string, reader: Reader = this.#deps.db.read): HeldMessage | undefined {
    return heldOf(reader, emailId)
  }

  /** The held messages of some messages (`eml_…`). */
  among(emailIds: readonly string[]): Map<string, HeldMessage> {
    const rest = 'WHERE email_id IN (SELECT value FROM json_each(?))'
    const found = HELD_MESSAGES.all(this.#deps.db.read, rest, [JSON.stringify(emailIds)])
    return new Map(found.map((held) => [held.emailId, held]))
  }

  /** Held messages of some mailboxes in one of the states, the newest first. */
  list(mailboxIds: readonly string[], states: readonly HeldState[], limit: number): HeldMessage[] {
    const rest = `WHERE mailbox_id IN (SELECT value FROM json_each(?)) AND state IN (SELECT value FROM json_each(?))
      ORDER BY created_at DESC, email DESC LIMIT ?`
    return HELD_MESSAGES.all(this.#deps.db.read, rest, [JSON.stringify(mailboxIds), JSON.stringify(states), limit])
  }

  /** The mailboxes of some teams that have or had held messages. */
  mailboxesOf(teamIds: readonly string[]): Pick<HeldMessage, 'mailboxId' | 'teamId'>[] {
    const sql = `SELECT DISTINCT mailbox_id AS mailboxId, team_id AS teamId FROM held_messages
      WHERE team_id IN (SELECT value FROM json_each(?))`
    return this.#deps.db.read.all(sql, [JSON.stringify(teamIds)])
  }

  /**
   * Lets a message leave; its recipients are known from then on. The same decision again changes nothing.
   * @throws ProductError not_found; conflict when it was decided otherwise, is another version than the one that was shown, or has a
   * sender that is no longer an address of the mailbox
   */
  async approve(emailId: string, decision: HeldDecision): Promise<void> {
    const { db, emails, clock, notifier, contacts } = this.#deps
    const changed = await db.write((tx) => {
      const held = this.#open(tx, emailId, decision.hash, 'approved')
      if (held === null) return false
      const email = emails.byId(emailId, tx)!
      const { sendAt, recipients, hash } = this.#version(tx, email)
      // Something changed it behind the back of the person: it waits again, in its present version.
      if (!hash.equals(held.hash)) return this.#holdAgain(tx, email, hash)
      this.#requireOwnSender(tx, held, email)
      this.#decide(tx, held, 'approved', decision)
      emails.extend(tx, email.n, Math.max(sendAt, clock.now()) + LIFETIME_MS)
      const open = this.#release(tx, email, recipients)
      this.#deps.queue.add(tx, email, open, Math.max(sendAt, clock.now()))
      contacts.note(tx, held.mailboxId, recipients)
      this.#publish(tx, 'message.approved', email, { recipients, domainId: emails.domainOf(tx, email.n) })
      tx.afterCommit(() => notifier.notify('deliver'))
      return false
    })
    if (changed) throw conflict('The message has changed, and waits again. Look at it once more.')
  }

  /** Ends a message; its copy moves to Drafts. @throws ProductError as `approve` */
  async reject(emailId: string, decision: HeldDecision): Promise<void> {
    await this.#deps.db.write((tx) => {
      const held = this.#open(tx, emailId, decision.hash, 'rejected')
      if (held === null) return
      this.#decide(tx, held, 'rejected', decision)
      this.#end(tx, held, 'approval_denied', decision.note ?? 'A person decided against it.')
    })
  }

  /** Ends a message in whose place another was sent, in the unit of work that accepts the other. @throws ProductError as `approve` */
  replaceIn(tx: Tx, emailId: string, decision: HeldDecision, sentAs: string): void {
    const held = this.#open(tx, emailId, decision.hash, null)!
    this.#decide(tx, held, 'edited', decision)
    tx.run('UPDATE held_messages SET sent_as = ? WHERE email = ?', [sentAs, held.email])
    const { emails, transitions, clock, store } = this.#deps
    emails.markCanceled(tx, held.email, clock.now())
    const account = store.accounts.byMailbox(held.mailboxId, tx)
    if (account !== undefined && held.submissionId !== null)
      store.sending.submissions.cancel(tx, account, held.submissionId)
    this.#toDrafts(tx, held)
    for (const { n } of emails.pendingOfEmail(tx, held.email)) transitions.apply(tx, n, { kind: 'cancelled' }, null)
  }

  /** Ends messages that waited too long. @returns how many */
  async expire(now: number): Promise<number> {
    const { db } = this.#deps
    const rest = `WHERE state = 'held' AND expires_at <= ? ORDER BY expires_at LIMIT ?`
    const due = HELD_MESSAGES.all(db.read, rest, [now, EXPIRED_AT_ONCE])
    for (const { emailId } of due) {
      await db.write((tx) => {
        const held = heldOf(tx, emailId)
        if (held?.state !== 'held') return
        this.#decide(tx, held, 'expired', null)
        this.#end(tx, held, 'approval_expired', 'No person decided within seven days.')
      })
    }
    return due.length
  }

  /**
   * The time (ms) of an approved message for its Date field: that of the approval, or for which it was scheduled; null for a message that
   * never waited. The runner asks before it signs. A message that is another one than the approved is held again.
   */
  async releasedAt(email: Email): Promise<number | null | 'held_again'> {
    const held = heldByKey(this.#deps.db.read, email.n)
    if (held === undefined) return null
    const { hash, sendAt } = this.#version(this.#deps.db.read, email)
    if (held.state === 'approved' && hash.equals(held.hash)) return Math.max(held.decidedAt!, sendAt)
    await this.#deps.db.write((tx) => this.#holdAgain(tx, email, hash))
    return 'held_again'
  }

  /** Stores the link that a person is mailed; it ends with the decision, and with the version. @param hash SHA-256 of its token */
  link(tx: Tx, { email }: HeldMessage, person: string, hash: Uint8Array): void {
    tx.run('INSERT INTO held_links (hash, email, person) VALUES (?, ?, ?)', [hash, email, person])
  }

  /** The message of a mailed link, and whom it was mailed to; undefined for one that is unknown or has ended. */
  byLink(hash: Uint8Array): { held: HeldMessage; person: string } | undefined {
    const { read } = this.#deps.db
    const link = read.get<{ email: number; person: string }>('SELECT email, person FROM held_links WHERE hash = ?', [
      hash,
    ])
    const held = link && heldByKey(read, link.email)
    return held && { held, person: link.person }
  }

  /**
   * Messages of which no approver was told, the oldest first; none of a mailbox with enough notices in the last hour: a program can send
   * and cancel without end.
   */
  unnoticed(limit: number): HeldMessage[] {
    const rest = `WHERE state = 'held' AND noticed_at IS NULL AND (SELECT count(*) FROM held_messages AS other
        WHERE other.mailbox_id = held_messages.mailbox_id AND other.noticed_at > ?) < ${NOTICES_HOURLY_MAX}
      ORDER BY email LIMIT ?`
    return HELD_MESSAGES.all(this.#deps.db.read, rest, [this.#deps.clock.now() - HOUR_MS, limit])
  }

  /** @returns false when another run was faster */
  markNoticed(tx: Tx, emailId: string): boolean {
    const sql = `UPDATE held_messages SET noticed_at = ? WHERE email_id = ? AND state = 'held' AND noticed_at IS NULL`
    return tx.run(sql, [this.#deps.clock.now(), emailId]).changes > 0
  }

  /** Erases what is remembered of a deleted mailbox. */
  eraseOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM held_links WHERE email IN (SELECT email FROM held_messages WHERE mailbox_id = ?)', [mailboxId])
    tx.run('DELETE FROM held_messages WHERE mailbox_id = ?', [mailboxId])
  }

  /** @returns null when the same was decided before */
  #open(tx: Tx, emailId: string, hash: Uint8Array, same: HeldState | null): HeldMessage | null {
    const held = heldOf(tx, emailId)
    if (held === undefined) throw notFound('held message')
    if (held.state === same) return null
    if (held.state !== 'held') throw conflict(`The message is ${held.state} already.`)
    if (Buffer.compare(held.hash, hash) === 0) return held
    throw conflict('The message has changed since it was shown. Look at it again.')
  }

  /** An alias may have been deleted, and be another mailbox's by now. @throws ProductError conflict */
  #requireOwnSender(tx: Tx, { mailboxId }: HeldMessage, { from }: Email): void {
    const { directory } = this.#deps
    const mailbox = directory.mailboxes.byId(mailboxId, tx)
    if (mailbox !== undefined && directory.aliases.mayWriteAs(tx, mailbox, from.email)) return
    throw conflict(`The mailbox can no longer write as ${from.email}. Reject the message.`)
  }

  #version(reader: Reader, email: Email): { sendAt: number; recipients: string[]; hash: Buffer } {
    const { emails } = this.#deps
    const recipients = emails.recipientsOf(reader, email.n)
    const sendAt = emails.sendAtOf(reader, email.n)
    return { sendAt, recipients, hash: fingerprintOf(email, recipients, sendAt) }
  }

  #decide(tx: Tx, held: HeldMessage, state: HeldState, decision: HeldDecision | null): void {
    tx.run(`UPDATE held_messages SET state = ?, decided_at = ?, decided_by = ?, note = ? WHERE email = ?`, [
      state,
      this.#deps.clock.now(),
      decision?.by ?? null,
      decision?.note ?? null,
      held.email,
    ])
    endLinks(tx, held.email)
  }

  /** Suppressions may be newer than the message. @returns the deliveries that can leave */
  #release(tx: Tx, email: Email, recipients: readonly string[]): { n: number; to: string }[] {
    const { emails, suppressions, transitions } = this.#deps
    const suppressed = suppressions.of(tx, email.teamId, recipients)
    const open: { n: number; to: string }[] = []
    for (const { n, to } of emails.pendingRecipients(tx, email.n)) {
      if (suppressed.has(to.toLowerCase())) {
        const detail = 'The recipient is on the suppression list of the team.'
        transitions.apply(tx, n, { kind: 'rejected', reason: 'suppressed', detail }, null)
        continue
      }
      transitions.apply(tx, n, { kind: 'approved' }, null)
      open.push({ n, to })
    }
    return open
  }

  #end(tx: Tx, held: HeldMessage, reason: RejectionReason, detail: string): void {
    const { emails, transitions } = this.#deps
    for (const { n } of emails.pendingOfEmail(tx, held.email)) {
      transitions.apply(tx, n, { kind: 'rejected', reason, detail }, null)
    }
    this.#toDrafts(tx, held)
  }

  #toDrafts(tx: Tx, held: HeldMessage): void {
    const { store } = this.#deps
    const account = store.accounts.byMailbox(held.mailboxId, tx)
    if (account !== undefined && held.storedMessageId !== null) toDrafts(store, tx, account, held.storedMessageId)
  }

  /** @returns true */
  #holdAgain(tx: Tx, email: Email, hash: Uint8Array): boolean {
    const { emails, transitions, clock } = this.#deps
    const detail = 'It was changed after it was approved.'
    tx.run(
      `UPDATE held_messages SET state = 'held', reason = 'changed', detail = ?, hash = ?, noticed_at = NULL,
         decided_at = NULL, decided_by = NULL, note = NULL, expires_at = ? WHERE email = ?`,
      [detail, hash, clock.now() + HELD_MS, email.n],
    )
    endLinks(tx, email.n)
    for (const { n } of emails.pendingOfEmail(tx, email.n)) transitions.apply(tx, n, { kind: 'held', detail }, null)
    const recipients = emails.recipientsOf(tx, email.n)
    this.#publish(tx, 'message.held', email, { recipients, domainId: emails.domainOf(tx, email.n) })
    return true
  }

  #publish(
    tx: Tx,
    type: 'message.held' | 'message.approved',
    email: Email,
    { recipients, domainId }: { recipients: readonly string[]; domainId: string | null },
  ): void {
    const { reason, detail, expiresAt, submissionId } = heldByKey(tx, email.n)!
    const event: NewEvent = {
      ...{ teamId: email.teamId, type, mailboxId: email.mailboxId, domainId, at: this.#deps.clock.now() },
      data: {
        ...{ message_id: email.id, submission_id: submissionId, mailbox_id: email.mailboxId, source: email.source },
        ...{ from: email.from, recipients: [...recipients], subject: email.subject },
        approval: { reason, detail, expires_at: isoTime(expiresAt) },
      },
    }
    this.#deps.outbox.record(tx, event)
  }
}

function endLinks(tx: Tx, email: number): void {
  tx.run('DELETE FROM held_links WHERE email = ?', [email])
}
