// Readiness: both databases can be written and read.

import { ProductError } from '../base/errors.ts'
import { storageError } from '../base/storage-error.ts'
import type { Context } from '../context.ts'
import { probeWrite } from '../db/probe.ts'
import { newestEvent } from '../events/outbox.ts'
import { readNewestEmail } from '../outbound/log/named-contents.ts'
import { readNewestContent } from '../store/blobs.ts'
import { newestInbound } from '../store/inbound-log.ts'
import { readNewestMessage } from '../store/messages/check-rows.ts'

const NOT_READY_RETRY_SECONDS = 1
/** The path is public: concurrent requests share one check. */
const checks = new WeakMap<Context, Promise<void>>()

/** @throws ProductError service_unavailable with the first thing that fails */
export function checkReady(app: Context): Promise<void> {
  const known = checks.get(app)
  if (known !== undefined) return known
  const check = lookAt(app).finally(() => checks.delete(app))
  checks.set(app, check)
  return check
}

async function lookAt(app: Context): Promise<void> {
  try {
    for (const db of [app.db, app.blobsDb]) {
      // An empty unit of work waits its turn, takes the write lock and commits, as a delivery does.
      await db.write(() => {})
      await probeWrite(db.file)
    }
    readNewestMessage(app.db.read)
    newestInbound(app.db.read)
    newestEvent(app.db.read)
    readNewestEmail(app.db.read)
    readNewestContent(app.blobsDb.read)
  } catch (cause) {
    const sentence = storageError(cause)?.message ?? 'The database cannot be written now. Check the disk and the log.'
    throw new ProductError('service_unavailable', sentence, { cause, retryAfter: NOT_READY_RETRY_SECONDS })
  }
}
