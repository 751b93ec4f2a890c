// The list of what the clock does.

import { domainChecks } from './domain-checks.ts'
import type { Job } from './job.ts'
import {
  blobSweep,
  deliveryLogRetention,
  eventRetention,
  inboundLogRetention,
  webhookAttemptRetention,
} from './retention.ts'

export const jobs: readonly Job[] = [
  domainChecks,
  inboundLogRetention,
  deliveryLogRetention,
  webhookAttemptRetention,
  eventRetention,
  blobSweep,
]
