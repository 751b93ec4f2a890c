// Brings the index of earlier versions into the form searches are asked in; once it has it there is nothing to do.

import { BodyReader } from '../workers/body-reader.ts'
import { job } from './job.ts'

const MINUTE_MS = 60 * 1000

export const searchTexts = job({
  name: 'search-texts',
  every: MINUTE_MS,
  async run({ app, log, signal }) {
    const reader = new BodyReader()
    try {
      const { renewed, unreadable } = await app.store.textRenewal.run(reader, signal)
      if (unreadable > 0) log.warn({ messages: unreadable }, 'the content of messages could not be read')
      return renewed
    } finally {
      await reader.close()
    }
  },
})
