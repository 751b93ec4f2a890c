// Mail to mailboxes of this appliance: stored like mail that came in by SMTP, without a network between.

import type { Tx } from '../../db/db.ts'
import { judgeMail } from '../../directory/filter-policy.ts'
import type { FilterDecision } from '../../directory/filters.ts'
import { recordReceived } from '../../events/received.ts'
import type { Ruling } from '../../sieve/outcome.ts'
import type { ArrivedMail, Delivered, DeliverTarget } from '../../store/deliver.ts'
import { scriptCalls } from '../../store/script-calls.ts'
import { inspectOwn } from '../../workers/read-message.ts'
import type { OutboundParts } from '../deps.ts'
import type { VacationReplies } from '../vacation-replies.ts'
import { logRow, type Told } from './local/log-row.ts'
import { findRecipient, type Recipient, type Refusal, refusals } from './local/recipients.ts'
import { ownReply } from './smtp/reply.ts'
import type { Answered, CheckResult, LocalHandover, LocalTransport, Verdict } from './transport.ts'

/** Received fields from which a mail is taken to loop; RFC 5321 6.3 asks for at least 100. */
export const RECEIVED_MAX = 100

type Parts = Pick<OutboundParts, 'db' | 'clock' | 'log' | 'config' | 'directory' | 'store' | 'outbox'> & {
  vacationReplies: Pick<VacationReplies, 'note'>
}

/** Recipients may be at several domains, all of which receive here. */
export function openLocal(parts: Parts): LocalTransport {
  return new Local(parts)
}

class Local implements LocalTransport {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async hand(handover: LocalHandover): Promise<Answered & { isRecorded: boolean }> {
    try {
      return { ...(await this.#deliver(handover)), isRecorded: true }
    } catch (error) {
      const { emailId, recipients } = handover
      this.#parts.log.error({ err: error, email: emailId }, 'a mail to mailboxes of the appliance could not be stored')
      return { ...this.#answered(recipients.map(() => refusals.failed().verdict)), isRecorded: false }
    }
  }

  /** There is nothing to sign in to. */
  async check(): Promise<CheckResult> {
    const message = 'The mailboxes are on this appliance.'
    return { success: true, stage: 'data', smtpCode: null, message }
  }

  async close(): Promise<void> {}

  /** Stores the copies and what became of the deliveries in one unit of work. */
  async #deliver(handover: LocalHandover): Promise<Answered> {
    const found: Recipient[] = []
    for (const rcptTo of handover.recipients) found.push(await findRecipient(this.#parts, rcptTo))
    const mail = await this.#arrive(handover, found)
    const all: Told[] = []
    for (const [index, recipient] of found.entries()) {
      all.push(await this.#judge(recipient, mail, mail.inspection.rulings[index] ?? null))
    }
    const takers = all.filter(({ recipient }) => recipient.refusal === null)
    const taken = takers.map(({ recipient }) => recipient)
    const targets = takers.map(({ recipient, ruling }) => ({ ...targetOf(recipient, mail), ruling }))
    const { db, store, vacationReplies } = this.#parts
    const note = async (tx: Tx, delivered: readonly Delivered[]) => {
      const told = settled(all, delivered)
      await store.inboundLog.appendMany(tx, this.#rows(mail, told))
      // Decisions §9.4: what the appliance writes by itself is no event.
      if (mail.mailFrom !== '') await this.#tell(tx, mail, taken, targets, delivered)
      const copies = delivered.map((copy, index) => ({ mail, target: targets[index]!, delivered: copy }))
      await vacationReplies.note(tx, copies)
      await handover.record(tx, this.#answered(verdictsOf(told)))
    }
    if (targets.length === 0) await db.write((tx) => note(tx, []))
    const delivered = targets.length === 0 ? [] : await store.deliver(mail, targets, note)
    return this.#answered(verdictsOf(settled(all, delivered)))
  }

  #answered(verdicts: readonly Verdict[]): Answered {
    return { kind: 'answered', verdicts, confirmation: 'local', remoteIds: [], peer: this.#parts.config.MAIL_HOSTS[0]! }
  }

  async #tell(
    tx: Tx,
    mail: ArrivedMail,
    taken: readonly Recipient[],
    targets: readonly DeliverTarget[],
    delivered: readonly Delivered[],
  ): Promise<void> {
    for (const [index, copy] of delivered.entries()) {
      const { teamId, domainId } = taken[index]!.mailbox!
      const target = { ...targets[index]!, junk: copy.junk }
      await recordReceived(tx, this.#parts.outbox, { teamId, domainId, mail, target, delivered: copy })
    }
  }

  async #arrive(
    { bytes, mailFrom, recipients, emailId }: LocalHandover,
    found: readonly Recipient[],
  ): Promise<ArrivedMail> {
    const { clock, config } = this.#parts
    const receivedAt = clock.now()
    const rcptTo = recipients.length === 1 ? recipients[0]! : null
    const readers = found.map(({ mailbox, rcptTo: to }) => ({
      mailbox: mailbox ?? { id: '', scriptKey: null },
      rcptTo: to,
    }))
    const scripts = await scriptCalls(this.#parts, readers)
    const own = { mailFrom, hostName: config.MAIL_HOSTS[0]!, queueId: emailId, rcptTo, receivedAt, scripts }
    return { inspection: inspectOwn(bytes, own), mailFrom, receivedAt, emailId }
  }

  async #judge(recipient: Recipient, mail: ArrivedMail, ruling: Ruling | null): Promise<Told> {
    const { mailbox, policy } = recipient
    const told = (refusal: Refusal | null, filter: FilterDecision | null = null): Told => ({
      recipient: { ...recipient, refusal },
      copy: null,
      filter,
      ruling,
    })
    if (recipient.refusal !== null || mailbox === null || policy === null) return told(recipient.refusal)
    const { verdict, mail: read, traits, sizeBytes } = mail.inspection
    // Our own field is counted too.
    if (traits.receivedCount - 1 > RECEIVED_MAX) return told(refusals.loop(recipient.rcptTo))
    const filter = judgeMail(policy, mail.mailFrom, read, verdict)
    if (!filter.accept) return told(refusals.filtered(recipient.rcptTo), filter)
    const fullSince = await this.#parts.store.accounts.fullSince(mailbox.id, mailbox.quotaBytes, sizeBytes)
    return told(fullSince === null ? null : refusals.full(recipient.rcptTo), filter)
  }

  #rows(mail: ArrivedMail, all: readonly Told[]) {
    const now = this.#parts.clock.now()
    return all.map((told) => logRow(mail, told, now)).filter((row) => row !== null)
  }
}

/** What became of everybody. @param delivered the copies of those who were not refused */
function settled(all: readonly Told[], delivered: readonly Delivered[]): Told[] {
  const copies = delivered.values()
  return all.map((told) => {
    const copy = told.recipient.refusal === null ? copies.next().value! : null
    // Another mail was faster, and took the last room.
    const refusal = copy?.outcome === 'full' ? refusals.full(copy.rcptTo) : told.recipient.refusal
    return { ...told, recipient: { ...told.recipient, refusal }, copy }
  })
}

function verdictsOf(told: readonly Told[]): Verdict[] {
  return told.map(({ recipient }) => recipient.refusal?.verdict ?? stored(recipient.rcptTo))
}

function targetOf({ mailbox, rcptTo }: Recipient, { inspection }: ArrivedMail): DeliverTarget {
  const { spf, dkim, dmarc, arc, fromAligned, spfReason } = inspection.verdict
  const { id, email, quotaBytes } = mailbox!
  return {
    mailboxId: id,
    rcptTo,
    email,
    quotaBytes,
    junk: false,
    authentication: { spf, dkim, dmarc, arc, fromAligned, reasons: [spfReason] },
    // Whoever sends here has signed in: nothing is held against the mail.
    spam: { score: 0, isSpam: false, reasons: [] },
  }
}

function stored(rcptTo: string): Verdict {
  return { kind: 'sent', reply: ownReply(`Stored in the mailbox ${rcptTo}.`, '2.1.5') }
}
