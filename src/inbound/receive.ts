// Receives one message: from the first byte of DATA to the reply after its end (spool, inspect, decide, store, log).

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { LARGE_FROM_BYTES, MemoryExhausted, MemoryShares } from '../base/memory-shares.ts'
import { isDiskFull } from '../base/storage-error.ts'
import type { Config } from '../config/config.ts'
import type { Directory } from '../directory/directory.ts'
import { isUnlisted } from '../directory/mailboxes/receiver.ts'
import { domainName } from '../directory/names/domain-name.ts'
import { domainOf } from '../mime/address.ts'
import { sourceOf } from '../net/connections.ts'
import type { MessageStream } from '../smtp/command-reader.ts'
import { IN_FLIGHT_BYTES, IN_FLIGHT_MIN_BYTES, IN_FLIGHT_SOURCES, MAX_QUEUED } from '../smtp/limits.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { type Spool, type SpooledMessage, SpoolFull } from '../smtp/spool.ts'
import type { Fact } from '../spam/catalog.ts'
import type { InboundReason } from '../store/log/inbound-log.ts'
import { scriptCalls } from '../store/mailbox/script-calls.ts'
import type { Accounts } from '../store/rows/accounts.ts'
import type { Folders } from '../store/rows/folders.ts'
import type { StoreSpam } from '../store/store.ts'
import type { Inspection, InspectionRequest } from '../workers/inspection.ts'
import type { Inspector } from '../workers/inspector.ts'
import type { Blocklists } from './blocklists.ts'
import { decide } from './decision.ts'
import type { FilterDaemons } from './filter-daemons.ts'
import {
  type Decided,
  type Envelope,
  type Inspected,
  type LoggedMessage,
  type Received,
  withDecision,
} from './received-message.ts'
import type { Recipients } from './recipients.ts'
import { refusals, type SmtpRefusal } from './refusals.ts'
import type { SourceThrottle } from './source-throttle.ts'
import { withSpamFields } from './spam-fields.ts'
import { domainsOf, spamKnowledge } from './spam-knowledge.ts'
import type { SplitRecipients } from './split-recipients.ts'
import type { MailTransaction, Peer } from './transaction.ts'
import type { ReceiveWriter } from './writer-calls.ts'

/** Memory per byte of a small message in progress: as received, as stored, and during inspection. */
const COPIES = 3
/** Refusal reasons that count against the source of the message. */
const OFFENSIVE: ReadonlySet<InboundReason> = new Set(['bad_bytes', 'dmarc_reject', 'spam'])

/** From addresses whose domains are compared with those of this appliance. */
const AUTHORS_MAX = 20

/** How far a message got, and why it is refused there; no refusal once it is stored durably, or has been dealt with otherwise. */
interface Outcome {
  message: LoggedMessage
  refusal: SmtpRefusal | null
}

/** What receiving a message needs, in whichever thread. */
export interface ReceivingDeps {
  config: Config
  clock: Clock
  log: Log
  directory: Pick<Directory, 'domains' | 'mailboxes' | 'filters' | 'sieveScripts'>
  store: { accounts: Accounts; read: { folders: Folders }; spam: Pick<StoreSpam, 'acquaintances' | 'models'> }
  /** See `slotsOf`. */
  spamKey: number
  inspector: Pick<Inspector, 'inspect'>
  writer: ReceiveWriter
}

interface Deps extends ReceivingDeps {
  spool: Spool
  recipients: Recipients
  blocklists: Pick<Blocklists, 'ask'>
  daemons: Pick<FilterDaemons, 'ask'>
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
    const outcome = await this.#process(content, { ...transaction, peer })
    // The client disconnected before the end of DATA: no reply is expected.
    if (outcome === null) return replies.closing
    const { message, refusal } = outcome
    this.#updateThrottle(message, refusal)
    if (refusal === null) return replies.queued(transaction.queueId)
    await this.#deps.writer.noteRefusedMessage(message, refusal)
    return refusal.reply
  }

  /** Counts only what the message itself caused: neither local failures nor filters of recipients. */
  #updateThrottle({ peer, decision }: LoggedMessage, refusal: SmtpRefusal | null): void {
    const { throttle } = this.#deps
    if (refusal === null) {
      // Reports, and messages dropped at their well-known addresses, were not evaluated: they earn no credit.
      if (decision?.junk === false) throttle.accepted(peer.address)
    } else if (refusal.reply.code >= 500 && refusal.reason !== null && OFFENSIVE.has(refusal.reason)) {
      throttle.offended(peer.address, 'refused_message')
    }
  }

  /** @returns null when the content did not arrive completely */
  async #process(content: MessageStream, envelope: Envelope): Promise<Outcome | null> {
    const { clock, spool } = this.#deps
    const received = (): Received => ({ ...envelope, receivedAt: clock.now(), sizeBytes: content.byteLength })
    try {
      const spooled = await spool.receive(content, sourceOf(envelope.peer.address))
      return await this.#inspect(content, received(), spooled).finally(() => this.#release(spooled))
    } catch (error) {
      if (!content.readableEnded) return null
      // A defect of the message takes precedence over a local failure.
      const defect = this.#defectOf(content, envelope.peer)
      if (defect !== null) return { message: received(), refusal: defect }
      return { message: envelope, refusal: this.#refusalFor(error, envelope) }
    }
  }

  #inspect(content: MessageStream, message: Received, spooled: SpooledMessage): Promise<Outcome> {
    return this.#guard(message, async () => {
      const defect = this.#defectOf(content, message.peer)
      if (defect !== null) return { message, refusal: defect }
      return await this.#withMemory(spooled, message, async () => {
        const { inspector, daemons } = this.#deps
        const request = await this.#inspectionRequest(message)
        const asked = daemons.ask(spooled.source, message)
        const inspection = await inspector.inspect(spooled.source, request)
        return this.#dispose({ ...message, inspection }, asked)
      })
    })
  }

  /** Does what follows for a message in this state; when that fails, the message is refused in this state. */
  async #guard(message: LoggedMessage, work: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await work()
    } catch (error) {
      return { message, refusal: this.#refusalFor(error, message) }
    }
  }

  /** A leftover file is removed at the next start; the reply does not depend on it. */
  async #release(spooled: SpooledMessage): Promise<void> {
    try {
      await spooled.release()
    } catch (error) {
      this.#deps.log.warn({ event: 'smtp.spool_cleanup_failed', err: error }, 'Spool file could not be removed')
    }
  }

  #defectOf(content: MessageStream, peer: Peer): SmtpRefusal | null {
    if (content.byteError !== null) this.#deps.writer.noteLineError(content.byteError, peer)
    return checkBytes(content)
  }

  /** Large messages share the memory of the process by their sources, small ones that of this thread: they do not wait for each other. */
  async #withMemory({ sizeBytes }: SpooledMessage, message: Received, work: () => Promise<Outcome>): Promise<Outcome> {
    const { writer, share } = this.#deps
    const source = sourceOf(message.peer.address)
    if (sizeBytes < LARGE_FROM_BYTES) {
      if (this.#inFlight.waiting >= MAX_QUEUED * share) return { message, refusal: refusals.busy }
      const weight = Math.max(sizeBytes * COPIES, IN_FLIGHT_MIN_BYTES)
      const turn = await this.#inFlight.acquire(weight, source).catch(noTurn)
      if (turn === null) return { message, refusal: refusals.busy }
      return work().finally(turn)
    }
    const reservation = await writer.reserve(sizeBytes, source)
    if (reservation === null) return { message, refusal: refusals.noMemory }
    return work().finally(() => writer.release(reservation))
  }

  /** @param asked answers of filter daemons, which may still be on their way */
  #dispose(message: Inspected, asked: Promise<Fact[]>): Promise<Outcome> {
    return this.#guard(message, async () => {
      const { report, sender, inspection } = message
      if (report === null) return this.#deliver(message, asked)
      if (inspection.report !== null) {
        await this.#deps.writer.applyReport({ ...message, report })
        return { message, refusal: null }
      }
      const { autoSubmitted, wantsNoAnswer } = inspection.traits
      if (report.reader === null) {
        if (report.deferral !== null) return { message, refusal: report.deferral }
        const isAutomatic = sender.address === '' || autoSubmitted || wantsNoAnswer
        return isAutomatic ? this.#discard(message, refusals.noReport) : { message, refusal: refusals.noReport }
      }
      // RFC 3834 §4: auto-replies go to the envelope sender, here the bounce address of the message; its mailbox gets them.
      const outcome = await this.#deliver({ ...message, recipients: [report.reader] }, asked)
      const { refusal } = outcome
      const isFinal = refusal !== null && refusal.reply.code >= 500
      return isFinal && sender.address === '' ? this.#discard(outcome.message, refusal) : outcome
    })
  }

  /** Accepts and discards a message whose refusal could not be delivered: the bounce would stay in the other server's queue. */
  #discard(message: LoggedMessage, why: SmtpRefusal): Promise<Outcome> {
    return this.#guard(message, async () => {
      await this.#deps.writer.noteDropped(message, why)
      return { message, refusal: null }
    })
  }

  #deliver(inspected: Inspected, asked: Promise<Fact[]>): Promise<Outcome> {
    return this.#guard(inspected, async () => {
      const namesOwnDomain = this.#namesOwnDomain(inspected.inspection)
      const { blocklists } = this.#deps
      const listed = blocklists.ask(inspected.peer.address, domainsOf(inspected.inspection))
      const knowledge = spamKnowledge(this.#deps, inspected, (await Promise.all([listed, asked])).flat())
      const decision = decide(inspected, { config: this.#deps.config, namesOwnDomain, knowledge })
      const { shared: score, junk: isSpam } = decision
      const inspection = withSpamFields(inspected.inspection, { score, isSpam })
      const message = withDecision({ ...inspected, inspection }, decision)
      return this.#guard(message, async () => ({ message, refusal: await this.#store(message) }))
    })
  }

  /** @returns why the message is refused, or null once it is stored durably */
  async #store(message: Decided): Promise<SmtpRefusal | null> {
    const { splitRecipients, writer } = this.#deps
    const { decision, recipients, report, sender, inspection } = message
    if (decision.isSplit) splitRecipients.note(sender.address)
    if (decision.refusal) return decision.refusal
    const noRoom = await this.#checkQuotas(message)
    if (noRoom) return noRoom
    // Before the message is stored: after a failure in between, the client sends it again.
    if (report === null && inspection.report) await writer.applyDeliveredReport(message)
    const outcome = await writer.deliver(message)
    if (outcome === 'stored') return null
    if (outcome === 'inactive') return refusals.failure
    return recipients.length > 1 ? refusals.oneFull : refusals.full
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
  async #checkQuotas({ recipients, sender, sizeBytes }: Received): Promise<SmtpRefusal | null> {
    for (const { mailbox } of recipients) {
      const full = await this.#deps.recipients.checkQuota(mailbox, sizeBytes)
      if (!full) continue
      if (recipients.length === 1) return full
      // One reply for all recipients: the client retries, and RCPT rejects the full mailbox then, so the others get their copies.
      return sizeBytes > (sender.declaredBytes ?? sizeBytes) ? refusals.largerThanDeclared : refusals.failure
    }
    return null
  }

  async #inspectionRequest(message: Received): Promise<InspectionRequest> {
    const { report, recipients, sender, peer, receivedAt, queueId } = message
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
      queueId,
      rcptTo: first && others.length === 0 ? first.rcptTo : null,
      deliveredTo:
        report === null && recipients.length === 1 && isUnlisted(recipients[0]!.step) ? recipients[0]!.rcptTo : null,
      // RFC 3464 §2: reports have the null sender. Mailboxes get bounces too: they can be the envelope sender of an account.
      isForReports: report !== null || (sender.address === '' && recipients.length === 1),
      scripts: await scriptCalls(this.#deps, readers),
      spamKey: this.#deps.spamKey,
    }
  }

  #refusalFor(error: unknown, { queueId }: LoggedMessage): SmtpRefusal {
    this.#deps.log.error({ event: 'smtp.receive_failed', err: error, queueId }, 'Message could not be received')
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
