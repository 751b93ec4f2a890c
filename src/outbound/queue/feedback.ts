// Applies bounce and complaint reports to the deliveries they are about.

import { getDomain } from 'tldts'
import type { Tx } from '../../db/db.ts'
import { domainOf } from '../../mime/address.ts'
import { classifyReply } from '../../reports/reply-class.ts'
import type { BounceReport, ComplaintReport, Report, ReportedRecipient } from '../../reports/report.ts'
import { type Emails, messageOfKey } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { type BounceKey, readBounceAddress } from '../model/envelope-sender.ts'
import type { Delivery, Email, Outcome } from '../model/records.ts'
import type { DeliveryTransitions } from './delivery-transitions.ts'

/** A received report. */
interface ArrivedReport {
  report: Report
  /** What the bounce address that received it belongs to; null when the feedback address or a mailbox received it. */
  key: BounceKey | null
  /** Domain of its From field when it is authenticated; null when it is not. */
  voucher: string | null
  /** ms */
  receivedAt: number
  /** The mailbox it was delivered to: it counts only for messages that were sent from it. Not set at a report address. */
  reader?: SenderMailbox
}

/** A mailbox that senders use as the envelope sender. */
interface SenderMailbox {
  id: string
  teamId: string
  /** Its address, and the address the report was sent to. */
  addresses: readonly string[]
}

/** The result of applying a report. */
export interface Applied {
  /** The message it is about; null when it is unknown or the report cannot be trusted. */
  email: Email | null
  /** Number of deliveries it changed. */
  moved: number
  /** One sentence for the log. */
  detail: string
}

interface Deps extends Pick<OutboundDeps, 'db' | 'vault' | 'config' | 'store'> {
  emails: Pick<Emails, 'byN' | 'byId' | 'byMessageId' | 'byRemoteId' | 'deliveriesOf' | 'deliveriesByN'>
  transitions: Pick<DeliveryTransitions, 'apply'>
}

/** A message, and its deliveries that the report may change. */
interface Subject {
  email: Email
  all: readonly Delivery[]
  open: readonly Delivery[]
  /** The delivery that the report is about even when it names another address, or none; null when there may be several. */
  own: Delivery | null
}

interface ReportedOutcome {
  delivery: Delivery
  outcome: Outcome
}

/** Feedback types of RFC 6591 and similar: they report a failed check, not a complaint. */
const NO_COMPLAINT = new Set(['auth-failure', 'dmarc', 'dkim', 'spf'])

export class Feedback {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Applies a report to the recipients of the message it is about, in one unit of work.
   *
   * Reports can be forged. A report is trusted for the delivery whose VERP address it contains, because only the recipient has seen that
   * address. For other deliveries it counts where it is authenticated, and the recipient is at the authenticated domain: a Message-ID proves
   * nothing, because messages are forwarded and archived, and an address of earlier versions was shown to all recipients of its message.
   * @param also further writes of the same unit of work
   */
  async receive(arrived: ArrivedReport, also: (tx: Tx, applied: Applied) => void = () => {}): Promise<Applied> {
    const subject = this.#find(arrived)
    if (subject === null) return { email: null, moved: 0, detail: 'The report is about an unknown message' }
    const verdicts = verdictsOf(arrived, subject)
    return this.#deps.db.write((tx) => {
      let moved = 0
      for (const { delivery, outcome } of verdicts) {
        if (this.#deps.transitions.apply(tx, delivery.n, outcome, null)) moved++
      }
      const applied = { email: subject.email, moved, detail: detailOf(arrived.report, verdicts.length, moved) }
      also(tx, applied)
      return applied
    })
  }

  #find(arrived: ArrivedReport): Subject | null {
    const subject = this.#findNamed(arrived)
    const isForeign = subject !== null && arrived.reader !== undefined && !isSentFrom(subject.email, arrived.reader)
    return isForeign ? null : subject
  }

  #findNamed({ report, key, voucher, reader }: ArrivedReport): Subject | null {
    const { emails } = this.#deps
    const { original } = report
    const known = key ?? this.#readAddress(original.returnPath)
    const proven = known === null ? null : this.#provenBy(known, voucher)
    if (proven !== null) return proven
    if (voucher === null || original.messageId === null) return null
    const { messageId } = original
    const named = emails.byMessageId(messageId) ?? this.#submittedBy(reader, messageId) ?? emails.byRemoteId(messageId)
    return named ? this.#subjectOf(named, voucher, () => false) : null
  }

  /** The message of a bounce address, and the delivery that the address speaks for; null when it is no longer stored. */
  #provenBy(key: BounceKey, voucher: string | null): Subject | null {
    const email = messageOfKey(this.#deps.emails, key)
    if (email === undefined) return null
    const { of, n } = key
    return this.#subjectOf(email, voucher, (delivery, all) => (of === 'message' ? all.length === 1 : delivery.n === n))
  }

  /** @param isProven whether the report speaks for a delivery, authenticated or not */
  #subjectOf(
    email: Email,
    voucher: string | null,
    isProven: (delivery: Delivery, all: readonly Delivery[]) => boolean,
  ): Subject {
    const all = this.#deps.emails.deliveriesOf(email.n)
    const proven = all.find((delivery) => isProven(delivery, all))
    const open = all.filter((delivery) => delivery === proven || (voucher !== null && speaksFor(voucher, delivery.to)))
    const only = all.length === 1 ? open[0] : undefined
    return { email, all, open, own: proven ?? only ?? null }
  }

  /** A mail program chooses the Message-ID itself: it identifies a message of its mailbox only. */
  #submittedBy(reader: SenderMailbox | undefined, internetMessageId: string): Email | undefined {
    const { store, emails, db } = this.#deps
    const account = reader && store.accounts.byMailbox(reader.id)
    const submission =
      account && store.sending.submissions.byInternetId(db.read, account, { internetMessageId, since: 0 })
    return submission && emails.byId(submission.emailId)
  }

  #readAddress(address: string | null): BounceKey | null {
    return address === null ? null : readBounceAddress(this.#deps.vault, this.#deps.config, address)
  }
}

function isSentFrom({ teamId, mailboxId, from, returnPath }: Email, reader: SenderMailbox): boolean {
  if (teamId !== reader.teamId) return false
  const own = new Set(reader.addresses.map(plain))
  return mailboxId === reader.id || own.has(plain(from.email)) || (returnPath !== null && own.has(plain(returnPath)))
}

/** True when the address and the authenticated domain have the same registered (organizational) domain. */
function speaksFor(voucher: string, address: string): boolean {
  const domain = domainOf(address)
  const registered = getDomain(domain, { allowPrivateDomains: true }) ?? domain
  return registered === (getDomain(voucher, { allowPrivateDomains: true }) ?? voucher)
}

function verdictsOf({ report, receivedAt }: ArrivedReport, subject: Subject): ReportedOutcome[] {
  return report.kind === 'bounce' ? bounces(report, subject, receivedAt) : complaints(report, subject, receivedAt)
}

/** Delays and successes change nothing: the server that accepted the message reports a final failure (RFC 5321 §6.1). */
function bounces(report: BounceReport, subject: Subject, receivedAt: number): ReportedOutcome[] {
  const failed = report.recipients.filter(({ action }) => action === 'failed')
  return failed.flatMap((recipient) => {
    const { finalRecipient, originalRecipient } = recipient
    const named = findDelivery(subject.open, [originalRecipient, finalRecipient])
    if (named) return [{ delivery: named, outcome: bounceOf(recipient, report, receivedAt, null) }]
    // It names another recipient of the message, for whom it does not speak.
    if (subject.own === null || findDelivery(subject.all, [originalRecipient, finalRecipient])) return []
    // It names another address: the recipient forwards their mail, and the forwarded message bounced.
    return [{ delivery: subject.own, outcome: bounceOf(recipient, report, receivedAt, finalRecipient) }]
  })
}

function bounceOf(
  recipient: ReportedRecipient,
  report: BounceReport,
  receivedAt: number,
  forwardedTo: string | null,
): Outcome {
  const { smtpCode, status, diagnostic, stage, remoteMta, lastAttemptAt } = recipient
  const said = diagnostic === '' ? 'The report gives no reason' : diagnostic
  const host = remoteMta ?? report.reportingMta
  const server = host === null ? {} : { server: { host, address: null } }
  const reply = { smtpCode, enhancedCode: status, text: said, ...server }
  const { type, subType } = classifyReply(reply, stage)
  const shown = forwardedTo === null ? reply : { ...reply, text: `${said} (forwarded to ${forwardedTo})` }
  return {
    kind: 'bounced',
    reply: shown,
    // A failure at the forwarding target does not suppress the original recipient.
    type: forwardedTo === null ? type : 'undetermined',
    subType,
    reportingMta: report.reportingMta ?? remoteMta,
    afterAccept: true,
    occurredAt: Math.min(lastAttemptAt ?? receivedAt, receivedAt),
  }
}

function complaints(report: ComplaintReport, subject: Subject, receivedAt: number): ReportedOutcome[] {
  if (NO_COMPLAINT.has(report.feedbackWord)) return []
  const named = report.originalRecipients.map((email) => findDelivery(subject.open, [email]))
  // A report that redacts the recipient (RFC 6590) is about the delivery whose address it carries, or about the only one it may change.
  const sole = subject.open.length === 1 ? subject.open[0] : undefined
  const only = report.originalRecipients.length === 0 ? (subject.own ?? sole) : undefined
  const found = new Set([...named, only].filter((delivery) => delivery !== undefined))
  const outcome: Outcome = {
    kind: 'complained',
    feedbackType: report.feedbackType,
    userAgent: report.userAgent,
    occurredAt: Math.min(report.arrivedAt ?? receivedAt, receivedAt),
  }
  return [...found].map((delivery) => ({ delivery, outcome }))
}

function findDelivery(deliveries: readonly Delivery[], addresses: readonly (string | null)[]): Delivery | undefined {
  const wanted = new Set(addresses.filter((address) => address !== null).map(plain))
  return deliveries.find(({ to }) => wanted.has(plain(to)))
}

/** Normalizes an address, because servers change its case and quoting in transit. */
function plain(address: string): string {
  return address.normalize('NFC').toLowerCase().replace(/["\\]/g, '')
}

function detailOf({ kind }: Report, named: number, moved: number): string {
  if (named === 0)
    return `The ${kind === 'bounce' ? 'report' : 'complaint'} names no recipient whose delivery it could change`
  const what = kind === 'bounce' ? 'a bounce' : 'a complaint'
  return moved === 0
    ? `The report repeats ${what} that was known`
    : `The report recorded ${what} for ${moved} of its recipients`
}
