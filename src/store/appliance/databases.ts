// Opens mail.db and blobs.db: makes them in an empty folder, refuses what does not belong together, closes them in order.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { DiskReserve } from '../../base/disk-reserve.ts'
import { ProductError } from '../../base/errors.ts'
import { closeAll } from '../../base/lifecycle.ts'
import type { Log } from '../../base/log.ts'
import type { Vault } from '../../base/secrets.ts'
import type { DataFolder } from '../../config/data-folder.ts'
import { Db } from '../../db/db.ts'
import { lockFolder } from '../../db/folder-lock.ts'
import { type Migration, migrate, type OnFill } from '../../db/migrate.ts'
import { blobMigrations, mailMigrations } from '../../db/migrations/migrations.ts'
import type { DbThreads } from '../../db/threads.ts'
import { Teams } from '../../directory/keys/teams.ts'
import type { DataFolderIdentity } from './appliance.ts'
import { checkBlobsFile, checkFiles, openDataFolderIdentity } from './open.ts'

export interface DatabaseOptions {
  folder: Pick<DataFolder, 'path' | 'secretSource'>
  threads: DbThreads
  /** Keeps little in memory. */
  lean: boolean
  /** True for the one appliance that works on the folder, and locks it; false for its other threads, and for commands. */
  alone: boolean
  clock: Clock
  log: Log
  vault: Vault
}

export interface Databases {
  db: Db
  blobsDb: Db
  appliance: DataFolderIdentity
  reserve: DiskReserve
  /** Marks the databases as closed in order, and closes them and the threads that read them. */
  close(): Promise<void>
}

type OpenOptions = DatabaseOptions & { reserve: DiskReserve }

/** @throws ProductError service_unavailable with a sentence that says what is wrong with a file and what to do */
export async function openDatabases(options: DatabaseOptions): Promise<Databases> {
  const unlock = options.alone ? lockFolder(options.folder.path) : () => {}
  const opened: Db[] = []
  try {
    const reserve = new DiskReserve(join(options.folder.path, 'reserve'))
    const { db, blobsDb, appliance } = await openFiles({ ...options, reserve }, opened)
    const markClosed = options.alone ? await markOpen(appliance, options) : async () => {}
    const parts = [options.threads, blobsDb, db].map((part) => () => part.close())
    return { db, blobsDb, appliance, reserve, close: () => closeAll([markClosed, ...parts, async () => unlock()]) }
  } catch (error) {
    // An open database keeps the process from ending.
    await closeAll([...opened.toReversed().map((db) => () => db.close()), async () => unlock()])
    throw error
  }
}

async function openFiles(options: OpenOptions, opened: Db[]): Promise<Omit<Databases, 'close' | 'reserve'>> {
  const { folder, clock, vault } = options
  const [mailFile, blobsFile] = [join(folder.path, 'mail.db'), join(folder.path, 'blobs.db')]
  const open = async (file: string, steps: readonly Migration[]) => {
    const db = await openDb(file, options, steps)
    opened.push(db)
    return db
  }
  // Content is made after mail.db. Next to an empty one all of it would be deleted as unreferenced. Looked at in this
  // order, because another process may be making both.
  if (existsSync(blobsFile) && !existsSync(mailFile)) throw missing(mailFile, blobsFile)
  const writtenAt = await checkFiles(mailFile, blobsFile)
  const db = await open(mailFile, mailMigrations)
  // The first team comes after both files: before it a start that was cut short is taken up again.
  const isInUse = new Teams({ db, clock }).list().length > 0
  if (isInUse && !existsSync(blobsFile)) throw missing(blobsFile, mailFile)
  if (isInUse) await checkBlobsFile(mailFile, blobsFile)
  const blobsDb = await open(blobsFile, blobMigrations)
  const { secretSource } = folder
  const appliance = await openDataFolderIdentity({ db, blobsDb, clock, vault, secretSource, isInUse, writtenAt })
  return { db, blobsDb, appliance }
}

function missing(file: string, other: string): ProductError {
  const sentence = `${file} is missing although ${other} is there; put it back from a backup, or begin with an empty folder.`
  return new ProductError('service_unavailable', sentence)
}

async function openDb(file: string, options: OpenOptions, steps: readonly Migration[]): Promise<Db> {
  const { threads, lean, log, reserve } = options
  const onFill: OnFill = (progress) => log.info({ event: 'appliance.upgrading', file, ...progress }, 'Upgrading data')
  const upkeepFailed = (error: unknown) =>
    log.error(
      { event: 'db.upkeep_failed', file, err: error },
      'Upkeep of the database failed; logged once for each cause',
    )
  const db = new Db({ file, threads, lean, upkeepFailed, reserve })
  try {
    await migrate(db, steps, onFill)
  } catch (error) {
    await db.close().catch(() => {})
    if (error instanceof ProductError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new ProductError('service_unavailable', `The database ${file} cannot be opened: ${reason}.`, { cause: error })
  }
  return db
}

/** Marks the databases as open until they are closed; jobs/heartbeat.ts writes heartbeats meanwhile. */
async function markOpen(appliance: DataFolderIdentity, { log }: DatabaseOptions): Promise<() => Promise<void>> {
  const warn = (event: string) => (error: unknown) => log.warn({ event, err: error }, 'Heartbeat not written')
  const wasUnclean = await appliance.open().catch(warn('appliance.open_failed'))
  if (wasUnclean === true) log.info({ event: 'appliance.unclean_end' }, 'Numbers skipped after an unclean end')
  if (appliance.mailState !== 'current') {
    const message = 'mail.db is older than blobs.db or was replaced; content it does not reference is kept for 30 days'
    log.warn({ event: 'appliance.mail_db_replaced', mail_db: appliance.mailState }, message)
  }
  return () => appliance.heartbeat(true).catch(warn('appliance.close_failed'))
}
