// Job: rebuilds search index entries written by earlier versions; a no-op once all are current.

import { MINUTE_MS } from '../base/durations.ts'
import { BodyTextReader } from '../workers/body-reader.ts'
import { job } from './job.ts'

export const searchTexts = job({
  name: 'search-texts',
  every: MINUTE_MS,
  async run({ app, log, signal }) {
    const reader = new BodyTextReader()
    try {
      const { reindexed: renewed, unreadable } = await app.store.upkeep.reindexing.run(reader, signal)
      if (unreadable > 0)
        log.warn({ event: 'search.content_unreadable', messages: unreadable }, 'Content of messages not readable')
      return renewed
    } finally {
      await reader.close()
    }
  },
})
