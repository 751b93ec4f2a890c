// Job: stores structure and header fields of messages of earlier versions as mail programs need them; a no-op once all are current.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const messageOutlines = job({
  name: 'message-outlines',
  every: MINUTE_MS,
  async run({ app, log, signal }) {
    const { outlined, unreadable } = await app.store.upkeep.outlining.run(signal)
    if (unreadable > 0)
      log.warn({ event: 'store.content_unreadable', messages: unreadable }, 'Content of messages not readable')
    return outlined
  },
})
