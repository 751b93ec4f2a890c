// Keeps the counts of mail small: what is over is rolled up, and what is old goes.

import { job } from './job.ts'

const MINUTE_MS = 60 * 1000
const HOUR_MS = 60 * MINUTE_MS

export const mailCountRollUp = job({
  name: 'mail-count-roll-up',
  every: 5 * MINUTE_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.rollUp.run(signal),
})

/** Decisions §7.2: hours are kept 400 days. */
export const mailCountRetention = job({
  name: 'mail-count-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.store.rollUp.prune(),
})
