// Job: starts the backups that BACKUP_TIMES names.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const scheduledBackups = job({
  name: 'scheduled-backups',
  every: MINUTE_MS,
  async run({ app }) {
    return (await app.maintenance.backups.startDue()) ? 1 : 0
  },
})
