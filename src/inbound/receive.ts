// Receives one message: from the first byte of DATA to the reply after its end (spool, inspect, decide, store, log).

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { LARGE_FROM_BYTES, MemoryExhausted, MemoryShares } from '../base/memory-shares.ts'
import { isDiskFull } from '../base/storage-error.ts'
import type { Config } from '../config/config.ts'
import type { Directory } from '../directory/directory.ts'
import { domainName } from '../directory/names/domain-name.ts'
import { domainOf } from '../mime/address.ts'
import { sourceOf } from '../net/connections.ts'
import type { MessageStream } from '../smtp/command-reader.ts'
import { IN_FLIGHT_BYTES, IN_FLIGHT_MIN_BYTES, IN_FLIGHT_SOURCES, MAX_QUEUED } from '../smtp/limits.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { type Spool, type SpooledMessage, SpoolFull } from '../smtp/spool.ts'
import type { InboundReason } from '../store/log/inbound-log.ts'
import { scriptCalls } from '../store/mailbox/script-calls.ts'
import type { Store } from '../store/store.ts'
import type { Inspection, InspectionRequest } from '../workers/inspection.ts'
import type { Inspector } from '../workers/inspector.ts'
import { decide } from './decision.ts'
import type { ReceivedTransaction } from './received-transaction.ts'
import type { Recipients } from './recipients.ts'
import { refusals, type SmtpRefusal } from './refusals.ts'
import type { SourceThrottle } from './source-throttle.ts'
import type { SplitRecipients } from './split-recipients.ts'
import type { MailTransaction, Peer } from './transaction.ts'
import type { ReceiveWriter } from './writer.ts'

/** Memory per byte of a small message in progress: as received, as stored, and during inspection. */
const COPIES = 3
/** Refusal reasons that count against the source of the message. */
const OFFENSIVE: ReadonlySet<InboundReason> = new Set(['bad_bytes', 'dmarc_reject', 'spam'])

/** From addresses whose domains are compared with those of this appliance. */
const AUTHORS_MAX = 20

/** What receiving a message needs, in whichever thread. */
export interface ReceivingDeps {
  config: Config
  clock: Clock
  log: Log
  directory: Pick<Directory, 'domains' | 'mailboxes' | 'filters' | 'sieveScripts'>
  store: Pick<Store, 'accounts' | 'folders'>
  inspector: Pick<Inspector, 'inspect'>
  writer: ReceiveWriter
}

interface Deps extends ReceivingDeps {
  spool: Spool
  recipients: Recipients
  splitRecipients: Pick<SplitRecipients, 'note'>
  throttle: Pick<SourceThrottle, 'accepted' | 'offended'>
  /** The share of the limits that this thread has, from 0 to 1. */
  share: number
}

export class MessageReceiver {
  readonly #deps: Deps
  readonly #inFlight: MemoryShares

  constructor(deps: Deps) {
    this.#deps = deps
    const total = IN_FLIGHT_BYTES * deps.share
    // The checks of a message may wait ten seconds for name servers of its sender: one source must not fill the memory with such messages.
    this.#inFlight = new MemoryShares(deps.clock, total, 1, { from: 0, each: total / IN_FLIGHT_SOURCES })
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
    await this.#deps.writer.noteRefusedMessage(received, refusal)
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
    const { clock, log, spool, writer } = this.#deps
    const spooled = await spool.receive(content, sourceOf(received.peer.address)).catch((error: unknown) => {
      // A defect of the message takes precedence over a local failure.
      if (content.readableEnded && checkBytes(content)) return null
      throw error
    })
    try {
      received.receivedAt = clock.now()
      received.sizeBytes = content.byteLength
      const malformed = checkBytes(content)
      if (malformed?.reason === 'bad_bytes') writer.noteLineError(content.byteError!, received.peer)
      if (malformed || !spooled) return malformed
      return await this.#withMemory(spooled, received, async () => {
        const { inspector } = this.#deps
        const inspection = await inspector.inspect(spooled.source, await this.#inspectionRequest(received))
        return this.#dispose(received, inspection)
      })
    } finally {
      // A leftover file is removed at the next start; the reply does not depend on it.
      await spooled
        ?.release()
        .catch((error: unknown) =>
          log.warn({ event: 'smtp.spool_cleanup_failed', err: error }, 'Spool file could not be removed'),
        )
    }
  }

  /** Large messages share the memory of the process by their sources, small ones that of this thread: they do not wait for each other. */
  async #withMemory(
    { sizeBytes }: SpooledMessage,
    { peer }: ReceivedTransaction,
    work: () => Promise<SmtpRefusal | null>,
  ): Promise<SmtpRefusal | null> {
    const { writer, share } = this.#deps
    if (sizeBytes < LARGE_FROM_BYTES) {
      if (this.#inFlight.waiting >= MAX_QUEUED * share) return refusals.busy
      const weight = Math.max(sizeBytes * COPIES, IN_FLIGHT_MIN_BYTES)
      const turn = await this.#inFlight.acquire(weight, sourceOf(peer.address)).catch(noTurn)
      if (turn === null) return refusals.busy
      return work().finally(turn)
    }
    const release = await writer.reserve(sizeBytes, sourceOf(peer.address))
    if (release === null) return refusals.noMemory
    try {
      return await work()
    } finally {
      release()
    }
  }

  async #dispose(received: ReceivedTransaction, inspection: Inspection): Promise<SmtpRefusal | null> {
    const { report } = received.transaction
    received.inspection = inspection
    if (report === null) return this.#deliver(received, inspection)
    if (inspection.report !== null) {
      await this.#deps.writer.applyReport(received)
      return null
    }
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
    await this.#deps.writer.noteDropped(received, why)
    return null
  }

  async #deliver(received: ReceivedTransaction, inspection: Inspection): Promise<SmtpRefusal | null> {
    const { transaction, peer } = received
    const namesOwnDomain = this.#namesOwnDomain(inspection)
    const decision = decide(inspection, { transaction, peer, config: this.#deps.config, namesOwnDomain })
    received.decision = decision
    if (decision.isSplit) this.#deps.splitRecipients.note(transaction.sender.address)
    if (decision.refusal) return decision.refusal
    const noRoom = await this.#checkQuotas(transaction, received.sizeBytes!)
    if (noRoom) return noRoom
    // Before the message is stored: after a failure in between, the client sends it again.
    if (transaction.report === null && inspection.report) await this.#deps.writer.applyDeliveredReport(received)
    const outcome = await this.#deps.writer.deliver(received)
    if (outcome === 'stored') return null
    if (outcome === 'inactive') return refusals.failure
    return transaction.recipients.length > 1 ? refusals.oneFull : refusals.full
  }

  /** Whether the From field names a domain hosted here without authentication that proves it. */
  #namesOwnDomain({ verdict, message }: Inspection): boolean {
    if (verdict.fromAligned) return false
    const { domains } = this.#deps.directory
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
      hostName: this.#deps.config.MAIL_HOSTS[0]!,
      queueId: transaction.queueId,
      rcptTo: first && others.length === 0 ? first.rcptTo : null,
      // RFC 3464 §2: reports have the null sender. Mailboxes get bounces too: they can be the envelope sender of an account.
      isForReports: report !== null || (sender.address === '' && recipients.length === 1),
      scripts: await scriptCalls(this.#deps, readers),
    }
  }

  #refusalFor(error: unknown, { transaction }: ReceivedTransaction): SmtpRefusal {
    this.#deps.log.error(
      { event: 'smtp.receive_failed', err: error, queueId: transaction.queueId },
      'Message could not be received',
    )
    return isFull(error) ? refusals.noRoom : refusals.failure
  }
}

/** Refusal for forbidden bytes (RFC 5321 §2.3.8) or size, before the message is parsed. */
function checkBytes(content: MessageStream): SmtpRefusal | null {
  if (content.byteError === 'bare_cr') return refusals.bareCr
  if (content.byteError === 'bare_lf') return refusals.bareLf
  if (content.byteError === 'nul') return refusals.nul
  return content.sizeExceeded ? refusals.tooLarge : null
}

function isFull(error: unknown): boolean {
  return error instanceof SpoolFull || isDiskFull(error)
}

/** No memory came in time, or too many messages of the source wait for it. */
function noTurn(error: unknown): null {
  if (error instanceof MemoryExhausted) return null
  throw error
}
