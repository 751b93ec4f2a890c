// Job: deletes messages that have been in Trash or Junk for `TRASH_RETENTION_DAYS` (decisions §10.6).

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const trashRetention = job({
  name: 'trash-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app, signal }) =>
    app.store.trashRetention.run(app.clock.now() - app.config.TRASH_RETENTION_DAYS * DAY_MS, signal),
})
