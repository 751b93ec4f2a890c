// Jobs: roll up the mail counters of past periods, and delete old ones.

import { HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const mailCountRollUp = job({
  name: 'mail-count-roll-up',
  every: 5 * MINUTE_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.log.rollUp.run(signal),
})

/** docs/design/sending.md §10: hourly counts are kept for 400 days. */
export const mailCountRetention = job({
  name: 'mail-count-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.store.log.rollUp.prune(),
})
