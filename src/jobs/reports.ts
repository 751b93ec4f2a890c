// Jobs: read reports about domains here, and delete their counts after 400 days.

import { HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const reports = job({
  name: 'reports',
  every: MINUTE_MS,
  run: ({ app, signal }) => app.reportIntake.readWaiting(signal),
})

export const reportRetention = job({
  name: 'report-retention',
  every: HOUR_MS,
  byAge: true,
  run: async ({ app }) => (await app.dmarcReports.prune()) + (await app.tlsReports.prune()),
})
