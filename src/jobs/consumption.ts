// Job: enters the recipients each team sent to into its billing ledger, per hour.

import { job } from './job.ts'

const MINUTE_MS = 60 * 1000

/** Decisions §7.1: one row per UTC hour and provider; hours missed while the appliance was down are entered by the next run. */
export const consumption = job({
  name: 'consumption',
  every: 5 * MINUTE_MS,
  run: ({ app, signal }) => app.outbound.meter.enter(signal),
})
