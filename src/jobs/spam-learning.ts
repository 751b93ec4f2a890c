// Job: learns the labels that people have given, and makes the models of their mailboxes and teams; a no-op without new labels.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const spamLearning = job({
  name: 'spam-learning',
  every: MINUTE_MS,
  run: ({ app, signal }) =>
    app.store.spam.learning.run((mailboxId) => app.directory.mailboxes.byId(mailboxId)?.teamId, signal),
})
