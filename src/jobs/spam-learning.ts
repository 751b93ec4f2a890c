// Job: learns the labels that people have given, and makes the models of their mailboxes and teams; a no-op without new labels.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

/** Of one message at rspamd, ms. */
const TEACH_TIMEOUT_MS = 30_000

export const spamLearning = job({
  name: 'spam-learning',
  every: MINUTE_MS,
  async run({ app, log, signal }) {
    const { learning } = app.store.spam
    const learned = await learning.run((mailboxId) => app.directory.mailboxes.byId(mailboxId)?.teamId, signal)
    const { rspamd } = app
    if (rspamd === null) return learned
    try {
      await learning.teach((bytes, isSpam) => rspamd.learn({ bytes }, isSpam, TEACH_TIMEOUT_MS), signal)
    } catch (error) {
      log.warn({ event: 'spam.rspamd_not_taught', err: error }, 'rspamd could not be taught')
    }
    return learned
  },
})
