// Job: rebuilds search index entries written by earlier versions; a no-op once all are current.

import { BodyTextReader } from '../workers/body-reader.ts'
import { job } from './job.ts'

const MINUTE_MS = 60 * 1000

export const searchTexts = job({
  name: 'search-texts',
  every: MINUTE_MS,
  async run({ app, log, signal }) {
    const reader = new BodyTextReader()
    try {
      const { renewed, unreadable } = await app.store.textRenewal.run(reader, signal)
      if (unreadable > 0)
        log.warn({ event: 'search.content_unreadable', messages: unreadable }, 'Content of messages not readable')
      return renewed
    } finally {
      await reader.close()
    }
  },
})
