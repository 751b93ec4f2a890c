// Jobs: delete log rows, dispatched events, uploads and unreferenced blobs after their retention.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { ATTEMPT_RETENTION_DAYS } from '../events/webhooks/attempts.ts'
import { pruneEvents } from '../events/webhooks/retention.ts'
import { namedBlobs } from '../outbound/log/named-contents.ts'
import { REMOVED_HELD_MS } from '../store/messages/removed.ts'
import { job } from './job.ts'

/** How long the requests of teams are listed. */
const REQUEST_RETENTION_MS = 3 * DAY_MS

/** docs/design/receiving.md §2: rows of the inbound log are kept for `LOG_RETENTION_DAYS`. */
export const inboundLogRetention = job({
  name: 'inbound-log-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.store.log.inbound.prune(app.clock.now() - app.config.LOG_RETENTION_DAYS * DAY_MS),
})

/** docs/design/sending.md §6: rows of the delivery log are kept as long; rows of queued messages longer. */
export const deliveryLogRetention = job({
  name: 'delivery-log-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.outbound.log.deliveries.prune(app.clock.now() - app.config.LOG_RETENTION_DAYS * DAY_MS),
})

/** The content of messages whose delivery failed is kept for seven days, so that they can be resent. */
export const keptContentRelease = job({
  name: 'kept-content-release',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.outbound.log.keptContents.release(app.clock.now()),
})

/** Entries of the audit log are kept as long as the rows of the other logs. */
export const auditRetention = job({
  name: 'audit-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.people.audit.prune(app.clock.now() - app.config.LOG_RETENTION_DAYS * DAY_MS),
})

/** API requests of teams, see `directory/names/request-log.ts`. */
export const requestRetention = job({
  name: 'request-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.directory.requests.prune(app.clock.now() - REQUEST_RETENTION_MS),
})

/** Decisions-docs/design/structure.md §3: sign-ins of mail programs are kept for `SIGN_IN_RETENTION_DAYS`. */
export const signInRetention = job({
  name: 'sign-in-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.directory.signIns.prune(app.clock.now() - app.config.SIGN_IN_RETENTION_DAYS * DAY_MS),
})

/** docs/design/events.md §5: webhook delivery attempts are kept for 30 days. */
export const webhookAttemptRetention = job({
  name: 'webhook-attempt-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => app.eventDispatch.prune(app.clock.now() - ATTEMPT_RETENTION_DAYS * DAY_MS),
})

/** An event can be replayed for `WEBHOOK_PAYLOAD_RETENTION_DAYS` after its last attempt, which is at most a day after the event. */
export const eventRetention = job({
  name: 'event-retention',
  every: HOUR_MS,
  byAge: true,
  run: ({ app }) => pruneEvents(app.db, app.clock.now() - (app.config.WEBHOOK_PAYLOAD_RETENTION_DAYS + 1) * DAY_MS),
})

/** docs/design/mailbox.md §1: changes are kept for 30 days, and the newest 10,000 of each type regardless of age. */
export const changeRetention = job({
  name: 'change-retention',
  every: DAY_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.upkeep.history.prune(signal),
})

/** A blob is written before the row that references it; the sweep removes blobs without a row. */
export const blobSweep = job({
  name: 'blob-sweep',
  every: DAY_MS,
  byAge: true,
  async run({ app }) {
    // A full disk may have prevented it at the start: until then content that mail.db may be too old to reference is not noted.
    if (!(await app.appliance.ensureOpen())) return 0
    return app.store.blobs.sweep((hashes) => namedBlobs(app.store, app.outbound.log, hashes))
  },
})

/** The same for what a mailbox erases in bulk on this thread: between two sweeps it could fill the disk, whatever its quota. */
export const erasedContent = job({
  name: 'erased-content',
  every: MINUTE_MS,
  byAge: true,
  async run({ app, signal }) {
    if (!app.appliance.isOpen) return 0
    return app.store.upkeep.erased.release(
      (hashes) => namedBlobs(app.store, app.outbound.log, hashes),
      app.clock.now(),
      signal,
    )
  },
})

/** docs/design/mailbox.md §13: a sender who got a vacation reply a week ago may get another one. */
export const vacationSenders = job({
  name: 'vacation-senders',
  every: HOUR_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.delivery.vacations.pruneSenders(signal),
})

/** What was forwarded and notified, and the ids that scripts have seen: a mailbox forgets most with the next one, or here. */
export const forwardingMemory = job({
  name: 'forwarding-memory',
  every: DAY_MS,
  byAge: true,
  async run({ app: { store, db, clock }, signal }) {
    let deleted = 0
    for (const memory of [store.delivery.forwarded, store.delivery.scriptIds, store.delivery.notifications]) {
      let account = memory.accountAfter(db.read, 0)
      while (account !== undefined && !signal.aborted) {
        const current = account
        deleted += await db.write((tx) => memory.forgetIn(tx, current, clock.now()))
        account = memory.accountAfter(db.read, current)
      }
    }
    return deleted
  },
})

/** docs/design/outside-accounts.md §8: messages that were removed at the server can be restored for 30 days. */
export const removedMessages = job({
  name: 'removed-messages',
  every: HOUR_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.edit.removed.expire(app.clock.now() - REMOVED_HELD_MS, signal),
})

/** docs/design/mailbox.md §10: an upload that no message references expires after a day. */
export const uploadExpiry = job({
  name: 'upload-expiry',
  every: 10 * MINUTE_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.edit.uploads.expire(signal),
})

/** docs/design/webmail.md §4: a change can be undone for a day. */
export const undoExpiry = job({
  name: 'undo-expiry',
  every: 10 * MINUTE_MS,
  byAge: true,
  run: ({ app, signal }) => app.store.edit.undo.expire(signal),
})

/** Consent of Google or Microsoft that was asked for and not given within ten minutes. */
export const oauthStateExpiry = job({
  name: 'oauth-state-expiry',
  every: 10 * MINUTE_MS,
  byAge: true,
  run: ({ app }) => app.outbound.accounts.oauth.prune(),
})
