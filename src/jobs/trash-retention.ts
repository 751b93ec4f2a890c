// Job: deletes messages that have been in Trash or Junk for `TRASH_RETENTION_DAYS` (decisions §10.6).

import { job } from './job.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

export const trashRetention = job({
  name: 'trash-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.emptying.run(app.clock.now() - app.config.TRASH_RETENTION_DAYS * DAY_MS, signal),
})
