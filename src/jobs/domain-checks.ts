// Looks again at the DNS records of domains when their check is due (decisions §4.3).

import { job } from './job.ts'

const FIVE_MINUTES_MS = 5 * 60 * 1000

export const domainChecks = job({
  name: 'domain-checks',
  every: FIVE_MINUTES_MS,
  run: ({ app }) => app.directory.domains.recheckDue(),
})
