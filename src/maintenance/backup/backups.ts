// Backups that the running appliance makes in a folder of its own, one at a time.

import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { entryFile } from '../../base/entry.ts'
import { conflict, ProductError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import { followChosen } from '../../config/load.ts'
import { makeFolder } from '../../config/make-folder.ts'
import type { Db } from '../../db/db.ts'
import { readApplianceId } from '../../store/appliance/record.ts'
import { damageCount, damageText } from '../damage.ts'
import type { BackupNote } from './backup-thread.ts'
import { BackupFolder, type BackupRecord, type Disk, isBackupName, isGood, nameOf } from './folder.ts'
import { type KeepRule, keepRuleOf, outdated } from './keep.ts'
import type { GoodBackup } from './last-good.ts'
import type { BackupOrder } from './make.ts'
import { dueAt, isLate, nextAt } from './schedule.ts'
import { sizeText } from './size-text.ts'
import { openWorkFolder, workFolderOf } from './work-folder.ts'

/** What is made without anybody asking, and where. */
export interface BackupPlan {
  folder: string
  disk: Disk
  /** Bytes that the next backup needs free on it. */
  neededBytes: number
  /** Times of the day in UTC; none: backups are made on demand alone. */
  times: readonly string[]
  /** Which ones are kept; null: all. */
  keep: KeepRule | null
  /** When the next one is due, ms. */
  nextAt: number | null
  lastGood: GoodBackup | null
  /** The last good one is older than the schedule allows; without a schedule, than a week. */
  isLate: boolean
  /** Why the folder cannot be read, in a sentence. */
  problem: string | null
}

/** A backup exists as copies and as an archive that is read back while it is made. */
const ROOM_FACTOR = 2
/** A scheduled backup that failed is tried again after this time, ms. */
const RETRY_MS = 30 * MINUTE_MS

export class Backups {
  readonly #deps: Deps
  readonly #folder: BackupFolder
  /** The backup that was started last by this process. */
  #last: BackupRecord | null = null
  #running: { worker: Worker; file: string; ended: Promise<unknown> } | null = null
  #isStarting = false
  /** The deletion of old ones that goes on. */
  #trimming: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#folder = new BackupFolder(deps.config, () => readApplianceId(deps.db.read))
  }

  /** The folder that holds them. */
  get folder(): string {
    return this.#folder.path
  }

  /**
   * Newest first; the one that runs, or failed, is among them.
   * @throws ProductError service_unavailable when the folder cannot be read
   */
  async list(): Promise<BackupRecord[]> {
    const last = this.#last
    const stored = (await this.#folder.list()).filter(({ name }) => name !== last?.name)
    return (last === null ? stored : [last, ...stored]).sort((a, b) => b.startedAt - a.startedAt)
  }

  /** Undefined for an unknown one. @param name see {@link BACKUP_NAME} */
  async get(name: string): Promise<BackupRecord | undefined> {
    if (!isBackupName(name)) return undefined
    if (this.#last?.name === name) return this.#last
    return (await this.#folder.read(name)) ?? undefined
  }

  /**
   * Starts a backup in a thread of its own.
   * @throws ProductError conflict while one runs, service_unavailable without room on the disk or where the folder cannot be written
   */
  async start(): Promise<BackupRecord> {
    if (this.#running !== null || this.#isStarting) throw conflict('A backup is running. Wait until it has ended.')
    this.#isStarting = true
    try {
      await this.#prepareFolder()
      const startedAt = this.#deps.clock.now()
      const record = runningRecord(startedAt)
      if ((await this.#folder.read(record.name)) !== null)
        throw conflict('A backup was made in this second. Try again.')
      this.#last = record
      this.#run(record)
      return record
    } finally {
      this.#isStarting = false
    }
  }

  /**
   * Starts the backup that is due by BACKUP_TIMES, unless it was made. One that failed is tried again half an hour later.
   * @returns whether one was started
   */
  async startDue(): Promise<boolean> {
    const { config, clock, log } = this.#deps
    followChosen(config)
    const now = clock.now()
    const due = dueAt(config.BACKUP_TIMES, now)
    if (due === null || this.#running !== null || this.#isStarting) return false
    const failedAt = this.#last?.status === 'failed' ? this.#last.startedAt : null
    if (failedAt !== null && now >= failedAt && now - failedAt < RETRY_MS) return false
    try {
      const made = (await this.#folder.list()).filter(({ isOwn, status }) => isOwn && status === 'complete')
      // One that a wrong clock dated in the future keeps none from being made.
      if (made.some(({ startedAt }) => startedAt >= due && startedAt <= now)) return false
      await this.start()
      return true
    } catch (error) {
      const failure = error instanceof ProductError ? error.message : 'An internal error occurred; see the log.'
      this.#last = { ...runningRecord(now), status: 'failed', failure }
      log.error({ event: 'backup.failed', err: error }, `Scheduled backup failed: ${failure}`)
      return false
    }
  }

  /** What is made without anybody asking, and whether it was. */
  async plan(): Promise<BackupPlan> {
    const { config, clock } = this.#deps
    followChosen(config)
    const now = clock.now()
    let problem: string | null = null
    const lastGood = await this.#folder.lastGood(now).catch((error: Error) => {
      problem = error.message
      return null
    })
    const hasFailed = problem !== null || this.#last?.status === 'failed'
    return {
      folder: this.folder,
      disk: await this.#folder.disk(),
      neededBytes: ROOM_FACTOR * (await this.#dataBytes()),
      times: config.BACKUP_TIMES,
      keep: keepRuleOf(config.BACKUP_KEEP),
      nextAt: nextAt(config.BACKUP_TIMES, now),
      lastGood,
      isLate: isLate({ times: config.BACKUP_TIMES, lastGood, hasFailed, now }),
      problem,
    }
  }

  /** Resolves when no backup runs, and old ones are deleted. */
  async settle(): Promise<void> {
    await this.#running?.ended
    await this.#trimming
  }

  /** Ends the backup that runs; nothing of it stays. */
  async close(): Promise<void> {
    await this.#running?.worker.terminate()
    await this.settle()
  }

  #run(record: BackupRecord): void {
    const { config, log } = this.#deps
    const file = join(this.folder, record.name)
    const order: BackupOrder = { folder: resolve(config.DATA_DIR), secret: config.APP_SECRET, file }
    const worker = new Worker(entryFile(new URL('./backup-thread.ts', import.meta.url)), {
      workerData: order,
      name: 'backup',
    })
    const ended = Promise.withResolvers<void>()
    this.#running = { worker, file, ended: ended.promise }
    log.info({ event: 'backup.started', file }, 'Backup started')
    worker.on('message', (note: BackupNote) => this.#take(record, note))
    worker.on('error', (error: unknown) => this.#fail(record, null, error))
    worker.once('exit', () => {
      if (record.status === 'running') this.#fail(record, 'It was interrupted.', undefined)
      this.#running = null
      // What a thread that was ended has left holds all messages unencrypted.
      rm(workFolderOf(file), { recursive: true, force: true }).then(ended.resolve, ended.resolve)
    })
  }

  #take(record: BackupRecord, note: BackupNote): void {
    if (note.kind === 'step') {
      const { label, unit, done, total } = note
      record.progress = { label, unit, done, total }
    } else if (note.kind === 'failed') this.#fail(record, note.sentence, new Error(note.error))
    else {
      const { sizeBytes, messages, damage } = note
      Object.assign(record, { status: 'complete', progress: null, sizeBytes, messages, damage: damageText(damage) })
      if (damage.contents === 0) this.#trimming = this.#trim()
      const facts = { event: 'backup.made', file: record.name, size_bytes: sizeBytes, messages }
      if (damage.contents === 0) this.#deps.log.info(facts, 'Backup made')
      else this.#deps.log.error({ ...facts, damaged: damage.names }, `Backup made, but ${damageCount(damage)}`)
    }
  }

  #fail(record: BackupRecord, sentence: string | null, error: unknown): void {
    const failure = sentence ?? 'An internal error occurred; see the log.'
    Object.assign(record, { status: 'failed', progress: null, failure })
    this.#deps.log.error({ event: 'backup.failed', file: record.name, err: error }, `Backup failed: ${failure}`)
  }

  /** Creates the folder, removes what an interrupted backup left, and checks the room on the disk. */
  async #prepareFolder(): Promise<void> {
    const { folder } = this
    try {
      await makeFolder(folder, 0o700)
      for (const name of await readdir(folder)) {
        const isLeft = name.endsWith('.part') && isBackupName(name.slice(0, -'.part'.length))
        if (isLeft) await removeUnused(join(folder, name))
      }
    } catch (error) {
      if (error instanceof ProductError) throw error
      const { message } = error as Error
      throw new ProductError('service_unavailable', `The folder of backups cannot be written: ${message}.`, {
        cause: error,
      })
    }
    const needed = ROOM_FACTOR * (await this.#dataBytes())
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize >= needed) return
    const sentence = `A backup needs ${sizeText(needed)} on the disk of ${folder}, and ${sizeText(bavail * bsize)} are free.`
    throw new ProductError('service_unavailable', `${sentence} Free some space, or set BACKUP_DIR.`)
  }

  async #dataBytes(): Promise<number> {
    const folder = resolve(this.#deps.config.DATA_DIR)
    const sizes = await Promise.all(['mail.db', 'blobs.db'].map((name) => stat(join(folder, name))))
    return sizes.reduce((sum, { size }) => sum + size, 0)
  }

  /**
   * Deletes what BACKUP_KEEP does not keep, where backups are scheduled. Damaged and foreign ones neither count nor go, and none goes
   * after a damaged one.
   */
  async #trim(): Promise<void> {
    const { config, log } = this.#deps
    const rule = keepRuleOf(config.BACKUP_KEEP)
    if (rule === null || config.BACKUP_TIMES.length === 0) return
    try {
      const good = (await this.#folder.list(Number.POSITIVE_INFINITY)).filter(isGood)
      for (const { name } of outdated(good, rule)) {
        if (await this.#folder.delete(name)) log.info({ event: 'backup.deleted', file: name }, 'Old backup deleted')
      }
    } catch (error) {
      log.error({ event: 'backup.not_deleted', err: error }, 'Old backups could not be deleted')
    }
  }
}

interface Deps {
  config: Config
  db: Pick<Db, 'read'>
  clock: Clock
  log: Log
}

function runningRecord(startedAt: number): BackupRecord {
  const none = { sizeBytes: null, messages: null, progress: null, failure: null, damage: null }
  return { name: nameOf(startedAt), status: 'running', startedAt, ...none, isOwn: true }
}

/** Removes a work folder unless another process holds it. */
async function removeUnused(path: string): Promise<void> {
  try {
    const free = await openWorkFolder(path, 'busy')
    await rm(path, { recursive: true, force: true })
    free()
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
  }
}
