// Job: gives blobs written by earlier versions their public name; a no-op once every blob has one.

import { DAY_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const contentNames = job({
  name: 'content-names',
  every: DAY_MS,
  run: ({ app, signal }) => app.store.read.contents.nameUnnamed(signal),
})
