// All routes of the API.

import type { Route } from '../http/route.ts'
import { agentRoutes } from './agents/routes.ts'
import { sync } from './mailbox/changes/sync.ts'
import { attachmentParsing } from './mailbox/contents/attachment-parsing.ts'
import { attachments } from './mailbox/contents/attachments.ts'
import { blobs } from './mailbox/contents/blobs.ts'
import { cleanContents } from './mailbox/contents/clean-content.ts'
import { evidences } from './mailbox/contents/evidence.ts'
import { raw } from './mailbox/contents/raw.ts'
import { views } from './mailbox/contents/view.ts'
import { drafts } from './mailbox/drafts/drafts.ts'
import { contacts } from './mailbox/folders/contacts.ts'
import { folders } from './mailbox/folders/folders.ts'
import { identities } from './mailbox/folders/identities.ts'
import { labels } from './mailbox/folders/labels.ts'
import { queryChanges } from './mailbox/folders/query-changes.ts'
import { quotas } from './mailbox/folders/quotas.ts'
import { messages } from './mailbox/messages/messages.ts'
import { mailboxRemovedMessages } from './mailbox/messages/removed-messages.ts'
import { threadMessages } from './mailbox/messages/thread-messages.ts'
import { readEvents } from './mailbox/sending/events.ts'
import { sendMessage } from './mailbox/sending/send.ts'
import { sessionRoute } from './mailbox/sending/session.ts'
import { submissions } from './mailbox/sending/submissions.ts'
import { readMe } from './mailbox/settings/me.ts'
import { readRemoteAccount } from './mailbox/settings/remote-account.ts'
import { vacation } from './mailbox/settings/vacation.ts'
import { threads } from './mailbox/threads/threads.ts'
import { undo } from './mailbox/threads/undo.ts'
import { addressing } from './management/addressing.ts'
import { apiKeys } from './management/api-keys.ts'
import { appPasswords, mailboxAppPasswords } from './management/app-passwords.ts'
import { audit } from './management/audit.ts'
import { billing } from './management/billing.ts'
import { deletedMailboxes } from './management/deleted-mailboxes.ts'
import { deliveryActions } from './management/delivery-actions.ts'
import { deliveryGroups } from './management/delivery-groups.ts'
import { dmarc } from './management/dmarc.ts'
import { domainKeys } from './management/domain-keys.ts'
import { domains } from './management/domains.ts'
import { emailLogs } from './management/email-logs.ts'
import { emailMetrics } from './management/email-metrics.ts'
import { emails } from './management/emails.ts'
import { events } from './management/events.ts'
import { domainFilters, mailboxFilters, senderFilter } from './management/filters.ts'
import { forwards, mailboxForwards } from './management/forwards.ts'
import { inboundLogs } from './management/inbound-logs.ts'
import { mailboxAliases } from './management/mailbox-aliases.ts'
import { mailboxKeys } from './management/mailbox-keys.ts'
import { mailboxPeople } from './management/mailbox-people.ts'
import { mailboxVacation } from './management/mailbox-vacation.ts'
import { mailboxes } from './management/mailboxes.ts'
import { memberAccess } from './management/member-access.ts'
import { memberCredentials } from './management/member-credentials.ts'
import { mtaSts } from './management/mta-sts.ts'
import { providerActions } from './management/provider-actions.ts'
import { providerOauth } from './management/provider-oauth.ts'
import { providers } from './management/providers.ts'
import { remoteAccountActions } from './management/remote-account-actions.ts'
import { remoteAccountOauth } from './management/remote-account-oauth.ts'
import { remoteAccounts } from './management/remote-accounts.ts'
import { removedMessages } from './management/removed-messages.ts'
import { requests } from './management/requests.ts'
import { routingRules } from './management/routing-rules.ts'
import { sendPolicies } from './management/send-policies.ts'
import { sharedLimit } from './management/shared-limit.ts'
import { mailboxSieveScripts, sieveScripts } from './management/sieve-scripts.ts'
import { spamReports } from './management/spam.ts'
import { suppressions } from './management/suppressions.ts'
import { team } from './management/team.ts'
import { mailboxThrowAway, throwAway } from './management/throw-away.ts'
import { tlsReports } from './management/tls-reports.ts'
import { usage } from './management/usage.ts'
import { webhookDeliveries } from './management/webhook-deliveries.ts'
import { webhooks } from './management/webhooks.ts'
import { operatorAgents } from './operator/agents.ts'
import { operatorAppliance } from './operator/appliance.ts'
import { operatorAudit } from './operator/audit.ts'
import { operatorBackups } from './operator/backups.ts'
import { operatorBilling } from './operator/billing.ts'
import { operatorCertificates } from './operator/certificates.ts'
import { operatorCredits } from './operator/credits.ts'
import { operatorDeletedMailboxes } from './operator/deleted-mailboxes.ts'
import { operatorDoctor } from './operator/doctor.ts'
import { operatorLimitRequests } from './operator/limit-requests.ts'
import { machineMetrics } from './operator/machine-metrics.ts'
import { operatorOwnRecords } from './operator/own-records.ts'
import { operatorPeople } from './operator/people.ts'
import { operatorQueue } from './operator/queue.ts'
import { operatorServerName } from './operator/server-name.ts'
import { operatorTeams } from './operator/teams.ts'
import { rootDocuments } from './root.ts'
import { rawProtocol } from './rules/raw-protocol.ts'
import { sendBatch } from './sending/batch.ts'
import { sending } from './sending/send.ts'

const management = [
  ...domains,
  ...domainFilters,
  ...domainKeys,
  ...addressing,
  ...mtaSts,
  ...dmarc,
  ...tlsReports,
  ...mailboxes,
  ...deletedMailboxes,
  ...mailboxFilters,
  ...mailboxVacation,
  ...sendPolicies,
  ...mailboxKeys,
  ...mailboxAppPasswords,
  ...mailboxAliases,
  ...mailboxForwards,
  ...mailboxThrowAway,
  ...mailboxSieveScripts,
  ...mailboxPeople,
  ...inboundLogs,
  ...spamReports,
  ...emails,
  ...emailLogs,
  ...deliveryActions,
  ...emailMetrics,
  ...providers,
  ...providerActions,
  ...providerOauth,
  ...removedMessages,
  ...remoteAccounts,
  ...remoteAccountOauth,
  ...remoteAccountActions,
  ...sharedLimit,
  ...deliveryGroups,
  ...routingRules,
  ...suppressions,
  ...webhooks,
  ...webhookDeliveries,
  ...events,
  ...apiKeys,
  ...team,
  ...memberAccess,
  ...memberCredentials,
  ...audit,
  ...requests,
  ...usage,
  ...billing,
]
const mailbox = [
  readMe,
  readRemoteAccount,
  ...mailboxRemovedMessages,
  ...appPasswords,
  ...forwards,
  ...throwAway,
  readEvents,
  ...vacation,
  ...threads,
  ...undo,
  ...threadMessages,
  ...messages,
  ...raw,
  ...views,
  ...evidences,
  sendMessage,
  ...drafts,
  ...folders,
  ...attachments,
  ...attachmentParsing,
  ...blobs,
  ...cleanContents,
  ...submissions,
  ...senderFilter,
  ...sieveScripts,
  ...identities,
  ...contacts,
  ...labels,
  ...quotas,
  ...sync,
  ...queryChanges,
]

const operator = [
  ...operatorQueue,
  ...operatorLimitRequests,
  ...operatorTeams,
  ...operatorDeletedMailboxes,
  ...operatorPeople,
  ...operatorAgents,
  ...operatorAppliance,
  ...operatorDoctor,
  ...operatorServerName,
  ...operatorCertificates,
  ...operatorBackups,
  operatorAudit,
  operatorCredits,
  ...operatorBilling,
  operatorOwnRecords,
  machineMetrics,
]

export const routes: readonly Route[] = [
  ...management,
  ...operator,
  ...mailbox,
  sessionRoute(mailbox),
  rawProtocol,
  sendBatch,
  ...sending,
  ...agentRoutes,
  ...rootDocuments,
]
