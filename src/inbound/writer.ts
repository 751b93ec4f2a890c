// The writing side of receiving, in the first thread: stores messages, applies reports, writes the inbound log, and holds what all receive threads share.

import { freeBytes } from '../base/free-bytes.ts'
import { LentMemory } from '../base/lent-memory.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { recordReceived } from '../events/received.ts'
import { bytesOf } from '../mime/chunks.ts'
import type { LineError } from '../smtp/command-reader.ts'
import type { EnvelopeSender } from '../smtp/envelope.ts'
import { messageOf } from '../store/mailbox/delivery.ts'
import type { MessageSource } from '../workers/inspect-thread.ts'
import type { Inspection, InspectionRequest } from '../workers/inspection.ts'
import { Bounces, type ReportMessage } from './bounces.ts'
import { Journal } from './journal.ts'
import type { Decided, ForWriter, Inspected, LoggedMessage } from './received-message.ts'
import type { RejectedRecipient } from './recipients.ts'
import type { SmtpRefusal } from './refusals.ts'
import type { Peer } from './transaction.ts'

/** The outcome of storing a message: nothing is stored unless it is `stored`. */
export type StoreOutcome =
  | 'stored'
  /** A concurrent delivery used up the quota of a mailbox. */
  | 'full'
  /** A mailbox no longer accepts mail. */
  | 'inactive'

export class InboundWriter {
  readonly #app: Context
  readonly #journal: Journal
  readonly #bounces: Bounces
  readonly #inFlight = new Set<Promise<unknown>>()
  /** Memory of large messages that are received in this thread. */
  readonly #memory: LentMemory
  /** Mailboxes as read in a unit of work, which stores many messages for few of them. */
  readonly #seen = new WeakMap<Tx, Map<string, Mailbox | undefined>>()

  constructor(app: Context) {
    const { db, store, clock, log } = app
    this.#app = app
    this.#memory = new LentMemory(app.memory)
    this.#journal = new Journal({ db, inboundLog: store.log.inbound, clock, log })
    this.#bounces = new Bounces({ feedback: app.outbound.reports.feedback, journal: this.#journal, log })
  }

  /** Stores an accepted message for all its recipients, or for none. @throws Error when it cannot be stored */
  deliver(message: ForWriter<Decided>): Promise<StoreOutcome> {
    return this.#track(this.#deliver(message))
  }

  /** Applies the report in a message to a report address. */
  applyReport(message: ReportMessage): Promise<void> {
    return this.#track(this.#bounces.apply(message))
  }

  /** Applies the report in a message to a mailbox. */
  applyDeliveredReport(message: ForWriter<Inspected>): Promise<void> {
    return this.#track(this.#bounces.applyDelivered(message))
  }

  noteRefusedRecipient(rejected: RejectedRecipient, sender: EnvelopeSender, peer: Peer): Promise<void> {
    return this.#journal.noteRefusedRecipient(rejected, sender, peer)
  }

  noteRefusedMessage(message: LoggedMessage, refusal: SmtpRefusal): Promise<void> {
    return this.#journal.noteRefusedMessage(message, refusal)
  }

  noteDropped(message: LoggedMessage, refusal: SmtpRefusal): Promise<void> {
    return this.#journal.noteDropped(message, refusal)
  }

  noteLineError(error: LineError, peer: Peer): void {
    this.#journal.countLineError(error, peer)
  }

  /** See `Accounts.fullSince`. */
  fullSince(mailboxId: string, quotaBytes: number, sizeBytes: number): Promise<number | null> {
    return this.#app.store.accounts.fullSince(mailboxId, quotaBytes, sizeBytes)
  }

  /** See `PatternAddresses.admit`. */
  admitByPattern(domainId: string, email: string, source: string): Promise<boolean> {
    return Promise.resolve(this.#app.directory.patternAddresses.admit(domainId, email, source))
  }

  /** See `Inspector.inspect`: in a thread of its own. */
  inspect(source: MessageSource, request: InspectionRequest): Promise<Inspection> {
    return this.#app.inspector.inspect(source, request)
  }

  /**
   * Waits for the memory of a large message.
   * @param source of the message, see `sourceOf`
   * @returns the number to release it by; null when it did not come in time
   */
  reserve(sizeBytes: number, source: string): Promise<number | null> {
    return this.#memory.reserve(sizeBytes, source)
  }

  release(reservation: number): void {
    this.#memory.release(reservation)
  }

  /** Writes the probe counts of minutes that have ended. */
  countProbes(): void {
    void this.#track(this.#journal.countProbes())
  }

  /** Waits until everything handed over is written. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
    await this.#journal.flush()
  }

  async #deliver(message: ForWriter<Decided>): Promise<StoreOutcome> {
    const app = this.#app
    const { recipients, targets, inspection } = message
    try {
      return await app.outbound.receive.deliver(message, targets, (tx, delivered): StoreOutcome => {
        // DATA has one reply, so the delivery is all or nothing.
        if (delivered.some(({ outcome }) => outcome === 'full')) return tx.undo('full')
        if (!recipients.every(({ mailbox }) => this.#isActive(tx, mailbox))) return tx.undo('inactive')
        this.#journal.noteDelivered(tx, message, delivered)
        const copies = delivered.map((copy, index) => ({ message, target: targets[index]!, delivered: copy }))
        for (const [index, { teamId, mailbox }] of recipients.entries()) {
          const copy = copies[index]!
          // The folder it is in decides (a Sieve script may have moved it), not the spam decision.
          const filedTarget = { ...copy.target, junk: copy.delivered.junk }
          const seen = messageOf(message, copy.delivered)
          recordReceived(tx, app.outbox, {
            teamId,
            domainId: mailbox.domainId,
            ...copy,
            message: seen,
            target: filedTarget,
          })
        }
        const to = recipients.map(({ rcptTo }) => rcptTo)
        const { hash, sizeBytes, verdict } = inspection
        app.reportIntake.note(tx, { hash, sizeBytes, verdict, recipients: to })
        app.outbound.vacationReplies.note(tx, copies)
        app.outbound.notifications.note(tx, copies)
        return 'stored'
      })
    } finally {
      freeBytes(bytesOf(inspection, ...(inspection.edited ?? [])))
    }
  }

  /** The mailbox may have changed since RCPT; on a retry, RCPT replies with its current state. */
  #isActive(tx: Tx, { id, quotaBytes }: Mailbox): boolean {
    const seen = this.#seen.get(tx) ?? new Map<string, Mailbox | undefined>()
    this.#seen.set(tx, seen)
    if (!seen.has(id)) seen.set(id, this.#app.directory.mailboxes.byId(id, tx))
    const now = seen.get(id)
    return now?.status === 'active' && now.quotaBytes >= quotaBytes
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#inFlight.delete(tracked))
    this.#inFlight.add(tracked)
    return tracked
  }
}
