// Erases what has been kept long enough: rows of the inbound log, and content nothing names.

import { job } from './job.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000

/** Decisions §6.4: rows of the inbound log live `LOG_RETENTION_DAYS`. */
export const inboundLogRetention = job({
  name: 'inbound-log-retention',
  every: HOUR_MS,
  run: ({ app }) => app.store.inboundLog.prune(app.clock.now() - app.config.LOG_RETENTION_DAYS * DAY_MS),
})

/** Content is written before the row that names it; what a crash left without a row goes here. */
export const blobSweep = job({
  name: 'blob-sweep',
  every: DAY_MS,
  run: ({ app }) => app.store.blobs.sweep((hashes) => app.store.messages.namedBlobs(hashes)),
})
