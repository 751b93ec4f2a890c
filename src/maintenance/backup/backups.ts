// Backups that the running appliance makes in a folder of its own, one at a time.

import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { entryFile } from '../../base/entry.ts'
import { conflict, ProductError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import { makeFolder } from '../../config/make-folder.ts'
import { damageCount, damageText } from '../damage.ts'
import type { ProgressUnit } from '../progress.ts'
import type { BackupNote } from './backup-thread.ts'
import type { BackupOrder } from './make.ts'
import { sizeText } from './size-text.ts'
import { openWorkFolder, workFolderOf } from './work-folder.ts'

export interface BackupRecord {
  /** Name of the file in the folder. */
  name: string
  status: 'running' | 'complete' | 'failed'
  /** When it was started, ms. */
  startedAt: number
  /** Null until it is complete. */
  sizeBytes: number | null
  /** How many messages it holds; null where that is not known without reading it. */
  messages: number | null
  /** The step that runs. */
  progress: { label: string; unit: ProgressUnit; done: number; total: number | null } | null
  /** Why it failed, in a sentence. */
  failure: string | null
  /** Which contents in it are damaged, in sentences; null when none is, or where that is not known without reading it. */
  damage: string | null
}

/** Names of the files; others in the folder are not listed. */
export const BACKUP_NAME = '^mailstead-[0-9]{8}T[0-9]{6}Z\\.tar\\.zst$'
/** Backups that are listed, the newest. */
export const LISTED_MAX = 100
const NAME = new RegExp(BACKUP_NAME)
/** A backup exists as copies and as an archive that is read back while it is made. */
const ROOM_FACTOR = 2

export class Backups {
  readonly #deps: { config: Config; clock: Clock; log: Log }
  /** The backup that was started last by this process. */
  #last: BackupRecord | null = null
  #running: { worker: Worker; file: string; ended: Promise<unknown> } | null = null
  #isStarting = false

  constructor(deps: { config: Config; clock: Clock; log: Log }) {
    this.#deps = deps
  }

  /** The folder that holds them. */
  get folder(): string {
    const { BACKUP_DIR: named, DATA_DIR: data } = this.#deps.config
    return named === '' ? join(resolve(data), 'backups') : resolve(named)
  }

  /**
   * Newest first; the one that runs, or failed, is among them.
   * @throws ProductError service_unavailable when the folder cannot be read
   */
  async list(): Promise<BackupRecord[]> {
    const last = this.#last
    const names = (await this.#names()).filter((name) => NAME.test(name) && name !== last?.name)
    const newest = names.sort().reverse().slice(0, LISTED_MAX)
    const stored = (await Promise.all(newest.map((name) => this.#stored(name)))).filter((one) => one !== null)
    return (last === null ? stored : [last, ...stored]).sort((a, b) => b.startedAt - a.startedAt)
  }

  /** Undefined for an unknown one. @param name see {@link BACKUP_NAME} */
  async get(name: string): Promise<BackupRecord | undefined> {
    if (!NAME.test(name)) return undefined
    if (this.#last?.name === name) return this.#last
    return (await this.#stored(name)) ?? undefined
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
      const name = nameOf(startedAt)
      if ((await this.#stored(name)) !== null) throw conflict('A backup was made in this second. Try again.')
      const record: BackupRecord = {
        ...{
          name,
          status: 'running',
          startedAt,
          sizeBytes: null,
          messages: null,
          progress: null,
          failure: null,
          damage: null,
        },
      }
      this.#last = record
      this.#run(record)
      return record
    } finally {
      this.#isStarting = false
    }
  }

  /** Resolves when no backup runs. */
  async settle(): Promise<void> {
    await this.#running?.ended
  }

  /** Ends the backup that runs; nothing of it stays. */
  async close(): Promise<void> {
    const running = this.#running
    if (running === null) return
    await running.worker.terminate()
    await running.ended
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
        const isLeft = name.endsWith('.part') && NAME.test(name.slice(0, -'.part'.length))
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

  #names(): Promise<string[]> {
    return readdir(this.folder).catch((error: unknown) => this.#missing(error, []))
  }

  /** What is not there is none; what cannot be read must not look like none. @throws ProductError service_unavailable */
  #missing<T>(error: unknown, none: T): T {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return none
    const sentence = `The folder of backups ${this.folder} cannot be read: ${message}. Correct its rights, or set BACKUP_DIR.`
    throw new ProductError('service_unavailable', sentence, { cause: error })
  }

  async #stored(name: string): Promise<BackupRecord | null> {
    const found = await stat(join(this.folder, name)).catch((error: unknown) => this.#missing(error, null))
    if (found === null || !found.isFile()) return null
    const none = { messages: null, progress: null, failure: null, damage: null }
    return { name, status: 'complete', startedAt: timeIn(name), sizeBytes: found.size, ...none }
  }
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

function nameOf(time: number): string {
  const text = new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `mailstead-${text}.tar.zst`
}

/** ms, of a name that matches. */
function timeIn(name: string): number {
  const [, y, mo, d, h, mi, s] = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(name)!.map(Number)
  return Date.UTC(y!, mo! - 1, d!, h!, mi!, s!)
}
