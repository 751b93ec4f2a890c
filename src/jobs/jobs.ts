// All periodic jobs, in the order their schedulers run them.

import { agentInboxes, agentSweep } from './agents.ts'
import { consumption } from './consumption.ts'
import { contentNames } from './content-names.ts'
import { domainChecks } from './domain-checks.ts'
import { heldExpiry, heldNotices } from './held-messages.ts'
import type { Job } from './job.ts'
import { mailCountRetention, mailCountRollUp } from './mail-counts.ts'
import { mailboxPurge } from './mailbox-purge.ts'
import { messageOutlines } from './message-outlines.ts'
import { ownerNotices } from './owner-notices.ts'
import { reportRetention, reports } from './reports.ts'
import {
  auditRetention,
  blobSweep,
  changeRetention,
  deliveryLogRetention,
  erasedContent,
  eventRetention,
  forwardingMemory,
  inboundLogRetention,
  keptContentRelease,
  oauthStateExpiry,
  removedMessages,
  requestRetention,
  signInRetention,
  undoExpiry,
  uploadExpiry,
  vacationSenders,
  webhookAttemptRetention,
} from './retention.ts'
import { scheduledBackups } from './scheduled-backups.ts'
import { searchTexts } from './search-texts.ts'
import { snoozes } from './snoozes.ts'
import { spamLearning } from './spam-learning.ts'
import { trashRetention } from './trash-retention.ts'

export const jobs: readonly Job[] = [
  agentInboxes,
  domainChecks,
  reports,
  agentSweep,
  consumption,
  mailCountRollUp,
  scheduledBackups,
  ownerNotices,
  heldNotices,
  heldExpiry,
  inboundLogRetention,
  deliveryLogRetention,
  keptContentRelease,
  signInRetention,
  auditRetention,
  requestRetention,
  webhookAttemptRetention,
  eventRetention,
  changeRetention,
  mailCountRetention,
  reportRetention,
  uploadExpiry,
  undoExpiry,
  snoozes,
  oauthStateExpiry,
  trashRetention,
  removedMessages,
  mailboxPurge,
  vacationSenders,
  forwardingMemory,
  blobSweep,
  contentNames,
  searchTexts,
  messageOutlines,
  spamLearning,
]

/** Jobs of the first thread and of each worker thread: what they work on is in the memory of the thread. */
export const threadJobs: readonly Job[] = [erasedContent]
