// The dependencies of the runner: those of all outbound modules, and the methods it uses of other outbound modules.

import type { Holds } from '../held/holds.ts'
import type { Emails } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Email, Provider, RemoteReply } from '../model/records.ts'
import type { Stage } from '../model/transport.ts'
import type { Notices } from '../notices/notices.ts'
import type { NotificationMessages } from '../notices/notification-messages.ts'
import type { VacationReplies } from '../notices/vacation-replies.ts'
import type { RoutingRule } from '../providers/routing-rules.ts'
import type { DeliveryTransitions } from '../queue/delivery-transitions.ts'
import type { Queue } from '../queue/queue.ts'
import type { Decision, KnownDomainStatus } from '../routing/decision.ts'
import type { Transports } from '../transports/transports.ts'
import type { Sealer } from './seal.ts'
import type { Signer } from './sign.ts'

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
      rule: RoutingRule | null,
    ): Promise<Decision>
    rulesFor(
      email: Email,
      domains: readonly string[],
      domain: KnownDomainStatus,
    ): Promise<ReadonlyMap<string, RoutingRule>>
  }
  providers: {
    noteFailure(provider: Provider, stage: Stage, reply: RemoteReply): Promise<unknown>
    noteSuccess(provider: Provider): Promise<unknown>
    noteUsed(provider: Provider): Promise<unknown>
  }
  signer: Pick<Signer, 'sign'>
  sealer: Pick<Sealer, 'seal'>
  transports: Pick<Transports, 'of' | 'direct' | 'local'>
  /** Messages that a person has approved. */
  holds: Pick<Holds, 'releasedAt'>
  notices: Pick<Notices, 'run'>
  vacationReplies: Pick<VacationReplies, 'run'>
  notifications: Pick<NotificationMessages, 'run'>
}
