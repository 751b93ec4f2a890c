// Job: returns snoozed threads whose time has come, or that a message has joined.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const snoozes = job({
  name: 'snoozes',
  every: MINUTE_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.edit.snoozes.endDue(signal),
})
