// One mail on its way through the house: what is known of it so far.

import type { Inspection } from '../workers/inspection.ts'
import type { Judgement } from './decision.ts'
import type { Peer, Transaction } from './transaction.ts'

export interface Passage {
  readonly transaction: Transaction
  readonly peer: Peer
  /** When its last byte came, in ms. */
  receivedAt: number
  /** Bytes as they came; null while nobody knows. */
  sizeBytes: number | null
  inspection: Inspection | null
  judgement: Judgement | null
}
