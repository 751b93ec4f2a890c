// The dependencies of the runner: those of all outbound modules, and the methods it uses of other outbound modules.

import type { OutboundDeps } from '../deps.ts'
import type { DeliveryTransitions } from '../log/delivery-transitions.ts'
import type { Emails } from '../log/emails.ts'
import type { Notices } from '../notices.ts'
import type { Queue } from '../queue.ts'
import type { Email, Provider, RemoteReply } from '../records.ts'
import type { Decision, KnownDomainStatus } from '../routing/decision.ts'
import type { Sealer } from '../seal.ts'
import type { Signer } from '../sign.ts'
import type { Stage } from '../transports/transport.ts'
import type { Transports } from '../transports/transports.ts'
import type { VacationReplies } from '../vacation-replies.ts'

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
