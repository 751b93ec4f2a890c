// All periodic jobs, in the order the scheduler runs them.

import { agentInboxes, agentSweep } from './agents.ts'
import { consumption } from './consumption.ts'
import { contentNames } from './content-names.ts'
import { domainChecks } from './domain-checks.ts'
import type { Job } from './job.ts'
import { mailCountRetention, mailCountRollUp } from './mail-counts.ts'
import { mailboxPurge } from './mailbox-purge.ts'
import { messageOutlines } from './message-outlines.ts'
import { ownerNotices } from './owner-notices.ts'
import {
  auditRetention,
  blobSweep,
  changeRetention,
  deliveryLogRetention,
  eventRetention,
  forwardingMemory,
  inboundLogRetention,
  signInRetention,
  uploadExpiry,
  vacationSenders,
  webhookAttemptRetention,
} from './retention.ts'
import { searchTexts } from './search-texts.ts'
import { trashRetention } from './trash-retention.ts'

export const jobs: readonly Job[] = [
  agentInboxes,
  domainChecks,
  agentSweep,
  consumption,
  mailCountRollUp,
  ownerNotices,
  inboundLogRetention,
  deliveryLogRetention,
  signInRetention,
  auditRetention,
  webhookAttemptRetention,
  eventRetention,
  changeRetention,
  mailCountRetention,
  uploadExpiry,
  trashRetention,
  mailboxPurge,
  vacationSenders,
  forwardingMemory,
  blobSweep,
  contentNames,
  searchTexts,
  messageOutlines,
]
