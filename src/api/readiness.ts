// Readiness: both databases can be written and read, and files can be created.

import { ProductError } from '../base/errors.ts'
import { freeInodes, INODES_LOW } from '../base/free-inodes.ts'
import { storageError } from '../base/storage-error.ts'
import type { Context } from '../context.ts'
import { probeWrite } from '../db/probe.ts'
import { newestEvent } from '../events/outbox.ts'
import { damageCount } from '../maintenance/damage.ts'
import { readNewestEmail } from '../outbound/log/named-contents.ts'
import { readNewestContent } from '../store/content/blobs.ts'
import { newestInbound } from '../store/log/inbound-log.ts'
import { readNewestMessage } from '../store/messages/recount.ts'

const NOT_READY_RETRY_SECONDS = 1
/** The path is public: concurrent requests share one check. */
const checks = new WeakMap<Context, Promise<string[]>>()

/**
 * @returns what is wrong although messages can be accepted and read, in sentences
 * @throws ProductError service_unavailable with the first thing that fails
 */
export function checkReady(app: Context): Promise<string[]> {
  const known = checks.get(app)
  if (known !== undefined) return known
  const check = lookAt(app).finally(() => checks.delete(app))
  checks.set(app, check)
  return check
}

async function lookAt(app: Context): Promise<string[]> {
  const inodes = await inodesOf(app)
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
  return [app.guard.complaint(), inodeDetail(inodes), damageDetail(app)].filter((detail) => detail !== null)
}

/** @throws ProductError service_unavailable without free inodes: large messages cannot be received */
async function inodesOf({ config }: Context): Promise<number> {
  const free = await freeInodes(config.DATA_DIR)
  if (free > 0) return free
  const sentence = 'The disk of the appliance has no free inodes. Delete files that are not needed.'
  throw new ProductError('service_unavailable', sentence, { retryAfter: NOT_READY_RETRY_SECONDS })
}

function inodeDetail(free: number): string | null {
  return free >= INODES_LOW ? null : `Only ${free} inodes are free on the disk of the appliance.`
}

/** Damage costs no other message: messages are accepted and read. */
function damageDetail({ store }: Context): string | null {
  const contents = store.blobs.damaged.count()
  return contents === 0 ? null : `${damageCount({ contents })}. mailstead doctor names its messages.`
}
