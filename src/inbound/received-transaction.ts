// State of one received mail transaction while it is processed, and what of it goes to the thread that writes.

import type { EnvelopeSender } from '../smtp/envelope.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { InboundDecision } from './decision.ts'
import type { AcceptedRecipient } from './recipients.ts'
import type { ReportAddress } from './report-address.ts'
import type { MailTransaction, Peer } from './transaction.ts'

/** State of a transaction in the thread that receives it; members are filled in step by step. */
export interface ReceivedTransaction {
  readonly transaction: MailTransaction
  readonly peer: Peer
  /** When the end of DATA was read, in ms since 1970; 0 before. */
  receivedAt: number
  /** Bytes received; null before the end of DATA. */
  sizeBytes: number | null
  inspection: Inspection | null
  decision: InboundDecision | null
}

/** What the writer needs of a recipient. */
export type RecordedRecipient = Pick<AcceptedRecipient, 'rcptTo' | 'mailbox' | 'teamId' | 'domain'>

/** What the writer gets of a transaction. */
export interface ReceivedRecord {
  transaction: {
    queueId: string
    sender: EnvelopeSender
    recipients: readonly RecordedRecipient[]
    report: ReportAddress | null
  }
  peer: Peer
  receivedAt: number
  sizeBytes: number | null
  inspection: Inspection | null
  decision: InboundDecision | null
}

/**
 * The record to hand over to another thread: nothing that is long and not needed there.
 * @param hasContent false leaves out the content and the text of the message: only the log and reports need the record
 */
export function recordOf(received: ReceivedTransaction, hasContent: boolean): ReceivedRecord {
  const { transaction, inspection } = received
  const { queueId, sender, recipients, report } = transaction
  return {
    ...received,
    transaction: {
      ...{ queueId, sender },
      recipients: recipients.map(({ rcptTo, mailbox, teamId, domain }) => ({ rcptTo, mailbox, teamId, domain })),
      report: report && { rcptTo: report.rcptTo, domain: report.domain, key: report.key, email: report.email },
    },
    inspection: inspection && (hasContent ? { ...inspection, report: null } : withoutContent(inspection)),
  }
}

function withoutContent(inspection: Inspection): Inspection {
  return { ...inspection, chunks: [], edited: [], message: { ...inspection.message, searchText: '' } }
}
