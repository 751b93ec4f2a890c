// Receives one message: from the first byte of DATA to the reply after its end (spool, inspect, decide, store, log).

import { Semaphore } from '../base/semaphore.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { domainName } from '../directory/domain-name.ts'
import type { Mailbox } from '../directory/mailboxes.ts'
import { recordReceived } from '../events/received.ts'
import { domainOf } from '../mime/address.ts'
import type { MessageStream } from '../smtp/command-reader.ts'
import { IN_FLIGHT_BYTES, IN_FLIGHT_MIN_BYTES, MAX_QUEUED } from '../smtp/limits.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { type Spool, SpoolFull } from '../smtp/spool.ts'
import type { DeliveryTarget } from '../store/delivery.ts'
import type { InboundReason } from '../store/inbound-log.ts'
import { scriptCalls } from '../store/script-calls.ts'
import type { Inspection, InspectionRequest } from '../workers/inspection.ts'
import type { Bounces } from './bounces.ts'
import { decide, type InboundDecision } from './decision.ts'
import type { Journal } from './journal.ts'
import type { ReceivedTransaction } from './received-transaction.ts'
import type { AcceptedRecipient, Recipients } from './recipients.ts'
import { refusals, type SmtpRefusal } from './refusals.ts'
import type { SourceThrottle } from './source-throttle.ts'
import type { SplitRecipients } from './split-recipients.ts'
import type { MailTransaction, Peer } from './transaction.ts'

/** Memory per byte of a message in progress: as received, as stored, and during inspection. */
const COPIES = 3
/** Refusal reasons that count against the source of the message. */
const OFFENSIVE: ReadonlySet<InboundReason> = new Set(['bad_bytes', 'dmarc_reject', 'spam'])

/** From addresses whose domains are compared with those of this appliance. */
const AUTHORS_MAX = 20

interface Deps {
  app: Context
  spool: Spool
  journal: Journal
  recipients: Recipients
  splitRecipients: SplitRecipients
  bounces: Bounces
  throttle: SourceThrottle
}

export class MessageReceiver {
  readonly #deps: Deps
  readonly #inFlight = new Semaphore(IN_FLIGHT_BYTES)

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Processes one message and returns the reply to DATA. Never throws, and always reads the content to its end. */
  async receive(content: MessageStream, transaction: MailTransaction, peer: Peer): Promise<SmtpReply> {
    const received: ReceivedTransaction = {
      transaction,
      peer,
      receivedAt: 0,
      sizeBytes: null,
      inspection: null,
      decision: null,
    }
    let refusal: SmtpRefusal | null
    try {
      refusal = await this.#process(content, received)
    } catch (error) {
      // The client disconnected before the end of DATA: no reply is expected.
      if (!content.readableEnded) return replies.closing
      refusal = this.#refusalFor(error, received)
    }
    this.#updateThrottle(received, refusal)
    if (refusal === null) return replies.queued(transaction.queueId)
    await this.#deps.journal.noteRefusedMessage(received, refusal)
    return refusal.reply
  }

  /** Counts only what the message itself caused: neither local failures nor filters of recipients. */
  #updateThrottle({ peer, decision }: ReceivedTransaction, refusal: SmtpRefusal | null): void {
    const { throttle } = this.#deps
    if (refusal === null) {
      // Reports, and messages dropped at their well-known addresses, were not evaluated: they earn no credit.
      if (decision?.junk === false) throttle.accepted(peer.address)
    } else if (refusal.reply.code >= 500 && refusal.reason !== null && OFFENSIVE.has(refusal.reason)) {
      throttle.offended(peer.address, 'refused_message')
    }
  }

  /** @returns why the message is refused, or null once it is stored durably */
  async #process(content: MessageStream, received: ReceivedTransaction): Promise<SmtpRefusal | null> {
    const { app, spool, journal } = this.#deps
    const spooled = await spool.receive(content).catch((error: unknown) => {
      // A defect of the message takes precedence over a local failure.
      if (content.readableEnded && checkBytes(content)) return null
      throw error
    })
    try {
      received.receivedAt = app.clock.now()
      received.sizeBytes = content.byteLength
      const malformed = checkBytes(content)
      if (malformed?.reason === 'bad_bytes') journal.countLineError(content.byteError!, received.peer)
      if (malformed || !spooled) return malformed
      if (this.#inFlight.waiting >= MAX_QUEUED) return refusals.busy
      const room = Math.max(spooled.sizeBytes * COPIES, IN_FLIGHT_MIN_BYTES)
      return await this.#inFlight.during(room, async () => {
        const inspection = await app.inspector.inspect(spooled.source, await this.#inspectionRequest(received))
        return this.#dispose(received, inspection)
      })
    } finally {
      // A leftover file is removed at the next start; the reply does not depend on it.
      await spooled
        ?.release()
        .catch((error: unknown) =>
          app.log.warn({ event: 'smtp.spool_cleanup_failed', err: error }, 'Spool file could not be removed'),
        )
    }
  }

  async #dispose(received: ReceivedTransaction, inspection: Inspection): Promise<SmtpRefusal | null> {
    const { report } = received.transaction
    received.inspection = inspection
    if (report === null) return this.#deliver(received, inspection)
    if (await this.#deps.bounces.apply(received, report, inspection)) return null
    const { address } = received.transaction.sender
    const { autoSubmitted, wantsNoAnswer } = inspection.traits
    if (report.reader === null) {
      if (report.deferral !== null) return report.deferral
      const isAutomatic = address === '' || autoSubmitted || wantsNoAnswer
      return isAutomatic ? this.#discard(received, refusals.noReport) : refusals.noReport
    }
    // RFC 3834 §4: auto-replies go to the envelope sender, here the bounce address of the message; its mailbox gets them.
    received.transaction.recipients.push(report.reader)
    const refusal = await this.#deliver(received, inspection)
    return refusal !== null && refusal.reply.code >= 500 && address === '' ? this.#discard(received, refusal) : refusal
  }

  /** Accepts and discards a message whose refusal could not be delivered: the bounce would stay in the other server's queue. */
  async #discard(received: ReceivedTransaction, why: SmtpRefusal): Promise<null> {
    await this.#deps.journal.noteDropped(received, why)
    return null
  }

  async #deliver(received: ReceivedTransaction, inspection: Inspection): Promise<SmtpRefusal | null> {
    const { transaction, peer } = received
    const namesOwnDomain = this.#namesOwnDomain(inspection)
    const decision = decide(inspection, { transaction, peer, config: this.#deps.app.config, namesOwnDomain })
    received.decision = decision
    if (decision.isSplit) this.#deps.splitRecipients.note(transaction.sender.address)
    if (decision.refusal) return decision.refusal
    const noRoom = await this.#checkQuotas(transaction, received.sizeBytes!)
    if (noRoom) return noRoom
    // Before the message is stored: after a failure in between, the client sends it again.
    if (transaction.report === null && inspection.report) await this.#deps.bounces.applyDelivered(received, inspection)
    await this.#store(received, inspection, decision)
    return null
  }

  /** Whether the From field names a domain hosted here without authentication that proves it. */
  #namesOwnDomain({ verdict, message }: Inspection): boolean {
    if (verdict.fromAligned) return false
    const { domains } = this.#deps.app.directory
    const named = new Set(message.from.slice(0, AUTHORS_MAX).map(({ email }) => domainName(domainOf(email))))
    for (const name of named) if (name !== null && domains.byName(name)) return true
    return false
  }

  /** Checks the quotas again with the real size: SIZE of MAIL may have been wrong. */
  async #checkQuotas({ recipients, sender }: MailTransaction, sizeBytes: number): Promise<SmtpRefusal | null> {
    for (const { mailbox } of recipients) {
      const full = await this.#deps.recipients.checkQuota(mailbox, sizeBytes)
      if (!full) continue
      if (recipients.length === 1) return full
      // One reply for all recipients: the client retries, and RCPT rejects the full mailbox then, so the others get their copies.
      return sizeBytes > (sender.declaredBytes ?? sizeBytes) ? refusals.largerThanDeclared : refusals.failure
    }
    return null
  }

  async #store(received: ReceivedTransaction, inspection: Inspection, decision: InboundDecision): Promise<void> {
    const { app, journal } = this.#deps
    const { transaction, receivedAt } = received
    const message = { inspection, mailFrom: transaction.sender.address, receivedAt }
    const targets = transaction.recipients.map((recipient, index) => ({
      ...target(recipient, inspection, decision),
      scriptOutcome: inspection.scriptOutcomes[index] ?? null,
    }))
    await app.store.deliver(message, targets, (tx, delivered) => {
      // A concurrent delivery used up the quota. DATA has one reply, so the delivery is all or nothing.
      if (delivered.some(({ outcome }) => outcome === 'full'))
        throw new MailboxFilled('A mailbox exceeded its quota during delivery.')
      for (const { mailbox } of transaction.recipients) this.#requireActive(tx, mailbox)
      journal.noteDelivered(tx, received, delivered)
      const copies = delivered.map((copy, index) => ({ message, target: targets[index]!, delivered: copy }))
      for (const [index, { teamId, mailbox }] of transaction.recipients.entries()) {
        const copy = copies[index]!
        // The folder it is in decides (a Sieve script may have moved it), not the spam decision.
        const filedTarget = { ...copy.target, junk: copy.delivered.junk }
        recordReceived(tx, app.outbox, { teamId, domainId: mailbox.domainId, ...copy, target: filedTarget })
      }
      app.outbound.vacationReplies.note(tx, copies)
    })
  }

  /** The mailbox may have changed since RCPT; on a retry, RCPT replies with its current state. @throws MailboxInactive */
  #requireActive(tx: Tx, { id, quotaBytes }: Mailbox): void {
    const now = this.#deps.app.directory.mailboxes.byId(id, tx)
    if (now?.status !== 'active' || now.quotaBytes < quotaBytes)
      throw new MailboxInactive('A mailbox no longer accepts mail.')
  }

  async #inspectionRequest({ transaction, peer, receivedAt }: ReceivedTransaction): Promise<InspectionRequest> {
    const { report, recipients, sender } = transaction
    // A message that turns out not to be a report is delivered to the reader.
    const readers = report ? [report.reader].filter((reader) => reader !== null) : recipients
    const [first, ...others] = report ? [report] : recipients
    return {
      remoteAddress: peer.address,
      remoteName: typeof peer.name === 'object' ? peer.name.name : null,
      helo: peer.helo,
      mailFrom: sender.address,
      tls: peer.tls,
      protocol: peer.protocol,
      receivedAt,
      hostName: this.#deps.app.config.MAIL_HOSTS[0]!,
      queueId: transaction.queueId,
      rcptTo: first && others.length === 0 ? first.rcptTo : null,
      // RFC 3464 §2: reports have the null sender. Mailboxes get bounces too: they can be the envelope sender of an account.
      isForReports: report !== null || (sender.address === '' && recipients.length === 1),
      scripts: await scriptCalls(this.#deps.app, readers),
    }
  }

  #refusalFor(error: unknown, { transaction }: ReceivedTransaction): SmtpRefusal {
    // Both occur in normal operation and are not logged as errors.
    if (error instanceof MailboxFilled) return transaction.recipients.length > 1 ? refusals.oneFull : refusals.full
    if (error instanceof MailboxInactive) return refusals.failure
    this.#deps.app.log.error(
      { event: 'smtp.receive_failed', err: error, queueId: transaction.queueId },
      'Message could not be received',
    )
    return isFull(error) ? refusals.noRoom : refusals.failure
  }
}

class MailboxFilled extends Error {}
class MailboxInactive extends Error {}

/** Refusal for forbidden bytes (RFC 5321 §2.3.8) or size, before the message is parsed. */
function checkBytes(content: MessageStream): SmtpRefusal | null {
  if (content.byteError === 'bare_cr') return refusals.bareCr
  if (content.byteError === 'bare_lf') return refusals.bareLf
  if (content.byteError === 'nul') return refusals.nul
  return content.sizeExceeded ? refusals.tooLarge : null
}

function target(recipient: AcceptedRecipient, inspection: Inspection, decision: InboundDecision): DeliveryTarget {
  const { verdict } = inspection
  const { spf, dkim, dmarc, arc, fromAligned } = verdict
  const signatures = verdict.signatures.map(({ domain, result, reason }) => `DKIM ${result} for ${domain}: ${reason}`)
  const reasons = [verdict.spfReason, ...signatures, verdict.dmarcReason].filter((reason) => reason !== '')
  const { junk, spam } = decision
  return {
    mailboxId: recipient.mailbox.id,
    rcptTo: recipient.rcptTo,
    email: recipient.mailbox.email,
    quotaBytes: recipient.mailbox.quotaBytes,
    junk,
    authentication: { spf, dkim, dmarc, arc, fromAligned, reasons },
    spam: { score: spam.score, isSpam: junk, reasons: spam.parts.map(({ reason }) => reason) },
  }
}

// SQLITE_FULL is 13.
function isFull(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return error instanceof SpoolFull || code === 'ENOSPC' || code === 'EDQUOT' || (errcode ?? 0) % 256 === 13
}
