// Job: re-checks the DNS records of domains whose check is due (docs/design/directory.md §5.3).

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const domainChecks = job({
  name: 'domain-checks',
  every: MINUTE_MS,
  // A domain fails by the days its record is missing.
  byAge: true,
  run: ({ app, signal }) => app.administration.domains.recheckDue(signal),
})
