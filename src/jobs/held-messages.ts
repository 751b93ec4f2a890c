// Jobs: tell the approvers of messages that wait, and end messages that waited for seven days.

import { MINUTE_MS, SECOND_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const heldNotices = job({
  name: 'held-notices',
  every: 10 * SECOND_MS,
  run: ({ app }) => app.heldMessages.notify(),
})

export const heldExpiry = job({
  name: 'held-expiry',
  every: MINUTE_MS,
  byAge: true,
  run: ({ app }) => app.outbound.held.holds.expire(app.trustedClock.now()),
})
