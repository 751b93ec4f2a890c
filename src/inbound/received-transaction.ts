// State of one received mail transaction while it is processed; members are filled in step by step.

import type { Inspection } from '../workers/inspection.ts'
import type { InboundDecision } from './decision.ts'
import type { MailTransaction, Peer } from './transaction.ts'

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
