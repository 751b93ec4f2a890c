// Jobs: read reports about domains here, and delete their counts after 400 days.

import { HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const dmarcReports = job({
  name: 'dmarc-reports',
  every: MINUTE_MS,
  run: ({ app, signal }) => app.dmarcReports.readWaiting(signal),
})

export const dmarcRetention = job({
  name: 'dmarc-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.dmarcReports.prune(),
})
