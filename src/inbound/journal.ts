// Writes the inbound log of what the receive threads report: one row per recipient, for accepted and refused messages (docs/design/receiving.md §2).

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Db, Tx } from '../db/db.ts'
import type { LineError } from '../smtp/command-reader.ts'
import type { EnvelopeSender } from '../smtp/envelope.ts'
import { line, replies } from '../smtp/replies.ts'
import type { InboundLog, NewInboundRow } from '../store/log/inbound-log.ts'
import type { DeliveryResult } from '../store/mailbox/delivery.ts'
import {
  baseRow,
  deliveredStatus,
  evidenceOf,
  type LoggedRecipient,
  loggedRecipients,
  refusedStatus,
  senderColumns,
} from './log-row.ts'
import { type ProbeCount, Probes } from './probes.ts'
import type { LoggedMessage } from './received-message.ts'
import type { RejectedRecipient } from './recipients.ts'
import { refusals, type SmtpRefusal } from './refusals.ts'
import type { Peer } from './transaction.ts'

/** Batches of rows being written; above this, a caller waits until its own batch is written. */
const MAX_PENDING = 500
/** How long a refusal waits for its row to be written, in ms: enough for a healthy disk, short for the peer on a failing one. */
const ROW_WAIT_MS = 200

interface Deps {
  db: Db
  inboundLog: InboundLog
  clock: Clock
  log: Log
}

export class Journal {
  /** Malformed lines and messages since the start, by kind of error. */
  readonly lineErrors = new Map<LineError, number>()
  readonly #deps: Deps
  readonly #probes = new Probes()
  readonly #pending = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Counts and logs a line or a message with forbidden bytes (RFC 5321 §2.3.8). */
  countLineError(error: LineError, peer: Peer): void {
    const count = (this.lineErrors.get(error) ?? 0) + 1
    this.lineErrors.set(error, count)
    this.#deps.log.info(
      { event: 'smtp.malformed_input', error, count, remoteAddress: peer.address },
      'Malformed SMTP input',
    )
  }

  /** Logs a recipient refused at RCPT. Resolves when the row is written, or after ROW_WAIT_MS. */
  async noteRefusedRecipient(rejected: RejectedRecipient, sender: EnvelopeSender, peer: Peer): Promise<void> {
    const { refusal, teamId } = rejected
    if (teamId === null || refusal.reason === null) return
    const now = this.#deps.clock.now()
    const isProbe = refusal.reason === 'unknown_recipient'
    if (isProbe && !this.#probes.admit({ address: peer.address, domain: rejected.domain, teamId }, now)) return
    const { filter } = rejected
    await this.#add([
      {
        ...refusedStatus(refusal),
        ...senderColumns(sender, peer),
        teamId,
        mailboxId: rejected.mailboxId,
        domain: rejected.domain,
        rcptTo: rejected.rcptTo,
        evidence: filter ? { filter } : {},
        createdAt: now,
      },
    ])
  }

  /** Logs a message that was refused for all recipients. */
  async noteRefusedMessage(message: LoggedMessage, refusal: SmtpRefusal): Promise<void> {
    const now = this.#deps.clock.now()
    const rows = loggedRecipients(message).map((recipient, index) => ({
      ...baseRow(message, recipient, now, index),
      ...refusedStatus(refusal),
      evidence: evidenceOf(message, index, null),
    }))
    await this.#add(rows)
  }

  /** Logs a message that was accepted and discarded, because a bounce for it could not be delivered. */
  async noteDropped(message: LoggedMessage, { reason }: SmtpRefusal): Promise<void> {
    const now = this.#deps.clock.now()
    const reply = replies.queued(message.queueId)
    const rows = loggedRecipients(message).map((recipient, index): NewInboundRow => {
      const outcome = { status: 'discarded' as const, reason, detail: reply.text, smtpReply: line(reply) }
      return { ...baseRow(message, recipient, now, index), ...outcome, evidence: evidenceOf(message, index, null) }
    })
    await this.#add(rows)
  }

  /** Logs an accepted message, in the unit of work that stores it. */
  noteDelivered(tx: Tx, message: LoggedMessage, delivered: readonly DeliveryResult[]): void {
    const now = this.#deps.clock.now()
    const reply = replies.queued(message.queueId)
    const rows = loggedRecipients(message).map((recipient, index): NewInboundRow => {
      const copy = delivered[index]!
      return {
        ...baseRow(message, recipient, now, index),
        ...deliveredStatus(message, index, copy),
        detail: reply.text,
        smtpReply: line(reply),
        messageId: copy.messageId,
        evidence: evidenceOf(message, index, copy),
      }
    })
    this.#deps.inboundLog.appendMany(tx, rows)
  }

  /** Logs an accepted report, in the unit of work that applies it. @param report the members stored as evidence */
  noteReport(tx: Tx, message: LoggedMessage, to: LoggedRecipient, report: Record<string, string>): void {
    const reply = replies.queued(message.queueId)
    const row: NewInboundRow = {
      ...baseRow(message, to, this.#deps.clock.now()),
      status: 'stored',
      detail: reply.text,
      smtpReply: line(reply),
      evidence: { ...evidenceOf(message, 0, null), report },
    }
    this.#deps.inboundLog.appendMany(tx, [row])
  }

  /** Writes the probe counts of minutes that have ended. */
  async countProbes(): Promise<void> {
    await this.#writeCounts(this.#probes.takeFinished(this.#deps.clock.now()))
  }

  /** Waits until all rows are written. */
  async flush(): Promise<void> {
    await this.#writeCounts(this.#probes.takeAll())
    await Promise.all(this.#pending)
  }

  async #writeCounts(counts: readonly ProbeCount[]): Promise<void> {
    const refusal = refusals.unknown
    const now = this.#deps.clock.now()
    await this.#add(
      counts.map(({ probe, more }) => ({
        ...refusedStatus(refusal),
        detail: `${more} more unknown recipients tried from this address within one minute`,
        mailFrom: '',
        remoteAddress: probe.address,
        remoteName: null,
        helo: '',
        tls: null,
        teamId: probe.teamId,
        mailboxId: null,
        domain: probe.domain,
        rcptTo: `*@${probe.domain}`,
        evidence: { probes: more },
        createdAt: now,
      })),
    )
  }

  async #add(rows: readonly NewInboundRow[]): Promise<void> {
    if (rows.length === 0) return
    const { db, inboundLog, log } = this.#deps
    const written: Promise<void> = db
      .write((tx) => inboundLog.appendMany(tx, rows))
      .catch((error: unknown) =>
        log.error({ event: 'smtp.inbound_log_failed', err: error }, 'Inbound log rows could not be written'),
      )
      .then(() => {
        this.#pending.delete(written)
      })
    this.#pending.add(written)
    if (this.#pending.size > MAX_PENDING) await written
    else await this.#waitBriefly(written)
  }

  /** Waits for `work` for at most ROW_WAIT_MS; the work continues afterwards. */
  async #waitBriefly(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(ROW_WAIT_MS, resolve)
    await Promise.race([work, promise])
    timer.cancel()
  }
}
