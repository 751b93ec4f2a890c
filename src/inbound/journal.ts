// The inbound log as the door keeps it: a row for every recipient, whatever became of the mail (decisions §6.4).

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Db, Tx } from '../db/db.ts'
import type { LineFault } from '../smtp/command-reader.ts'
import type { Sender } from '../smtp/envelope.ts'
import { line, replies } from '../smtp/replies.ts'
import type { Delivered } from '../store/deliver.ts'
import type { InboundLog, NewInboundRow } from '../store/inbound-log.ts'
import { type Addressee, addressees, base, evidenceOf, kept, refused, whoSent } from './log-row.ts'
import { type ProbeCount, Probes } from './probes.ts'
import type { Passage } from './received-transaction.ts'
import type { Turned } from './recipients.ts'
import { type Refusal, refusals } from './refusals.ts'
import type { Peer } from './transaction.ts'

/** Units of rows on their way to the disk; who adds more waits for its own. */
const MAX_PENDING = 500
/** How long a refusal waits for its row in ms: long enough for any disk that works, short for the peer when it does not. */
const PATIENCE_MS = 200

interface Parts {
  db: Db
  inboundLog: InboundLog
  clock: Clock
  log: Log
}

export class Journal {
  /** Faults in bytes since the start, by kind. */
  readonly faults = new Map<LineFault, number>()
  readonly #parts: Parts
  readonly #probes = new Probes()
  readonly #pending = new Set<Promise<void>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Counts a line or a mail whose bytes broke the rules, and tells the operator. */
  countFault(fault: LineFault, peer: Peer): void {
    const count = (this.faults.get(fault) ?? 0) + 1
    this.faults.set(fault, count)
    this.#parts.log.info({ fault, count, remoteAddress: peer.address }, 'malformed SMTP')
  }

  /** Notes a recipient turned away at RCPT. Resolves when the row is on the disk, or when that takes too long. */
  async refuseRecipient(turned: Turned, sender: Sender, peer: Peer): Promise<void> {
    const { refusal, teamId } = turned
    if (teamId === null || refusal.reason === null) return
    const now = this.#parts.clock.now()
    const isProbe = refusal.reason === 'unknown_recipient'
    if (isProbe && !this.#probes.admit({ address: peer.address, domain: turned.domain, teamId }, now)) return
    const { filter } = turned
    await this.#add([
      {
        ...refused(refusal),
        ...whoSent(sender, peer),
        teamId,
        mailboxId: turned.mailboxId,
        domain: turned.domain,
        rcptTo: turned.rcptTo,
        evidence: filter ? { filter } : {},
        createdAt: now,
      },
    ])
  }

  /** Notes a mail turned away as a whole. */
  async refuseMail(passage: Passage, refusal: Refusal): Promise<void> {
    const now = this.#parts.clock.now()
    const rows = addressees(passage.transaction).map((addressee, index) => ({
      ...base(passage, addressee, now),
      ...refused(refusal),
      evidence: evidenceOf(passage, index, null),
    }))
    await this.#add(rows)
  }

  /** Notes a mail that was taken and dropped, because a refusal could reach nobody. */
  async noteDropped(passage: Passage, { reason }: Refusal): Promise<void> {
    const now = this.#parts.clock.now()
    const reply = replies.queued(passage.transaction.queueId)
    const rows = addressees(passage.transaction).map((addressee, index): NewInboundRow => {
      const told = { status: 'discarded' as const, reason, detail: reply.text, smtpReply: line(reply) }
      return { ...base(passage, addressee, now), ...told, evidence: evidenceOf(passage, index, null) }
    })
    await this.#add(rows)
  }

  /** Notes a mail that was taken, as part of the unit of work that stores it. */
  async noteDelivered(tx: Tx, passage: Passage, delivered: readonly Delivered[]): Promise<void> {
    const now = this.#parts.clock.now()
    const reply = replies.queued(passage.transaction.queueId)
    const rows = addressees(passage.transaction).map((addressee, index): NewInboundRow => {
      const copy = delivered[index]!
      return {
        ...base(passage, addressee, now),
        ...kept(passage, copy),
        detail: reply.text,
        smtpReply: line(reply),
        messageId: copy.messageId,
        evidence: evidenceOf(passage, index, copy),
      }
    })
    await this.#parts.inboundLog.appendMany(tx, rows)
  }

  /** Notes a report that was taken, as part of the unit of work that applies it. @param report as evidence shows it */
  async noteReport(tx: Tx, passage: Passage, to: Addressee, report: Record<string, string>): Promise<void> {
    const reply = replies.queued(passage.transaction.queueId)
    const row: NewInboundRow = {
      ...base(passage, to, this.#parts.clock.now()),
      status: 'stored',
      detail: reply.text,
      smtpReply: line(reply),
      evidence: { ...evidenceOf(passage, 0, null), report },
    }
    await this.#parts.inboundLog.appendMany(tx, [row])
  }

  /** Writes the counts of probes whose minute is over. */
  async countProbes(): Promise<void> {
    await this.#writeCounts(this.#probes.take(this.#parts.clock.now()))
  }

  /** Waits until everything noted is on the disk. */
  async flush(): Promise<void> {
    await this.#writeCounts(this.#probes.takeAll())
    await Promise.all(this.#pending)
  }

  async #writeCounts(counts: readonly ProbeCount[]): Promise<void> {
    const refusal = refusals.unknown
    const now = this.#parts.clock.now()
    await this.#add(
      counts.map(({ probe, more }) => ({
        ...refused(refusal),
        detail: `${more} more unknown recipients were tried from this address within a minute`,
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
    const { db, inboundLog, log } = this.#parts
    const written: Promise<void> = db
      .write((tx) => inboundLog.appendMany(tx, rows))
      .catch((error: unknown) => log.error({ err: error }, 'rows of the inbound log could not be written'))
      .then(() => {
        this.#pending.delete(written)
      })
    this.#pending.add(written)
    if (this.#pending.size > MAX_PENDING) await written
    else await this.#forAWhile(written)
  }

  /** Waits for work, but not long. It goes on all the same. */
  async #forAWhile(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(PATIENCE_MS, resolve)
    await Promise.race([work, promise])
    timer.cancel()
  }
}
