// The dependencies of the runner: those of all outbound modules, and the methods it uses of other outbound modules.

import type { DomainStatus } from '../../directory/domains.ts'
import type { OutboundDeps } from '../deps.ts'
import type { DeliveryTransitions } from '../log/delivery-transitions.ts'
import type { Emails } from '../log/emails.ts'
import type { Notices } from '../notices.ts'
import type { Queue } from '../queue.ts'
import type { DelayCause, Email, Provider, RejectionReason, RemoteReply } from '../records.ts'
import type { Sealer } from '../seal.ts'
import type { Signer } from '../sign.ts'
import type { Stage } from '../transports/transport.ts'
import type { Transports } from '../transports/transports.ts'
import type { VacationReplies } from '../vacation-replies.ts'

/** The router's decision for a message. */
export type Decision =
  | { kind: 'provider'; provider: Provider; reason: string }
  | { kind: 'direct'; reason: string }
  /** No account accepts it before then (ms): all quotas are full, or no account works. */
  | { kind: 'wait'; until: number; cause: DelayCause; reason: string }
  | { kind: 'reject'; reason: RejectionReason; detail: string }

/** The status of the From domain as just read; null: the router reads it. */
export type KnownDomainStatus = { found: DomainStatus | undefined } | null

export interface RunnerDeps extends OutboundDeps {
  queue: Queue
  emails: Pick<Emails, 'byN' | 'scheduledAfter' | 'deliveriesOfAll' | 'recordRoute' | 'addRemoteIds'>
  transitions: Pick<DeliveryTransitions, 'apply' | 'applyAll'>
  router: {
    decide(
      email: Email,
      recipients: number,
      exclude: ReadonlySet<string>,
      domain: KnownDomainStatus,
      tooSmall: ReadonlySet<string>,
    ): Promise<Decision>
  }
  providers: {
    noteFailure(provider: Provider, stage: Stage, reply: RemoteReply): Promise<unknown>
    noteSuccess(provider: Provider): Promise<unknown>
    noteUsed(provider: Provider): Promise<unknown>
  }
  signer: Pick<Signer, 'sign'>
  sealer: Pick<Sealer, 'seal'>
  transports: Pick<Transports, 'of' | 'direct' | 'local'>
  notices: Pick<Notices, 'run'>
  vacationReplies: Pick<VacationReplies, 'run'>
}
