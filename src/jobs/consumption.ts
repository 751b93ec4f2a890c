// Job: enters the recipients each team sent to into its billing ledger, per hour.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

/** docs/design/sending.md §9: one row per UTC hour and provider; hours missed while the appliance was down are entered by the next run. */
export const consumption = job({
  name: 'consumption',
  every: 5 * MINUTE_MS,
  // A clock in doubt does not say which hours have ended.
  byAge: true,
  run: ({ app, signal }) => app.outbound.billing.meter.enter(signal),
})
