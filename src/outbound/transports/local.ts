// Delivery to mailboxes of this appliance: stores messages like those received over SMTP, but without a connection.

import type { Tx } from '../../db/db.ts'
import { evaluateMessage } from '../../directory/filter-policy.ts'
import type { FilterDecision } from '../../directory/filters.ts'
import { recordReceived } from '../../events/received.ts'
import type { SieveOutcome } from '../../sieve/outcome.ts'
import type { Delivered, DeliverTarget, IncomingMessage } from '../../store/deliver.ts'
import { scriptCalls } from '../../store/script-calls.ts'
import { inspectOwn } from '../../workers/read-message.ts'
import type { OutboundDeps } from '../deps.ts'
import type { VacationReplies } from '../vacation-replies.ts'
import { logRow, type RecipientResult } from './local/log-row.ts'
import { findRecipient, type LocalRecipient, type LocalRefusal, refusals } from './local/recipients.ts'
import { ownReply } from './smtp/reply.ts'
import type { Answered, CheckResult, LocalHandover, LocalTransport, Verdict } from './transport.ts'

/** Number of Received fields above which a message counts as looping; RFC 5321 §6.3 requires at least 100. */
export const RECEIVED_MAX = 100

type Deps = Pick<OutboundDeps, 'db' | 'clock' | 'log' | 'config' | 'directory' | 'store' | 'outbox'> & {
  vacationReplies: Pick<VacationReplies, 'note'>
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
      return { ...(await this.#deliver(handover)), isRecorded: true }
    } catch (error) {
      const { emailId, recipients } = handover
      this.#deps.log.error({ err: error, email: emailId }, 'a mail to mailboxes of the appliance could not be stored')
      return { ...this.#answered(recipients.map(() => refusals.failed().verdict)), isRecorded: false }
    }
  }

  /** Always succeeds: there is no server to authenticate to. */
  async check(): Promise<CheckResult> {
    const message = 'The mailboxes are on this appliance.'
    return { success: true, stage: 'data', smtpCode: null, message }
  }

  async close(): Promise<void> {}

  /** Stores the copies and the outcomes of the deliveries in one unit of work. */
  async #deliver(handover: LocalHandover): Promise<Answered> {
    const found: LocalRecipient[] = []
    for (const rcptTo of handover.recipients) found.push(await findRecipient(this.#deps, rcptTo))
    const mail = await this.#arrive(handover, found)
    const all: RecipientResult[] = []
    for (const [index, recipient] of found.entries()) {
      all.push(await this.#judge(recipient, mail, mail.inspection.scriptOutcomes[index] ?? null))
    }
    const takers = all.filter(({ recipient }) => recipient.refusal === null)
    const taken = takers.map(({ recipient }) => recipient)
    const targets = takers.map(({ recipient, ruling }) => ({ ...targetOf(recipient, mail), ruling }))
    const { db, store, vacationReplies } = this.#deps
    const note = async (tx: Tx, delivered: readonly Delivered[]) => {
      const told = settled(all, delivered)
      await store.inboundLog.appendMany(tx, this.#rows(mail, told))
      // Decisions §9.4: messages the appliance generates itself (null sender) raise no event.
      if (mail.mailFrom !== '') await this.#tell(tx, mail, taken, targets, delivered)
      const copies = delivered.map((copy, index) => ({ message: mail, target: targets[index]!, delivered: copy }))
      await vacationReplies.note(tx, copies)
      await handover.record(tx, this.#answered(verdictsOf(told)))
    }
    if (targets.length === 0) await db.write((tx) => note(tx, []))
    const delivered = targets.length === 0 ? [] : await store.deliver(mail, targets, note)
    return this.#answered(verdictsOf(settled(all, delivered)))
  }

  #answered(verdicts: readonly Verdict[]): Answered {
    return { kind: 'answered', verdicts, confirmation: 'local', remoteIds: [], peer: this.#deps.config.MAIL_HOSTS[0]! }
  }

  async #tell(
    tx: Tx,
    mail: IncomingMessage,
    taken: readonly LocalRecipient[],
    targets: readonly DeliverTarget[],
    delivered: readonly Delivered[],
  ): Promise<void> {
    for (const [index, copy] of delivered.entries()) {
      const { teamId, domainId } = taken[index]!.mailbox!
      const target = { ...targets[index]!, junk: copy.junk }
      await recordReceived(tx, this.#deps.outbox, { teamId, domainId, message: mail, target, delivered: copy })
    }
  }

  async #arrive(
    { bytes, mailFrom, recipients, emailId }: LocalHandover,
    found: readonly LocalRecipient[],
  ): Promise<IncomingMessage> {
    const { clock, config } = this.#deps
    const receivedAt = clock.now()
    const rcptTo = recipients.length === 1 ? recipients[0]! : null
    const readers = found.map(({ mailbox, rcptTo: to }) => ({
      mailbox: mailbox ?? { id: '', scriptKey: null },
      rcptTo: to,
    }))
    const scripts = await scriptCalls(this.#deps, readers)
    const own = { mailFrom, hostName: config.MAIL_HOSTS[0]!, queueId: emailId, rcptTo, receivedAt, scripts }
    return { inspection: inspectOwn(bytes, own), mailFrom, receivedAt, emailId }
  }

  async #judge(
    recipient: LocalRecipient,
    mail: IncomingMessage,
    ruling: SieveOutcome | null,
  ): Promise<RecipientResult> {
    const { mailbox, policy } = recipient
    const told = (refusal: LocalRefusal | null, filter: FilterDecision | null = null): RecipientResult => ({
      recipient: { ...recipient, refusal },
      copy: null,
      filter,
      ruling,
    })
    if (recipient.refusal !== null || mailbox === null || policy === null) return told(recipient.refusal)
    const { verdict, message: read, traits, sizeBytes } = mail.inspection
    // The count includes the Received field added here.
    if (traits.receivedCount - 1 > RECEIVED_MAX) return told(refusals.loop(recipient.rcptTo))
    const filter = evaluateMessage(policy, mail.mailFrom, read, verdict)
    if (!filter.accept) return told(refusals.filtered(recipient.rcptTo), filter)
    const fullSince = await this.#deps.store.accounts.fullSince(mailbox.id, mailbox.quotaBytes, sizeBytes)
    return told(fullSince === null ? null : refusals.full(recipient.rcptTo), filter)
  }

  #rows(mail: IncomingMessage, all: readonly RecipientResult[]) {
    const now = this.#deps.clock.now()
    return all.map((told) => logRow(mail, told, now)).filter((row) => row !== null)
  }
}

/** The outcome for each recipient. @param delivered the copies of the recipients that were not refused */
function settled(all: readonly RecipientResult[], delivered: readonly Delivered[]): RecipientResult[] {
  const copies = delivered.values()
  return all.map((told) => {
    const copy = told.recipient.refusal === null ? copies.next().value! : null
    // A concurrent delivery used up the quota.
    const refusal = copy?.outcome === 'full' ? refusals.full(copy.rcptTo) : told.recipient.refusal
    return { ...told, recipient: { ...told.recipient, refusal }, copy }
  })
}

function verdictsOf(told: readonly RecipientResult[]): Verdict[] {
  return told.map(({ recipient }) => recipient.refusal?.verdict ?? stored(recipient.rcptTo))
}

function targetOf({ mailbox, rcptTo }: LocalRecipient, { inspection }: IncomingMessage): DeliverTarget {
  const { spf, dkim, dmarc, arc, fromAligned, spfReason } = inspection.verdict
  const { id, email, quotaBytes } = mailbox!
  return {
    mailboxId: id,
    rcptTo,
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
