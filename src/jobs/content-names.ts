// Gives content of earlier versions its public name, so that it is found by it; once all have one there is nothing to do.

import { job } from './job.ts'

const DAY_MS = 24 * 60 * 60 * 1000

export const contentNames = job({
  name: 'content-names',
  every: DAY_MS,
  run: ({ app, signal }) => app.store.contents.nameOld(signal),
})
