// Job: erases the content of mailboxes deleted more than `DELETED_MAILBOX_RETENTION_DAYS` ago (docs/design/directory.md §6.3).

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import type { Context } from '../context.ts'
import { job } from './job.ts'

const BATCH = 100

/** The blob sweep later removes content that no message references any more. */
export const mailboxPurge = job({
  name: 'mailbox-purge',
  every: HOUR_MS,
  byAge: true,
  async run({ app, signal }) {
    const { mailboxes } = app.directory
    const before = app.clock.now() - app.config.DELETED_MAILBOX_RETENTION_DAYS * DAY_MS
    let purged = 0
    for (;;) {
      const due = mailboxes.toPurge(before, BATCH)
      for (const id of due) {
        if (!(await purge(app, id, signal))) return purged
        purged++
      }
      if (due.length < BATCH) return purged
    }
  },
})

/** @returns false when the appliance stopped before the purge was complete; the next run continues */
async function purge({ outbound, store, directory }: Context, id: string, signal: AbortSignal): Promise<boolean> {
  const steps = [() => outbound.queuedMessages.drain(id), () => store.purge.next(id)]
  for (const next of steps) while ((await next()) > 0) if (signal.aborted) return false
  if (signal.aborted) return false
  await directory.mailboxes.purge(id)
  return true
}
