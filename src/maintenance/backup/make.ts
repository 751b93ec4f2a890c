// Makes a backup: everything the appliance keeps in one file, copied while it works, read back before it counts.

import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isoTime, systemClock } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { copyTogether } from '../../db/snapshot.ts'
import type { Damage } from '../damage.ts'
import type { StepProgress } from '../progress.ts'
import { inspectDatabases, isSame } from './contents.ts'
import { explainDiskError } from './disk-error.ts'
import { noteLastGood } from './last-good.ts'
import { KEPT, type Manifest, type ManifestFile, manifestOf } from './manifest.ts'
import { describe, pack } from './pack.ts'
import { secretCheck, secretOf } from './secret.ts'
import { unpack } from './unpack.ts'
import { openWorkFolder, workFolderOf } from './work-folder.ts'

/** What is backed up, and where to. */
export interface BackupOrder {
  /** The data folder. */
  folder: string
  /** The setting APP_SECRET; "" when the secret is in the folder. */
  secret: string
  /** The file to make, which must not exist. */
  file: string
}

/** A backup that was read back. */
export interface MadeBackup {
  sizeBytes: number
  manifest: Manifest
  /** Contents that were damaged before: the backup holds them as they are. */
  damage: Damage
}

/**
 * @param whileWorking runs the work beside a folder with all messages unencrypted, which it must remove when the process is interrupted
 * @throws ProductError not_found for what is no data folder, conflict for a file that exists, service_unavailable
 */
export async function makeBackup(
  order: BackupOrder,
  progress: StepProgress,
  whileWorking: <T>(workFolder: string, work: () => Promise<T>) => Promise<T> = (_, work) => work(),
): Promise<MadeBackup> {
  const { folder, file } = order
  requireDataFolder(folder)
  if (existsSync(file)) throw new ProductError('conflict', `${file} already exists. Name another file.`)
  const workFolder = workFolderOf(file)
  try {
    const free = await openWorkFolder(workFolder, `Another backup to ${file} is running.`)
    try {
      return await whileWorking(workFolder, () => make(order, workFolder, progress))
    } finally {
      await rm(workFolder, { recursive: true, force: true })
      free()
    }
  } catch (error) {
    throw explainDiskError(error, file, 'twice the size of the data folder while it is written')
  }
}

function requireDataFolder(folder: string): void {
  const missing = ['mail.db', 'blobs.db'].find((name) => !existsSync(join(folder, name)))
  if (missing === undefined) return
  throw new ProductError(
    'not_found',
    `${folder} is not a data folder of Mailstead: ${missing} is missing. Set DATA_DIR.`,
  )
}

async function make(
  { folder, secret: given, file }: BackupOrder,
  workFolder: string,
  progress: StepProgress,
): Promise<MadeBackup> {
  const secret = await secretOf(given, folder)
  if (secret === undefined) {
    throw new ProductError(
      'not_found',
      `${folder} has no keys/app-secret. Set APP_SECRET: sealed data cannot be decrypted without it.`,
    )
  }
  const copies = join(workFolder, 'copies')
  const archive = join(workFolder, 'archive')
  const now = systemClock.now()
  await copy(folder, copies, progress)
  const { contents, damage } = await inspectDatabases(copies, progress)
  const manifest = manifestOf({
    made_at: isoTime(now),
    ...contents,
    ...(damage.contents === 0 ? {} : { damaged_contents: damage.contents }),
    secret_check: secretCheck(secret),
    files: await describeAll(copies, progress),
  })
  await pack(copies, manifest, archive, now, progress)
  await rm(copies, { recursive: true })
  await readBack(archive, join(workFolder, 'restored'), manifest, progress)
  const { size } = await stat(archive)
  await rename(archive, file)
  await flush(dirname(file))
  if (damage.contents === 0) await noteLastGood(folder, { at: now, file })
  return { sizeBytes: size, manifest, damage }
}

/** The databases as of one moment, and the keys, which never change once they are made. */
async function copy(folder: string, copies: string, progress: StepProgress): Promise<void> {
  await mkdir(join(copies, 'keys'), { recursive: true, mode: 0o700 })
  const copyOf = (name: string) => ({ from: join(folder, name), to: join(copies, name) })
  let at = { to: '', bytes: 0 }
  await copyTogether(copyOf('mail.db'), copyOf('blobs.db'), ({ to }, bytes, total) => {
    if (at.to !== to) {
      progress.begin(`Copying ${basename(to)}`, 'bytes', total)
      at = { to, bytes: 0 }
    }
    progress.add(bytes - at.bytes)
    at.bytes = bytes
  })
  for (const path of present(folder).filter((name) => name.startsWith('keys/'))) {
    await copyFile(join(folder, path), join(copies, path))
  }
}

/** One file after the other: they are on one disk. */
async function describeAll(folder: string, progress: StepProgress): Promise<ManifestFile[]> {
  const files: ManifestFile[] = []
  for (const path of present(folder)) files.push(await describe(folder, path, progress))
  return files
}

function present(folder: string) {
  return KEPT.filter((path) => existsSync(join(folder, path)))
}

/** Verifies the archive by unpacking it and comparing it with the manifest. */
async function readBack(archive: string, folder: string, written: Manifest, progress: StepProgress): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  const manifest = await unpack(archive, folder, progress)
  const { contents, damage } = await inspectDatabases(folder, progress)
  const isEqual = isSame(contents, manifest) && damage.contents === (manifest.damaged_contents ?? 0)
  if (isDeepStrictEqual(manifest, written) && isEqual) return
  throw new ProductError(
    'internal_error',
    'The archive does not match what was written. No backup was made; check the disk and try again.',
  )
}

// A new name is on the disk only when its folder is.
async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
