// Job: re-checks the DNS records of domains whose check is due (decisions §4.3).

import { job } from './job.ts'

const MINUTE_MS = 60 * 1000

export const domainChecks = job({
  name: 'domain-checks',
  every: MINUTE_MS,
  run: ({ app, signal }) => app.directory.domains.recheckDue(signal),
})
