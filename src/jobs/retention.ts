// Erases what has been kept long enough: rows of the logs, events that were told, and content nothing names.

import { ATTEMPT_RETENTION_DAYS } from '../events/webhooks/attempts.ts'
import { pruneEvents } from '../events/webhooks/retention.ts'
import { job } from './job.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000
const MINUTE_MS = 60 * 1000

/** Decisions §6.4: rows of the inbound log live `LOG_RETENTION_DAYS`. */
export const inboundLogRetention = job({
  name: 'inbound-log-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.store.inboundLog.prune(app.clock.now() - app.config.LOG_RETENTION_DAYS * DAY_MS),
})

/** Decisions §6.1: rows of the delivery log live as long, those that still wait longer. */
export const deliveryLogRetention = job({
  name: 'delivery-log-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.outbound.log.prune(app.clock.now() - app.config.LOG_RETENTION_DAYS * DAY_MS),
})

/** Decisions §9.5: how often an event was tried is shown for 30 days. */
export const webhookAttemptRetention = job({
  name: 'webhook-attempt-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.telling.prune(app.clock.now() - ATTEMPT_RETENTION_DAYS * DAY_MS),
})

/** What was told may be asked for again for `WEBHOOK_PAYLOAD_RETENTION_DAYS` after its last try, a day after the event at most. */
export const eventRetention = job({
  name: 'event-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => pruneEvents(app.db, app.clock.now() - (app.config.WEBHOOK_PAYLOAD_RETENTION_DAYS + 1) * DAY_MS),
})

/** Decisions §10.1: changes are told for 30 days, and the newest 10,000 of a type however old they are. */
export const changeRetention = job({
  name: 'change-retention',
  every: DAY_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.history.prune(signal),
})

/** Content is written before the row that names it; what a crash left without a row goes here, and so does what has left. */
export const blobSweep = job({
  name: 'blob-sweep',
  every: DAY_MS,
  byAge: true,
  run: ({ app }) =>
    app.store.blobs.sweep(async (hashes) => {
      const kept = await app.store.messages.namedBlobs(hashes)
      const uploaded = await app.store.uploads.namedBlobs(hashes)
      return kept.union(uploaded).union(await app.outbound.emails.namedBlobs(hashes))
    }, app.appliance.unknown),
})

/** Decisions §10.13: who was answered a week ago may be answered again. */
export const vacationSenders = job({
  name: 'vacation-senders',
  every: HOUR_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.vacations.forget(signal),
})

/** Decisions §10.10: an upload nothing names goes after a day. */
export const uploadExpiry = job({
  name: 'upload-expiry',
  every: 10 * MINUTE_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.uploads.expire(signal),
})
