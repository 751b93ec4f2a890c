// Erases the content of mailboxes that have been deleted long enough (decisions §5.4).

import type { Context } from '../context.ts'
import { job } from './job.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const AT_ONCE = 100

/** What nothing names any more afterwards goes with the next clean-up of contents. */
export const mailboxPurge = job({
  name: 'mailbox-purge',
  every: HOUR_MS,
  byAge: true,
  async run({ app, signal }) {
    const { mailboxes } = app.directory
    const before = app.clock.now() - app.config.DELETED_MAILBOX_RETENTION_DAYS * DAY_MS
    let purged = 0
    for (;;) {
      const due = await mailboxes.toPurge(before, AT_ONCE)
      for (const id of due) {
        if (!(await purge(app, id, signal))) return purged
        purged++
      }
      if (due.length < AT_ONCE) return purged
    }
  },
})

/** @returns false when the house closed before it was done: the next run goes on */
async function purge({ outbound, store, directory }: Context, id: string, signal: AbortSignal): Promise<boolean> {
  const pieces = [() => outbound.waiting.drain(id), () => store.purge.next(id)]
  for (const next of pieces) while ((await next()) > 0) if (signal.aborted) return false
  if (signal.aborted) return false
  await directory.mailboxes.purge(id)
  return true
}
