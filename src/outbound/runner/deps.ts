// What the runner works with beside the usual parts: its neighbours in outbound, of each only what it asks for.

import type { DomainStanding } from '../../directory/domains.ts'
import type { OutboundParts } from '../deps.ts'
import type { Fate } from '../log/delivery-transitions.ts'
import type { Emails } from '../log/emails.ts'
import type { Notices } from '../notices.ts'
import type { Queue } from '../queue.ts'
import type { DelayCause, Email, Provider, RejectionReason, Reply } from '../records.ts'
import type { Signer } from '../sign.ts'
import type { Stage } from '../transports/transport.ts'
import type { Transports } from '../transports/transports.ts'
import type { VacationReplies } from '../vacation-replies.ts'

/** Through whom a mail is to go. */
export type Decision =
  | { kind: 'provider'; provider: Provider; reason: string }
  | { kind: 'direct'; reason: string }
  /** No account takes it before then (ms): all are full, or none works now. */
  | { kind: 'wait'; until: number; cause: DelayCause; reason: string }
  | { kind: 'reject'; reason: RejectionReason; detail: string }

/** What the sender of a mail may do with its From domain, as it was read a moment ago; null: it is to be read. */
export type Standing = { found: DomainStanding | undefined } | null

export interface RunnerParts extends OutboundParts {
  queue: Queue
  emails: Pick<Emails, 'byN' | 'deliveriesOf' | 'noteAttempt' | 'noteRoute' | 'rememberIds'>
  fate: Pick<Fate, 'apply'>
  router: {
    decide(
      email: Email,
      recipients: number,
      exclude: ReadonlySet<string>,
      domain: Standing,
      tooSmall: ReadonlySet<string>,
    ): Promise<Decision>
  }
  providers: {
    noteFailure(provider: Provider, stage: Stage, reply: Reply): Promise<unknown>
    noteSuccess(provider: Provider): Promise<unknown>
    noteUsed(provider: Provider): Promise<unknown>
  }
  signer: Pick<Signer, 'sign'>
  transports: Pick<Transports, 'of' | 'direct' | 'local'>
  notices: Pick<Notices, 'run'>
  vacationReplies: Pick<VacationReplies, 'run'>
}
