// A received message in its three states (received, inspected, decided), and what of it goes to the thread that writes.

import type { FilterDecision } from '../directory/domains/filters.ts'
import type { SpamScore } from '../spam/score.ts'
import type { DeliveryTarget } from '../store/mailbox/delivery.ts'
import type { MessageSpam } from '../store/rows/records.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { AcceptedRecipient } from './recipients.ts'
import type { SmtpRefusal } from './refusals.ts'
import type { ReportAddress } from './report-address.ts'
import type { MailTransaction, Peer } from './transaction.ts'

/** A message before its content: the transaction and its client. */
export interface Envelope extends MailTransaction {
  readonly peer: Peer
}

/** A message whose content has arrived completely. */
export interface Received extends Envelope {
  /** When the end of DATA was read, in ms since 1970. */
  readonly receivedAt: number
  readonly sizeBytes: number
}

export interface Inspected extends Received {
  readonly inspection: Inspection
}

/** The spam score of a message for one recipient. */
export interface SpamVerdict {
  spam: SpamScore
  junk: boolean
  /** See `spamLevel`. */
  level: number
}

export interface InboundDecision {
  /** Null when the message is accepted. */
  refusal: SmtpRefusal | null
  /** Junk for every recipient. */
  junk: boolean
  /** Result of the sender filters of each recipient, in the order of the recipients. */
  filters: FilterDecision[]
  /** True when the filters of some recipients accept the message and those of others reject it: DATA has one reply for all. */
  isSplit: boolean
  /** The spam score for each recipient, in their order. */
  verdicts: SpamVerdict[]
  /** The score that all recipients may read: with several of them, without what each mailbox knows. */
  shared: SpamScore
}

/** Satisfies `IncomingMessage` of the store. */
export interface Decided extends Inspected {
  readonly decision: InboundDecision
  /** In the order of the recipients. */
  readonly targets: readonly DeliveryTarget[]
  readonly mailFrom: string
  readonly isToReportAddress: boolean
}

/** A message of which only what writing needs is known of the recipients: policies and batch keys stay in their thread. */
export type ForWriter<M extends Envelope> = Omit<M, 'recipients' | 'report'> & {
  readonly recipients: readonly Pick<AcceptedRecipient, 'rcptTo' | 'mailbox' | 'teamId' | 'domain' | 'step'>[]
  readonly report: ReportAddress | null
}

/** A message in any state, as the log shows it; the size is missing when the content could not be taken. */
export type LoggedMessage = ForWriter<Envelope> & Partial<Pick<Decided, 'sizeBytes' | 'inspection' | 'decision'>>

export function withDecision(message: Inspected, decision: InboundDecision): Decided {
  const { inspection, recipients, report, sender } = message
  const targets = recipients.map((recipient, index) => ({
    ...target(recipient, inspection, decision.verdicts[index]!),
    scriptOutcome: inspection.scriptOutcomes[index] ?? null,
  }))
  return { ...message, decision, targets, mailFrom: sender.address, isToReportAddress: report !== null }
}

/** The message to hand over to another thread with its content, which takes the buffers of its chunks. */
export function forWriter(message: ForWriter<Decided>): ForWriter<Decided> {
  return { ...message, ...partiesOf(message), inspection: { ...message.inspection, report: null, content: null } }
}

/** The message without its content and text, to hand over to another thread: for the log and for reports. */
export function withoutContent<M extends LoggedMessage>(message: M): M {
  const { inspection } = message
  return { ...message, ...partiesOf(message), ...(inspection && { inspection: withoutBytes(inspection) }) }
}

function partiesOf({ recipients, report }: LoggedMessage): Pick<LoggedMessage, 'recipients' | 'report'> {
  return {
    recipients: recipients.map(({ rcptTo, mailbox, teamId, domain, step }) => ({
      ...{ rcptTo, mailbox, teamId, domain, step },
    })),
    report: report && { rcptTo: report.rcptTo, domain: report.domain, key: report.key, email: report.email },
  }
}

function withoutBytes(inspection: Inspection): Inspection {
  return { ...inspection, chunks: [], edited: [], content: null, message: { ...inspection.message, searchText: '' } }
}

function storedSpam({ score, probability, parts }: SpamScore, isSpam: boolean): MessageSpam {
  return { score, isSpam, reasons: parts.map(({ reason }) => reason), probability, parts }
}

function target(
  { mailbox, rcptTo, reached, step, patternOf }: AcceptedRecipient,
  { verdict }: Inspection,
  { junk, spam }: SpamVerdict,
): DeliveryTarget {
  const { spf, dkim, dmarc, arc, fromAligned } = verdict
  const signatures = verdict.signatures.map(({ domain, result, reason }) => `DKIM ${result} for ${domain}: ${reason}`)
  const reasons = [verdict.spfReason, ...signatures, verdict.dmarcReason].filter((reason) => reason !== '')
  return {
    mailboxId: mailbox.id,
    rcptTo,
    reached,
    step,
    patternOf,
    email: mailbox.email,
    quotaBytes: mailbox.quotaBytes,
    junk,
    authentication: { spf, dkim, dmarc, arc, fromAligned, reasons },
    spam: storedSpam(spam, junk),
  }
}
