// Opens the appliance on its two databases: checks that they belong together before anything is read from them or written.

import { stat } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { isNear } from '../../base/clock-guard.ts'
import { ProductError } from '../../base/errors.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Db } from '../../db/db.ts'
import { newestEvent } from '../../events/outbox.ts'
import { newestInbound } from '../log/inbound-log.ts'
import { lastActivity } from '../rows/accounts.ts'
import { DataFolderIdentity } from './appliance.ts'
import { checkIdentity } from './identity.ts'

export interface OpenDeps {
  db: Db
  blobsDb: Db
  clock: Clock
  vault: Vault
  secretSource: string
  isInUse: boolean
  /** When mail.db was last written, before it was opened; null for a new one. ms */
  writtenAt: number | null
}

/** @throws ProductError what {@link checkIdentity} throws */
export async function openDataFolderIdentity({ writtenAt, ...deps }: OpenDeps): Promise<DataFolderIdentity> {
  const now = deps.clock.now()
  const identity = await checkIdentity({
    ...deps,
    lastSeenAt: () => firstSeen(newestRow(deps.db), writtenAt, now),
  })
  return new DataFolderIdentity(deps, identity)
}

/** When (ms) the newest row of the tables that grow was written; null where there is none. */
function newestRow({ read }: Db): number | null {
  const times = [newestInbound(read), newestEvent(read), lastActivity(read)]
  const known = times.filter((at) => at !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/**
 * The time last seen by an earlier version, which kept none: its newest row, unless the file itself was written just now. A quiet
 * appliance may have no row of the last days.
 */
function firstSeen(newestRow: number | null, writtenAt: number | null, now: number): number {
  if (newestRow === null || isNear(now - newestRow)) return now
  const isQuiet = now > newestRow && writtenAt !== null && isNear(now - writtenAt)
  return isQuiet ? now : newestRow
}

/**
 * Refuses what SQLite would take for a new database: a file without a byte beside one that has some.
 * @returns when mail.db was last written, ms; null where it is new
 */
export async function checkFiles(mailFile: string, blobsFile: string): Promise<number | null> {
  const [mail, blobs, log] = await Promise.all([lookAt(mailFile), lookAt(blobsFile), lookAt(`${mailFile}-wal`)])
  if (mail?.size === 0 && (blobs?.size ?? 0) > 0) throw emptyFile(mailFile, blobsFile)
  return mail && Math.max(mail.mtimeMs, log?.mtimeMs ?? 0)
}

/** Refuses a blobs.db without a byte beside a mail.db that is in use. */
export async function checkBlobsFile(mailFile: string, blobsFile: string): Promise<void> {
  if ((await lookAt(blobsFile))?.size === 0) throw emptyFile(blobsFile, mailFile)
}

async function lookAt(file: string): Promise<{ size: number; mtimeMs: number } | null> {
  return stat(file).catch(() => null)
}

function emptyFile(file: string, other: string): ProductError {
  return new ProductError(
    'service_unavailable',
    `${file} is empty (0 bytes) although ${other} is in use. Put back both databases of one backup: mailstead restore <file> into an empty folder.`,
  )
}
