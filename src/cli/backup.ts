// `mailstead backup`: everything the appliance keeps in one file, made beside it while it works, read back before it counts.

import { existsSync, rmSync } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isoTime, systemClock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import { copyTogether } from '../db/snapshot.ts'
import { inspectDatabases, isSame } from './backup/contents.ts'
import { explainDiskError } from './backup/disk-error.ts'
import { KEPT, type Manifest, type ManifestFile, manifestOf } from './backup/manifest.ts'
import { describe, pack } from './backup/pack.ts'
import { secretCheck, secretOf } from './backup/secret.ts'
import { holds, sizeText } from './backup/size-text.ts'
import { unpack } from './backup/unpack.ts'
import { openWorkFolder } from './backup/work-folder.ts'
import type { Call, Command, CommandResult } from './command.ts'
import type { Progress } from './progress.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export const backup: Command = {
  words: 'backup',
  summary: 'Back up the whole appliance into one file and verify it; the server may keep running.',
  operands: ['file'],
  async run(call) {
    const file = resolve(call.operands[0]!)
    const folder = resolve(call.config.DATA_DIR)
    requireDataFolder(folder)
    if (existsSync(file)) throw new ProductError('conflict', `${file} already exists. Name another file.`)
    const shop = `${file}.part`
    try {
      return await inWorkFolder(shop, `Another backup to ${file} is running.`, () => make(call, folder, shop, file))
    } catch (error) {
      throw explainDiskError(error, file, 'twice the size of the data folder while it is written')
    }
  },
}

function requireDataFolder(folder: string): void {
  const missing = ['mail.db', 'blobs.db'].find((name) => !existsSync(join(folder, name)))
  if (missing === undefined) return
  throw new ProductError(
    'not_found',
    `${folder} is not a data folder of Mailstead: ${missing} is missing. Set DATA_DIR.`,
  )
}

/** Runs `work` beside the folder `shop`, which is gone afterwards. */
async function inWorkFolder<T>(shop: string, busy: string, work: () => Promise<T>): Promise<T> {
  const free = await openWorkFolder(shop, busy)
  // The folder contains all messages unencrypted: it must not stay when the command is interrupted.
  const giveUp = () => {
    rmSync(shop, { recursive: true, force: true })
    process.exit(1)
  }
  for (const signal of SIGNALS) process.once(signal, giveUp)
  try {
    return await work()
  } finally {
    for (const signal of SIGNALS) process.off(signal, giveUp)
    await rm(shop, { recursive: true, force: true })
    free()
  }
}

async function make({ config, progress }: Call, folder: string, shop: string, file: string): Promise<CommandResult> {
  const secret = await secretOf(config, folder)
  if (secret === undefined) {
    throw new ProductError(
      'not_found',
      `${folder} has no keys/app-secret. Set APP_SECRET: sealed data cannot be decrypted without it.`,
    )
  }
  const copies = join(shop, 'copies')
  const archive = join(shop, 'archive')
  const now = systemClock.now()
  await copy(folder, copies, progress)
  const manifest = manifestOf({
    made_at: isoTime(now),
    ...inspectDatabases(copies, progress),
    secret_check: secretCheck(secret),
    files: await describeAll(copies, progress),
  })
  await pack(copies, manifest, archive, now, progress)
  await rm(copies, { recursive: true })
  await readBack(archive, join(shop, 'restored'), manifest, progress)
  const { size } = await stat(archive)
  await rename(archive, file)
  await flush(dirname(file))
  return { data: { file, size_bytes: size, ...manifest }, lines: summaryLines(file, size, manifest, config) }
}

function summaryLines(file: string, size: number, { counts, files }: Manifest, config: Config): string[] {
  const certificate = config.TLS_CERT_FILE === '' ? '' : ', the certificate of TLS_CERT_FILE'
  const secret = files.some(({ path }) => path === 'keys/app-secret') && config.APP_SECRET === ''
  return [
    `${file} (${sizeText(size)}) holds ${holds(counts)}; it was read back and verified.`,
    `  In it: ${files.map(({ path, size_bytes: bytes }) => `${path} (${sizeText(bytes)})`).join(', ')}.`,
    `  Not in it: the settings (config/mailstead.json, environment)${certificate}${secret ? '' : ', the secret of APP_SECRET'}.`,
    secret
      ? '  It holds the secret of the appliance beside all mail: keep it where only you can read it.'
      : '  Keep APP_SECRET elsewhere: sealed keys cannot be decrypted without it.',
  ]
}

/** The databases as of one moment, and the keys, which never change once they are made. */
async function copy(folder: string, copies: string, progress: Progress): Promise<void> {
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

/** One file after the other: they lie on one disk. */
async function describeAll(folder: string, progress: Progress): Promise<ManifestFile[]> {
  const files: ManifestFile[] = []
  for (const path of present(folder)) files.push(await describe(folder, path, progress))
  return files
}

function present(folder: string) {
  return KEPT.filter((path) => existsSync(join(folder, path)))
}

/** Verifies the archive by unpacking it and comparing it with the manifest. */
async function readBack(archive: string, folder: string, written: Manifest, progress: Progress): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  const manifest = await unpack(archive, folder, progress)
  const found = inspectDatabases(folder, progress)
  if (isDeepStrictEqual(manifest, written) && isSame(found, manifest)) return
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
