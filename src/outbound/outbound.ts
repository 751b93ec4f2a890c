// Assembles the outbound modules: submission, queue, routing, transports, delivery log, billing.

import { closeAll } from '../base/lifecycle.ts'
import type { Reader } from '../db/db.ts'
import type { SendScope } from '../directory/mailboxes/mailbox-input.ts'
import { Ledger } from './billing/ledger.ts'
import { Meter } from './billing/meter.ts'
import { DeliveryLog } from './log/delivery-log.ts'
import { Emails } from './log/emails.ts'
import { KeptContents } from './log/kept-contents.ts'
import { SentMessages } from './log/sent-messages.ts'
import { SingleDeliveries } from './log/single-deliveries.ts'
import type { MailTokenOf, OutboundDeps, SendLimit } from './model/deps.ts'
import type { OpenTransport } from './model/transport.ts'
import { Notices } from './notices/notices.ts'
import { SystemMail } from './notices/system-mail.ts'
import { VacationReplies } from './notices/vacation-replies.ts'
import { Groups } from './providers/groups.ts'
import { OAuth } from './providers/oauth.ts'
import { Providers } from './providers/providers.ts'
import { QuotaCounts } from './providers/quotas.ts'
import { SharedLimit } from './providers/shared-limit.ts'
import { Cancelling } from './queue/cancel.ts'
import { DeliveryActions } from './queue/delivery-actions.ts'
import { DeliveryTransitions } from './queue/delivery-transitions.ts'
import { Feedback } from './queue/feedback.ts'
import { Queue } from './queue/queue.ts'
import { QueuedMessages } from './queue/queued-messages.ts'
import { Suppressions } from './queue/suppressions.ts'
import { ReceivedDelivery } from './receive/deliver-received.ts'
import { Router } from './routing/router.ts'
import { Runner } from './runner/runner.ts'
import { Sealer } from './runner/seal.ts'
import { Signer } from './runner/sign.ts'
import { RawSubmitter } from './submit/raw-submitter.ts'
import { Resending } from './submit/resending.ts'
import { Submitter } from './submit/submitter.ts'
import { openGmail } from './transports/accounts/gmail.ts'
import { openOutlook } from './transports/accounts/outlook.ts'
import { openSes } from './transports/accounts/ses.ts'
import { SesIdentities } from './transports/accounts/ses-identities.ts'
import { Sns } from './transports/accounts/sns.ts'
import { Transports } from './transports/transports.ts'

export interface Outbound {
  providers: Providers
  groups: Groups
  sharedLimit: SharedLimit
  sesIdentities: SesIdentities
  oauth: OAuth
  sns: Sns
  router: Router
  /** What is used of the quotas of accounts. */
  quotaCounts: QuotaCounts
  transports: Transports
  emails: Emails
  log: DeliveryLog
  /** Messages with all their recipients. */
  sentMessages: SentMessages
  /** Content of failed messages, until they can no longer be resent. */
  keptContents: KeptContents
  /** One delivery with its message. */
  singleDeliveries: SingleDeliveries
  /** Retries and cancels one delivery. */
  deliveryActions: DeliveryActions
  transitions: DeliveryTransitions
  queue: Queue
  queuedMessages: QueuedMessages
  suppressions: Suppressions
  /** Balances of teams. */
  ledger: Ledger
  /** Charges teams for deliveries. */
  meter: Meter
  feedback: Feedback
  notices: Notices
  /** Messages the appliance itself sends to people. */
  systemMail: SystemMail
  /** Vacation responses (RFC 5230). */
  vacationReplies: VacationReplies
  /** Stores received messages, and forwards those that mailboxes forward. */
  receive: ReceivedDelivery
  submitter: Submitter
  /** Accepts messages of mail programs. */
  rawSubmitter: RawSubmitter
  /** Cancels submissions that have not been handed over. */
  cancelling: Cancelling
  /** Sends the content of failed messages again. */
  resending: Resending
  /** The worker that processes the queue; one per data folder. */
  runner(): Runner
  /** The ids in a scope that are no accounts or groups of the team. */
  foreignIn(reader: Reader, teamId: string, scope: SendScope): ReadonlySet<string>
  /** Closes the connections to sending accounts. */
  close(): Promise<void>
}

export function openOutbound(deps: OutboundDeps & { allowance: SendLimit; mailTokenOf: MailTokenOf }): Outbound {
  const suppressions = new Suppressions(deps)
  const queue = new Queue(deps)
  const emails = new Emails(deps)
  const vacationReplies = new VacationReplies({ ...deps, emails, queue, suppressions })
  const accounts = openAccounts(deps, (provider) => transports.of(provider))
  const { providers, groups, sharedLimit } = accounts
  const ledger = new Ledger(deps)
  const meter = new Meter({ ...deps, ledger })
  const transitions = new DeliveryTransitions({ ...deps, queue, suppressions, meter })
  const notices = new Notices({ ...deps, emails, queue })
  const systemMail = new SystemMail({ ...deps, emails, queue, suppressions })
  const router = new Router({ ...deps, providers, groups, sharedLimit })
  const receive = new ReceivedDelivery({ ...deps, emails, queue, suppressions, meter, router })
  const transports: Transports = new Transports({
    ...{ ...deps, vacationReplies, receive },
    secretsOf: (provider) => providers.secretsOf(provider),
    accounts: {
      gmail_api: (provider) => openGmail({ ...deps, providers }, provider),
      outlook_api: (provider) => openOutlook({ ...deps, providers }, provider),
      amazon_ses: (provider) => openSes({ ...deps, sharedLimit }, provider),
    },
  })
  const signer = new Signer(deps)
  const oauth = new OAuth({ ...deps, providers })
  const sns = new Sns({ ...deps, emails, transitions })
  const sesIdentities = new SesIdentities({ ...deps, sharedLimit })
  const keptContents = new KeptContents(deps)
  const singleDeliveries = new SingleDeliveries({ ...deps, keptContents })
  const taking = { ...deps, emails, transitions, queue, suppressions, router, meter, singleDeliveries }
  const submitter = new Submitter(taking)
  const rawSubmitter = new RawSubmitter(taking)
  const worker = {
    ...taking,
    signer,
    sealer: new Sealer({ ...deps, signer }),
    transports,
    notices,
    providers: providers.health,
    vacationReplies,
  }
  return {
    ...accounts,
    transports,
    suppressions,
    ledger,
    meter,
    queue,
    emails,
    transitions,
    ...{ notices, systemMail, vacationReplies, receive },
    ...{ router, quotaCounts: new QuotaCounts(deps) },
    oauth,
    sns,
    sesIdentities,
    submitter,
    rawSubmitter,
    cancelling: new Cancelling({ ...deps, emails, transitions, queue }),
    queuedMessages: new QueuedMessages({ ...deps, queue, emails, transitions, keptContents }),
    ...{
      keptContents,
      singleDeliveries,
      deliveryActions: new DeliveryActions({ ...deps, queue, transitions, singleDeliveries }),
    },
    resending: new Resending(taking),
    log: new DeliveryLog(deps),
    sentMessages: new SentMessages(deps),
    feedback: new Feedback({ ...deps, emails, transitions }),
    runner: () => new Runner(worker),
    foreignIn: (reader, teamId, scope) => foreignIn(accounts, reader, teamId, scope),
    close: () =>
      closeAll(
        [submitter, rawSubmitter, systemMail, oauth, sns, sesIdentities, transports].map((part) => () => part.close()),
      ),
  }
}

/** The sending accounts. Their transports are opened after them, and check an account before it is stored. */
function openAccounts(deps: OutboundDeps, openTransport: OpenTransport) {
  const { mailboxes } = deps.directory
  const groups: Groups = new Groups({
    ...deps,
    ownProviders: (reader, teamId, ids) => providers.own(reader, teamId, ids),
    namedBy: (tx, teamId, id) => mailboxes.namingInScope(tx, teamId, id),
  })
  const providers: Providers = new Providers({
    ...deps,
    openTransport,
    namedBy(tx, { teamId, id }) {
      const group = groups.naming(tx, id)
      if (group !== undefined) return { field: 'members', what: `the delivery group ${group}` }
      const mailbox = mailboxes.namingInScope(tx, teamId, id)
      return mailbox === undefined ? null : { field: 'send_scope', what: `the send_scope of ${mailbox}` }
    },
  })
  return { groups, providers, sharedLimit: new SharedLimit({ ...deps, providers }) }
}

function foreignIn(
  { providers, groups }: Pick<Outbound, 'providers' | 'groups'>,
  reader: Reader,
  teamId: string,
  scope: SendScope,
): ReadonlySet<string> {
  if (scope.type === 'all') return new Set()
  if (scope.type === 'group') return new Set(scope.groupIds).difference(groups.own(reader, teamId, scope.groupIds))
  return new Set(scope.providerIds).difference(providers.own(reader, teamId, scope.providerIds))
}
