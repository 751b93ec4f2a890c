// The list of steps, in order, for each of the two files.

import { directoryTables } from './0001-directory.ts'
import { mailTables } from './0002-mail.ts'
import { outboundTables } from './0003-outbound.ts'
import { eventTables } from './0004-events.ts'
import { peopleTables } from './0005-people.ts'
import { figureTables } from './0006-figures.ts'
import { agentTables } from './0007-agents.ts'
import { mailEditTables } from './0008-mail-edits.ts'
import { identityTables } from './0009-identities.ts'
import { uploadTables } from './0010-uploads.ts'
import { sieveTables } from './0011-sieve.ts'
import { mailboxLifeTables } from './0012-mailbox-life.ts'
import { metricTables } from './0013-metrics.ts'
import { vacationTables } from './0014-vacation.ts'
import { searchTextTables } from './0015-search-text.ts'
import { applianceTable } from './0016-appliance.ts'
import { localCopyTables } from './0017-local-copies.ts'
import { returnPathColumns } from './0018-return-path.ts'
import { signInBounds } from './0019-sign-in-bounds.ts'
import { heartbeatTokens } from './0020-heartbeat-tokens.ts'
import { wrongTimeTable } from './0021-wrong-times.ts'
import { plainNames } from './0022-plain-names.ts'
import { messageLabels } from './0023-message-labels.ts'
import { folderEntries } from './0024-folder-entries.ts'
import { messageHeaders } from './0025-message-headers.ts'
import { appPasswords } from './0026-app-passwords.ts'
import { draftTables } from './0027-drafts.ts'
import { mailProgramTables } from './0028-mail-programs.ts'
import { submittedIds } from './0029-submitted-ids.ts'
import { forwardingTables } from './0030-forwarding.ts'
import { forwardTables } from './0031-forwards.ts'
import { personAccounts } from './0032-person-accounts.ts'
import { auditTable } from './0033-audit.ts'
import { domainChecks } from './0034-domain-checks.ts'
import { consoleTables } from './0035-console.ts'
import { outsideAccounts } from './0036-outside-accounts.ts'
import { outsideTotals } from './0037-outside-totals.ts'
import { accessEnds } from './0038-access-ends.ts'
import { resendingTables } from './0039-resending.ts'
import { heldRemovals } from './0040-held-removals.ts'
import { auditOpens } from './0041-audit-opens.ts'
import { keptContentSizes } from './0042-kept-content-sizes.ts'
import { checkChanges } from './0043-check-changes.ts'
import { intentIndexes } from './0044-intent-indexes.ts'
import { searchMerges } from './0045-search-merges.ts'
import { inboundLogOrder } from './0046-inbound-log-order.ts'
import { changedForwards } from './0047-changed-forwards.ts'
import { removalCounts } from './0048-removal-counts.ts'
import { skippedMessages } from './0049-skipped-messages.ts'
import { outsideDifferences } from './0050-outside-differences.ts'
import { unfinishedCopies } from './0051-unfinished-copies.ts'
import { endedAccounts } from './0052-ended-accounts.ts'
import { linkAskers } from './0053-link-askers.ts'
import { forwardLimits } from './0054-forward-limits.ts'
import { agentNetworks } from './0055-agent-networks.ts'
import { removedMessages } from './0056-removed-messages.ts'
import { deletedMailboxes } from './0057-deleted-mailboxes.ts'
import { aliasIdentities } from './0058-alias-identities.ts'
import { passkeyHosts } from './0059-passkey-hosts.ts'
import { scriptVacations } from './0060-script-vacations.ts'
import { scriptNotifications } from './0061-script-notifications.ts'
import { certificateTables } from './0062-certificates.ts'
import { messageHeaderKeys } from './0063-header-keys.ts'
import { spamLearning } from './0064-spam-learning.ts'
import { tlsPolicies } from './0065-tls-policies.ts'
import { spamFeatureSets } from './0066-spam-feature-sets.ts'
import { undoRecords } from './0067-undo-records.ts'
import { mtaStsModes } from './0068-mta-sts-modes.ts'
import { dmarcReports } from './0069-dmarc-reports.ts'
import { addressing } from './0070-addressing.ts'
import { tlsReports } from './0071-tls-reports.ts'
import { routingRules } from './0072-routing-rules.ts'
import { throwAway } from './0073-throw-away.ts'
import { heldMessages } from './0074-held-messages.ts'
import { snoozes } from './0075-snoozes.ts'
import { blobTables } from './blobs-0001-blobs.ts'
import { contentOwnerTable } from './blobs-0002-owner.ts'
import { contentHeartbeatTokens } from './blobs-0003-heartbeat-tokens.ts'
import { verifiedReads } from './blobs-0004-verified-reads.ts'

export const mailMigrations = [
  directoryTables,
  mailTables,
  outboundTables,
  eventTables,
  peopleTables,
  figureTables,
  agentTables,
  mailEditTables,
  identityTables,
  uploadTables,
  sieveTables,
  mailboxLifeTables,
  metricTables,
  vacationTables,
  searchTextTables,
  applianceTable,
  localCopyTables,
  returnPathColumns,
  signInBounds,
  heartbeatTokens,
  wrongTimeTable,
  plainNames,
  messageLabels,
  folderEntries,
  messageHeaders,
  appPasswords,
  draftTables,
  mailProgramTables,
  submittedIds,
  forwardingTables,
  forwardTables,
  personAccounts,
  auditTable,
  domainChecks,
  consoleTables,
  outsideAccounts,
  outsideTotals,
  accessEnds,
  resendingTables,
  heldRemovals,
  auditOpens,
  keptContentSizes,
  checkChanges,
  intentIndexes,
  searchMerges,
  inboundLogOrder,
  changedForwards,
  removalCounts,
  skippedMessages,
  outsideDifferences,
  unfinishedCopies,
  endedAccounts,
  linkAskers,
  forwardLimits,
  agentNetworks,
  removedMessages,
  deletedMailboxes,
  aliasIdentities,
  passkeyHosts,
  scriptVacations,
  scriptNotifications,
  certificateTables,
  messageHeaderKeys,
  spamLearning,
  tlsPolicies,
  spamFeatureSets,
  undoRecords,
  mtaStsModes,
  dmarcReports,
  addressing,
  tlsReports,
  routingRules,
  throwAway,
  heldMessages,
  snoozes,
]
export const blobMigrations = [blobTables, contentOwnerTable, contentHeartbeatTokens, verifiedReads]
