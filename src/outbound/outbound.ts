// Assembles the outbound modules: submission, queue, routing, transports, delivery log, billing.

import { closeAll } from '../base/lifecycle.ts'
import type { Reader } from '../db/db.ts'
import type { SendScope } from '../directory/mailboxes/mailbox-input.ts'
import { Ledger } from './billing/ledger.ts'
import { Meter } from './billing/meter.ts'
import { closeHeld, eraseHeld } from './held/held-rows.ts'
import { type HoldParts, openHeld } from './held/hold-parts.ts'
import { DeliveryLog } from './log/delivery-log.ts'
import { Emails } from './log/emails.ts'
import { KeptContents } from './log/kept-contents.ts'
import { SentMessages } from './log/sent-messages.ts'
import { SingleDeliveries } from './log/single-deliveries.ts'
import type { Approvers, MailTokens, OutboundDeps, SendLimit } from './model/deps.ts'
import { Notices } from './notices/notices.ts'
import { NotificationMessages } from './notices/notification-messages.ts'
import { SystemMail } from './notices/system-mail.ts'
import { VacationReplies } from './notices/vacation-replies.ts'
import { Groups } from './providers/groups.ts'
import { OAuth } from './providers/oauth.ts'
import { Providers } from './providers/providers.ts'
import { QuotaCounts } from './providers/quotas.ts'
import { RoutingRules } from './providers/routing-rules.ts'
import { ownProviders } from './providers/row.ts'
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
import { AccountChecks } from './transports/account-checks.ts'
import { openGmail } from './transports/accounts/gmail.ts'
import { openOutlook } from './transports/accounts/outlook.ts'
import { openSes } from './transports/accounts/ses.ts'
import { SesIdentities } from './transports/accounts/ses-identities.ts'
import { Sns } from './transports/accounts/sns.ts'
import { Transports } from './transports/transports.ts'

/** Accounts that send, by whatever protocol. */
export interface SendingAccounts {
  providers: Providers
  groups: Groups
  /** Routes by recipient domain. */
  rules: RoutingRules
  checks: AccountChecks
  sharedLimit: SharedLimit
  sesIdentities: SesIdentities
  oauth: OAuth
  /** Ways of a message out: of accounts, straight to the recipient's server, to mailboxes of the appliance. */
  transports: Transports
  /** What is used of the quotas of accounts. */
  quotaCounts: QuotaCounts
  /** The ids in a scope that are no accounts or groups of the team. */
  foreignIn(reader: Reader, teamId: string, scope: SendScope): ReadonlySet<string>
}

export interface Outbound {
  accounts: SendingAccounts
  submit: {
    /** Composes and accepts messages of the API. */
    submitter: Submitter
    /** Accepts messages of mail programs. */
    rawSubmitter: RawSubmitter
    /** Sends the content of failed messages again. */
    resending: Resending
    /** Cancels submissions that have not been handed over. */
    cancelling: Cancelling
  }
  /** Stores received messages, and forwards those that mailboxes forward. */
  receive: ReceivedDelivery
  /** Vacation responses (RFC 5230). */
  vacationReplies: VacationReplies
  /** What scripts notify people of. */
  notifications: NotificationMessages
  log: {
    emails: Emails
    deliveries: DeliveryLog
    /** Messages with all their recipients. */
    sentMessages: SentMessages
    /** Content of failed messages, until they can no longer be resent. */
    keptContents: KeptContents
    /** One delivery with its message. */
    singleDeliveries: SingleDeliveries
  }
  queue: {
    entries: Queue
    /** Changes of deliveries, and what follows from each. */
    transitions: DeliveryTransitions
    messages: QueuedMessages
    suppressions: Suppressions
    /** Retries and cancels one delivery. */
    actions: DeliveryActions
  }
  billing: {
    /** Balances of teams. */
    ledger: Ledger
    /** Charges teams for deliveries. */
    meter: Meter
  }
  /** What programs may send without a person, and messages that wait for one. */
  held: HoldParts
  /** What other servers report about sent messages. */
  reports: {
    feedback: Feedback
    sns: Sns
    /** Failure notices to the senders. */
    notices: Notices
  }
  /** Messages the appliance itself sends to people. */
  mail: SystemMail
  /** The worker that processes the queue; one per data folder. */
  runner(): Runner
  /** Closes the connections to sending accounts. */
  close(): Promise<void>
}

type Deps = OutboundDeps & { allowance: SendLimit; mailTokens: MailTokens; approvers: Approvers }

export function openOutbound(deps: Deps): Outbound {
  const suppressions = new Suppressions(deps)
  const queue = new Queue(deps)
  const emails = new Emails(deps)
  const groups = new Groups(deps)
  const providers = new Providers({ ...deps, groups })
  const rules = new RoutingRules({ ...deps, groups })
  const sharedLimit = new SharedLimit({ ...deps, providers })
  const ledger = new Ledger(deps)
  const meter = new Meter({ ...deps, ledger })
  const transitions = new DeliveryTransitions({ ...deps, queue, suppressions, meter, closeHeld })
  const router = new Router({ ...deps, providers, groups, rules, sharedLimit })
  const held = openHeld({ ...deps, emails, queue, transitions, suppressions })
  const automatic = { ...deps, emails, queue, suppressions, rules: held.rules }
  const vacationReplies = new VacationReplies(automatic)
  const notifications = new NotificationMessages(automatic)
  const receive = new ReceivedDelivery({ ...automatic, meter, router })
  const transports = openTransports(deps, { vacationReplies, notifications, receive, providers, sharedLimit })
  const signer = new Signer(deps)
  const keptContents = new KeptContents(deps)
  const singleDeliveries = new SingleDeliveries({ ...deps, keptContents })
  const submitting = { ...deps, emails, transitions, queue, suppressions, router, meter, singleDeliveries, held }
  const notices = new Notices({ ...deps, emails, queue })
  const worker = {
    ...submitting,
    signer,
    transports,
    vacationReplies,
    notifications,
    providers: providers.health,
    holds: held.holds,
    sealer: new Sealer({ ...deps, signer }),
    notices,
  }
  const accounts = openAccounts(deps, { providers, groups, rules, sharedLimit, transports })
  const submit = openSubmission(submitting)
  const reporting = { ...deps, emails, transitions }
  const reports = { feedback: new Feedback(reporting), sns: new Sns(reporting), notices }
  const mail = new SystemMail({ ...deps, emails, queue, suppressions })
  const { oauth, sesIdentities } = accounts
  const closing = [submit.submitter, submit.rawSubmitter, mail, oauth, reports.sns, sesIdentities, transports]
  return {
    ...{ accounts, submit, receive, held, vacationReplies, notifications, reports, mail },
    log: {
      ...{ emails, keptContents, singleDeliveries },
      deliveries: new DeliveryLog({ ...deps, eraseHeld }),
      sentMessages: new SentMessages(deps),
    },
    queue: openQueue({ ...submitting, keptContents }),
    billing: { ledger, meter },
    runner: () => new Runner(worker),
    close: () => closeAll(closing.map((part) => () => part.close())),
  }
}

type SubmissionParts = ConstructorParameters<typeof Submitter>[0] &
  ConstructorParameters<typeof RawSubmitter>[0] &
  ConstructorParameters<typeof Resending>[0] &
  ConstructorParameters<typeof Cancelling>[0]

function openSubmission(parts: SubmissionParts): Outbound['submit'] {
  return {
    submitter: new Submitter(parts),
    rawSubmitter: new RawSubmitter(parts),
    resending: new Resending(parts),
    cancelling: new Cancelling(parts),
  }
}

type QueueParts = Pick<Outbound['queue'], 'transitions' | 'suppressions'> & { queue: Queue } & Omit<
    ConstructorParameters<typeof QueuedMessages>[0],
    'queue' | 'transitions'
  > &
  Omit<ConstructorParameters<typeof DeliveryActions>[0], 'queue' | 'transitions'>

function openQueue(parts: QueueParts): Outbound['queue'] {
  const { queue, transitions, suppressions } = parts
  return {
    entries: queue,
    transitions,
    suppressions,
    messages: new QueuedMessages(parts),
    actions: new DeliveryActions(parts),
  }
}

type TransportParts = Pick<SendingAccounts, 'providers' | 'sharedLimit'> &
  Pick<Outbound, 'vacationReplies' | 'notifications' | 'receive'>

function openTransports(deps: Deps, { providers, sharedLimit, ...parts }: TransportParts): Transports {
  return new Transports({
    ...deps,
    ...parts,
    connections: providers.connections,
    accounts: {
      gmail_api: (provider) => openGmail({ ...deps, providers }, provider),
      outlook_api: (provider) => openOutlook({ ...deps, providers }, provider),
      amazon_ses: (provider) => openSes({ ...deps, sharedLimit }, provider),
    },
  })
}

type AccountParts = Pick<SendingAccounts, 'providers' | 'groups' | 'rules' | 'sharedLimit' | 'transports'>

function openAccounts(deps: Deps, parts: AccountParts): SendingAccounts {
  return {
    ...parts,
    checks: new AccountChecks({ ...deps, ...parts }),
    sesIdentities: new SesIdentities({ ...deps, ...parts }),
    oauth: new OAuth({ ...deps, ...parts }),
    quotaCounts: new QuotaCounts(deps),
    foreignIn: (reader, teamId, scope) => foreignIn(parts.groups, reader, teamId, scope),
  }
}

function foreignIn(groups: Groups, reader: Reader, teamId: string, scope: SendScope): ReadonlySet<string> {
  if (scope.type === 'all') return new Set()
  if (scope.type === 'group') return new Set(scope.groupIds).difference(groups.own(reader, teamId, scope.groupIds))
  return new Set(scope.providerIds).difference(ownProviders(reader, teamId, scope.providerIds))
}
