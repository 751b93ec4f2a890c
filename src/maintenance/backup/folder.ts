// The folder of backups: what is in it by the manifests of its files, and the disk it is on.

import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ProductError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { damageCount } from '../damage.ts'
import type { ProgressUnit } from '../progress.ts'
import { type GoodBackup, readLastGood } from './last-good.ts'
import type { Manifest } from './manifest.ts'
import { readArchiveManifest } from './unpack.ts'

/** Names of the files; others in the folder are not listed. */
export const BACKUP_NAME = '^mailstead-[0-9]{8}T[0-9]{6}Z\\.tar\\.zst$'
/** Backups that are listed, the newest. */
export const LISTED_MAX = 100
const NAME = new RegExp(BACKUP_NAME)

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
  /** Which contents in it are damaged, in sentences; null when none is. */
  damage: string | null
  /** Whether it is of this appliance: others may use the same folder. */
  isOwn: boolean
}

/** The disk that a folder is on, or will be on. */
export interface Disk {
  /** Where it is mounted. */
  mountPoint: string
  sizeBytes: number
  freeBytes: number
  /** The data folder is on it too: both are lost together. */
  isDataDisk: boolean
}

interface Known {
  sizeBytes: number
  changedAt: number
  manifest: Manifest | null
}

export const isBackupName = (name: string): boolean => NAME.test(name)

export class BackupFolder {
  readonly path: string
  readonly #dataDir: string
  readonly #applianceId: () => string | undefined
  /** Manifests by the name of their file. */
  readonly #known = new Map<string, Known>()

  /** @param applianceId of the appliance whose backups count */
  constructor(config: Pick<Config, 'BACKUP_DIR' | 'DATA_DIR'>, applianceId: () => string | undefined) {
    this.#dataDir = resolve(config.DATA_DIR)
    this.#applianceId = applianceId
    this.path = config.BACKUP_DIR === '' ? join(this.#dataDir, 'backups') : resolve(config.BACKUP_DIR)
  }

  /**
   * The newest ones, newest first; what is not there is none.
   * @throws ProductError service_unavailable when the folder cannot be read
   */
  async list(most = LISTED_MAX): Promise<BackupRecord[]> {
    const names = await readdir(this.path).catch((error: unknown) => this.#missing<string[]>(error, []))
    const newest = names.filter(isBackupName).sort().reverse().slice(0, most)
    const records = await Promise.all(newest.map((name) => this.read(name)))
    for (const name of this.#known.keys()) if (!names.includes(name)) this.#known.delete(name)
    return records.filter((record) => record !== null)
  }

  /** Null for a file that is not there. @param name see {@link BACKUP_NAME} */
  async read(name: string): Promise<BackupRecord | null> {
    const file = await stat(join(this.path, name)).catch((error: unknown) => this.#missing(error, null))
    if (file === null || !file.isFile()) return null
    const manifest = await this.#manifestOf(name, { sizeBytes: file.size, changedAt: file.mtimeMs })
    const damaged = manifest?.damaged_contents ?? 0
    return {
      ...{ name, startedAt: timeIn(name), sizeBytes: file.size, progress: null, isOwn: this.#isOwn(manifest) },
      status: manifest === null ? 'failed' : 'complete',
      messages: manifest?.counts.messages ?? null,
      failure: manifest === null ? 'The file is damaged, incomplete, or of a newer version of Mailstead.' : null,
      damage: damaged === 0 ? null : `${damageCount({ contents: damaged })}.`,
    }
  }

  /** The last backup of this appliance that is whole and undamaged, wherever it was made; those dated after `now` do not count. */
  async lastGood(now: number): Promise<GoodBackup | null> {
    const records = await this.list()
    const here = records.find((record) => isGood(record) && record.startedAt <= now)
    const noted = await readLastGood(this.#dataDir)
    if (noted !== null && noted.at <= now && (here === undefined || noted.at > here.startedAt)) return noted
    return here === undefined ? null : { at: here.startedAt, file: join(this.path, here.name) }
  }

  /** Deletes a backup of this appliance; another file of that name stays. @returns whether it was deleted */
  async delete(name: string): Promise<boolean> {
    this.#known.delete(name)
    if (!isBackupName(name) || (await this.read(name))?.isOwn !== true) return false
    await rm(join(this.path, name))
    this.#known.delete(name)
    return true
  }

  /** The disk of the folder, or of the nearest folder above it that is there. */
  async disk(): Promise<Disk> {
    const there = await nearest(this.path)
    const { dev } = await stat(there)
    const { bavail, blocks, bsize } = await statfs(there)
    return {
      mountPoint: await mountPointOf(there, dev),
      sizeBytes: blocks * bsize,
      freeBytes: bavail * bsize,
      isDataDisk: (await stat(this.#dataDir)).dev === dev,
    }
  }

  #isOwn(manifest: Manifest | null): boolean {
    const id = this.#applianceId()
    return id !== undefined && manifest?.appliance_id === id
  }

  async #manifestOf(name: string, seen: Omit<Known, 'manifest'>): Promise<Manifest | null> {
    const known = this.#known.get(name)
    if (known?.sizeBytes === seen.sizeBytes && known.changedAt === seen.changedAt) return known.manifest
    const manifest = await readArchiveManifest(join(this.path, name)).catch(() => null)
    this.#known.set(name, { ...seen, manifest })
    return manifest
  }

  /** What is not there is none; what cannot be read must not look like none. @throws ProductError service_unavailable */
  #missing<T>(error: unknown, none: T): T {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return none
    const sentence = `The folder of backups ${this.path} cannot be read: ${message}. Correct its rights, or set BACKUP_DIR.`
    throw new ProductError('service_unavailable', sentence, { cause: error })
  }
}

/** Whether it can be restored without loss. */
export function isGood({ status, damage, isOwn }: BackupRecord): boolean {
  return status === 'complete' && damage === null && isOwn
}

async function nearest(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (at === dirname(at) || (await stat(at).catch(() => null)) !== null) return at
  }
}

/** The highest folder above `path` that is on the same device. */
async function mountPointOf(path: string, device: number): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const above = dirname(at)
    if (above === at || (await stat(above)).dev !== device) return at
  }
}

export function nameOf(time: number): string {
  const text = new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `mailstead-${text}.tar.zst`
}

/** ms, of a name that matches. */
function timeIn(name: string): number {
  const [, y, mo, d, h, mi, s] = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(name)!.map(Number)
  return Date.UTC(y!, mo! - 1, d!, h!, mi!, s!)
}
