// Job: gives blobs written by earlier versions their public name; a no-op once every blob has one.

import { job } from './job.ts'

const DAY_MS = 24 * 60 * 60 * 1000

export const contentNames = job({
  name: 'content-names',
  every: DAY_MS,
  run: ({ app, signal }) => app.store.contents.nameOld(signal),
})
