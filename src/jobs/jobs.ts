// The list of what the clock does.

import { domainChecks } from './domain-checks.ts'
import type { Job } from './job.ts'
import { blobSweep, deliveryLogRetention, inboundLogRetention } from './retention.ts'

export const jobs: readonly Job[] = [domainChecks, inboundLogRetention, deliveryLogRetention, blobSweep]
