// What the router decides for a message, and the status of its From domain.

import type { DomainStatus } from '../../directory/domains/domains.ts'
import type { DelayCause, Provider, RejectionReason } from '../model/records.ts'

/** The router's decision for a message. */
export type Decision =
  | { kind: 'provider'; provider: Provider; reason: string }
  | { kind: 'direct'; reason: string }
  /** No account accepts it before then (ms): all quotas are full, or no account works. */
  | { kind: 'wait'; until: number; cause: DelayCause; reason: string }
  | { kind: 'reject'; reason: RejectionReason; detail: string }

/** The status of the From domain as just read; null: the router reads it. */
export type KnownDomainStatus = { found: DomainStatus | undefined } | null
