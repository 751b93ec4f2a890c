// Enters what teams sent into their ledgers, by the hour.

import { job } from './job.ts'

const MINUTE_MS = 60 * 1000

/** Decisions §7.1: one row per UTC hour and provider; what the appliance missed while it was off is entered now. */
export const consumption = job({
  name: 'consumption',
  every: 5 * MINUTE_MS,
  run: ({ app, signal }) => app.outbound.meter.enter(signal),
})
