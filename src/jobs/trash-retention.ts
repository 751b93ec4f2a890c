// Job: deletes messages that have been in Trash or Junk for `TRASH_RETENTION_DAYS` (docs/design/mailbox.md §6).

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const trashRetention = job({
  name: 'trash-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app, signal }) => {
    const before = app.clock.now() - app.config.TRASH_RETENTION_DAYS * DAY_MS
    // Of a mailbox that is an outside account its provider decides: what is erased here is erased there.
    const isKept = ({ mailboxId }: { mailboxId: string }) => app.sync.accounts.mirrorOf(mailboxId) !== undefined
    return app.store.upkeep.trashRetention.run(before, signal, isKept)
  },
})
