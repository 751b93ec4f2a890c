// Delivery to mailboxes of this appliance: stores messages like those received over SMTP, but without a connection.

import { freeBytes } from '../../../base/free-bytes.ts'
import type { Tx } from '../../../db/db.ts'
import { evaluateMessage } from '../../../directory/domains/filter-policy.ts'
import type { FilterDecision } from '../../../directory/domains/filters.ts'
import { recordReceived } from '../../../events/received.ts'
import { bytesOf } from '../../../mime/chunks.ts'
import { rejectionOf, type SieveOutcome } from '../../../sieve/outcome.ts'
import { LEAST_SPAM } from '../../../sieve/spam-level.ts'
import {
  type DeliveryResult,
  type DeliveryTarget,
  type IncomingMessage,
  messageOf,
} from '../../../store/mailbox/delivery.ts'
import { scriptCalls } from '../../../store/mailbox/script-calls.ts'
import { inspectChanged, inspectForwarded, inspectOwn } from '../../../workers/read-message.ts'
import type { OutboundDeps } from '../../model/deps.ts'
import type { Answered, CheckResult, LocalHandover, LocalTransport, Verdict } from '../../model/transport.ts'
import type { NotificationMessages } from '../../notices/notification-messages.ts'
import type { VacationReplies } from '../../notices/vacation-replies.ts'
import type { ReceivedDelivery } from '../../receive/deliver-received.ts'
import { ownReply } from '../smtp/reply.ts'
import { logRow, type RecipientResult } from './log-row.ts'
import { findRecipient, type LocalRecipient, type LocalRefusal, refusals } from './recipients.ts'

/** Number of Received fields above which a message counts as looping; RFC 5321 §6.3 requires at least 100. */
export const RECEIVED_MAX = 100

type Deps = Pick<OutboundDeps, 'db' | 'memory' | 'clock' | 'log' | 'config' | 'directory' | 'store' | 'outbox'> & {
  vacationReplies: Pick<VacationReplies, 'note'>
  notifications: Pick<NotificationMessages, 'note'>
  receive: Pick<ReceivedDelivery, 'deliver'>
}

/** The recipients may have different domains, all of them local. */
export function openLocal(deps: Deps): LocalTransport {
  return new Local(deps)
}

class Local implements LocalTransport {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async hand(handover: LocalHandover): Promise<Answered & { isRecorded: boolean }> {
    try {
      const { bytes, from } = handover
      const answered = await this.#deps.memory.during(bytes.length, from, () => this.#deliver(handover))
      return { ...answered, isRecorded: true }
    } catch (error) {
      const { emailId, recipients } = handover
      this.#deps.log.error(
        { event: 'local.store_failed', err: error, email: emailId },
        'Local delivery not stored; will retry',
      )
      return { ...this.#answered(recipients.map(() => refusals.failed().verdict)), isRecorded: false }
    }
  }

  /** Always succeeds: there is no server to authenticate to. */
  async check(): Promise<CheckResult> {
    const message = 'The mailboxes are on this appliance.'
    return { success: true, stage: 'data', smtpCode: null, message }
  }

  async close(): Promise<void> {}

  async #deliver(handover: LocalHandover): Promise<Answered> {
    const recipients: LocalRecipient[] = []
    for (const rcptTo of handover.recipients) recipients.push(await findRecipient(this.#deps, rcptTo))
    const message = await this.#inspect(handover, recipients)
    return this.#store(handover, recipients, message).finally(() => {
      const { inspection } = message
      freeBytes(bytesOf(inspection, ...(inspection.edited ?? [])), [handover.bytes])
    })
  }

  /** Stores the copies and the outcomes of the deliveries in one unit of work. */
  async #store(
    handover: LocalHandover,
    recipients: readonly LocalRecipient[],
    message: IncomingMessage,
  ): Promise<Answered> {
    const all: RecipientResult[] = []
    for (const [index, recipient] of recipients.entries()) {
      all.push(await this.#evaluate(recipient, message, message.inspection.scriptOutcomes[index] ?? null))
    }
    const accepted = all.filter(({ recipient }) => recipient.refusal === null)
    const stored = accepted.map(({ recipient }) => recipient)
    const targets = accepted.map(({ recipient, scriptOutcome }) => ({ ...targetOf(recipient, message), scriptOutcome }))
    const { db, store, vacationReplies, notifications, receive } = this.#deps
    const record = (tx: Tx, delivered: readonly DeliveryResult[]): Answered => {
      const results = withCopies(all, delivered)
      store.log.inbound.appendMany(tx, this.#rows(message, results))
      // docs/design/events.md §4: messages the appliance generates itself (null sender) raise no event.
      if (message.mailFrom !== '') this.#recordEvents(tx, message, stored, targets, delivered)
      const copies = delivered.map((copy, index) => ({ message, target: targets[index]!, delivered: copy }))
      vacationReplies.note(tx, copies)
      notifications.note(tx, copies)
      const answered = this.#answered(verdictsOf(results))
      handover.record(tx, answered)
      return answered
    }
    if (targets.length === 0) return db.write((tx) => record(tx, []))
    return receive.deliver(message, targets, record)
  }

  #answered(verdicts: readonly Verdict[]): Answered {
    return { kind: 'answered', verdicts, confirmation: 'local', remoteIds: [], peer: this.#deps.config.MAIL_HOSTS[0]! }
  }

  #recordEvents(
    tx: Tx,
    message: IncomingMessage,
    stored: readonly LocalRecipient[],
    targets: readonly DeliveryTarget[],
    delivered: readonly DeliveryResult[],
  ): void {
    for (const [index, copy] of delivered.entries()) {
      const { teamId, domainId } = stored[index]!.mailbox!
      const target = { ...targets[index]!, junk: copy.junk }
      recordReceived(tx, this.#deps.outbox, {
        teamId,
        domainId,
        message: messageOf(message, copy),
        target,
        delivered: copy,
      })
    }
  }

  async #inspect(
    { bytes, from: author, mailFrom, recipients, emailId, isForwarded, isChanged }: LocalHandover,
    resolved: readonly LocalRecipient[],
  ): Promise<IncomingMessage> {
    const { clock, config } = this.#deps
    const receivedAt = clock.now()
    const rcptTo = recipients.length === 1 ? recipients[0]! : null
    const readers = resolved.map(({ mailbox, rcptTo: to }) => ({
      mailbox: mailbox ?? { id: '', scriptKey: null },
      rcptTo: to,
    }))
    const scripts = await scriptCalls(this.#deps, readers)
    const own = { mailFrom, hostName: config.MAIL_HOSTS[0]!, queueId: emailId, rcptTo, receivedAt, author, scripts }
    const inspectReceived = isChanged ? inspectChanged : inspectForwarded
    const inspect = isForwarded ? inspectReceived : inspectOwn
    return { inspection: inspect(bytes, own), mailFrom, receivedAt, emailId }
  }

  async #evaluate(
    recipient: LocalRecipient,
    message: IncomingMessage,
    scriptOutcome: SieveOutcome | null,
  ): Promise<RecipientResult> {
    const { mailbox, policy } = recipient
    const resultOf = (refusal: LocalRefusal | null, filter: FilterDecision | null = null): RecipientResult => ({
      recipient: { ...recipient, refusal },
      copy: null,
      filter,
      scriptOutcome,
    })
    if (recipient.refusal !== null || mailbox === null || policy === null) return resultOf(recipient.refusal)
    const { verdict, message: read, traits, sizeBytes } = message.inspection
    // The count includes the Received field added here.
    if (traits.receivedCount - 1 > RECEIVED_MAX) return resultOf(refusals.loop(recipient.rcptTo))
    const filter = evaluateMessage(policy, message.mailFrom, read, verdict)
    if (!filter.accept) return resultOf(refusals.filtered(recipient.rcptTo), filter)
    const rejection = rejectionOf(scriptOutcome, LEAST_SPAM)
    if (rejection !== null) return resultOf(refusals.byScript(rejection), filter)
    const fullSince = await this.#deps.store.accounts.fullSince(mailbox.id, mailbox.quotaBytes, sizeBytes)
    return resultOf(fullSince === null ? null : refusals.full(recipient.rcptTo), filter)
  }

  #rows(message: IncomingMessage, all: readonly RecipientResult[]) {
    const now = this.#deps.clock.now()
    return all.map((result) => logRow(message, result, now)).filter((row) => row !== null)
  }
}

/** The outcome for each recipient. @param delivered the copies of the recipients that were not refused */
function withCopies(all: readonly RecipientResult[], delivered: readonly DeliveryResult[]): RecipientResult[] {
  const copies = delivered.values()
  return all.map((result) => {
    const copy = result.recipient.refusal === null ? copies.next().value! : null
    // A concurrent delivery used up the quota.
    const refusal = copy?.outcome === 'full' ? refusals.full(copy.rcptTo) : result.recipient.refusal
    return { ...result, recipient: { ...result.recipient, refusal }, copy }
  })
}

function verdictsOf(results: readonly RecipientResult[]): Verdict[] {
  return results.map(({ recipient }) => recipient.refusal?.verdict ?? stored(recipient.rcptTo))
}

function targetOf({ mailbox, rcptTo, reach }: LocalRecipient, { inspection }: IncomingMessage): DeliveryTarget {
  const { spf, dkim, dmarc, arc, fromAligned, spfReason } = inspection.verdict
  const { id, email, quotaBytes } = mailbox!
  return {
    mailboxId: id,
    rcptTo,
    ...reach!,
    email,
    quotaBytes,
    junk: false,
    authentication: { spf, dkim, dmarc, arc, fromAligned, reasons: [spfReason] },
    // The sender is authenticated, so the message gets no spam score.
    spam: { score: 0, isSpam: false, reasons: [] },
  }
}

function stored(rcptTo: string): Verdict {
  return { kind: 'sent', reply: ownReply(`Stored in the mailbox ${rcptTo}.`, '2.1.5') }
}
