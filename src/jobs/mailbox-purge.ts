// Job: erases the content of mailboxes deleted more than `DELETED_MAILBOX_RETENTION_DAYS` ago (docs/design/directory.md §6.3).

import { HOUR_MS } from '../base/durations.ts'
import { job } from './job.ts'

const BATCH = 100

/** The blob sweep later removes content that no message references any more. */
export const mailboxPurge = job({
  name: 'mailbox-purge',
  every: HOUR_MS,
  byAge: true,
  async run({ app, signal }) {
    const { deletedMailboxes } = app.directory
    let erased = 0
    for (;;) {
      const begun = await deletedMailboxes.beginDue(BATCH)
      const due = deletedMailboxes.erasing(BATCH)
      for (const id of due) {
        if (!(await app.administration.mailboxes.eraseContent(id, () => signal.aborted))) return erased
        erased++
      }
      if (due.length < BATCH && begun < BATCH) return erased
    }
  },
})
