// `mailstead restore`: a data folder made of a backup, whole or not at all.

import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { isNear } from '../../base/clock-guard.ts'
import { ProductError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { RESTORING } from '../../config/data-folder.ts'
import { makeFolder } from '../../config/make-folder.ts'
import { Db } from '../../db/db.ts'
import { lockFolder } from '../../db/folder-lock.ts'
import { migrate } from '../../db/migrate.ts'
import { mailMigrations } from '../../db/migrations/migrations.ts'
import { inspectDatabases, isSame } from '../../maintenance/backup/contents.ts'
import { explainDiskError } from '../../maintenance/backup/disk-error.ts'
import type { Manifest } from '../../maintenance/backup/manifest.ts'
import { secretCheck, secretOf } from '../../maintenance/backup/secret.ts'
import { holds } from '../../maintenance/backup/size-text.ts'
import { unpack } from '../../maintenance/backup/unpack.ts'
import { type Damage, damageCount, damageLines } from '../../maintenance/damage.ts'
import { renumberAfterRestore } from '../../store/rows/renumber.ts'
import type { Call, Command, CommandResult } from '../frame/command.ts'
import type { Progress } from '../frame/progress.ts'
import { shellWord } from '../frame/shell-word.ts'

/** What may lie in a folder that counts as empty: pages of others, and the lock a start left behind. */
const NOTHING = new Set(['README.md', 'lost+found', 'lock.db', RESTORING])

export const restore: Command = {
  words: 'restore',
  summary: 'Restore a backup into an empty data folder.',
  operands: ['file'],
  options: { data: { value: 'folder', says: 'data folder to create (DATA_DIR unless given)' } },
  async run(call) {
    const file = resolve(call.operands[0]!)
    const folder = resolve(call.text('data') ?? call.config.DATA_DIR)
    try {
      await makeFolder(folder, 0o700)
      const free = lockFolder(folder)
      try {
        await requireEmpty(folder)
        return await make(call, file, folder)
      } finally {
        free()
      }
    } catch (error) {
      throw explainDiskError(error, folder, 'the size of the data folder')
    }
  },
}

async function requireEmpty(folder: string): Promise<void> {
  const found = (await readdir(folder)).find((name) => !NOTHING.has(name))
  if (found === undefined) return
  throw new ProductError('conflict', `${folder} is not empty (${found}): restore a backup into an empty folder.`)
}

/**
 * Everything is made and looked through in a folder inside, whose presence keeps an appliance from starting (see
 * config/data-folder.ts), and moved out of it when it is known to be whole. A restore that was killed is recognised by that folder.
 */
async function make({ config, progress }: Call, file: string, folder: string): Promise<CommandResult> {
  const inside = join(folder, RESTORING)
  await rm(inside, { recursive: true, force: true })
  await mkdir(inside, { mode: 0o700 })
  const { manifest, damage } = await take(file, inside, progress).catch(async (error: unknown) => {
    await rm(inside, { recursive: true, force: true })
    throw error
  })
  await renumber(join(inside, 'mail.db'))
  await moveOut(inside, folder, manifest)
  await rm(inside, { recursive: true })
  await flush(folder)
  const secret = await secretOf(config.APP_SECRET, folder)
  const fits = secret !== undefined && secretCheck(secret) === manifest.secret_check
  const made = {
    data: {
      ...{ data_dir: folder, made_at: manifest.made_at, counts: manifest.counts, secret_fits: fits },
      damaged: damage.names,
    },
    lines: [
      `${folder} holds ${holds(manifest.counts)}, as it was at ${manifest.made_at}.`,
      fits
        ? `  Start it with: ${startOf(config, folder)}. Messages that were queued then are sent again.`
        : '  APP_SECRET must be the one of that appliance before it is started: it is not in the backup.',
      ...ageLines(manifest),
      ...damageLines(damage).map((line) => `  Damaged: ${line}.`),
    ],
  }
  if (damage.contents === 0) return made
  const says = `The backup was restored, but ${damageCount(damage)} in it. An older backup may hold them.`
  return { ...made, failure: says }
}

/** To the appliance an old backup looks like a clock that jumped. */
function ageLines({ made_at: madeAt }: Manifest): string[] {
  if (isNear(systemClock.now() - Date.parse(madeAt))) return []
  return [
    '  The backup is older than two days: retention and the expiry of queued messages are paused until you run: mailstead clock accept.',
  ]
}

/** Another folder than that of the settings is served only when it is named. */
function startOf(config: Config, folder: string): string {
  return resolve(config.DATA_DIR) === folder ? 'mailstead serve' : `DATA_DIR=${shellWord(folder)} mailstead serve`
}

async function take(file: string, folder: string, progress: Progress): Promise<{ manifest: Manifest; damage: Damage }> {
  const manifest = await unpack(file, folder, progress)
  const { contents, damage } = await inspectDatabases(folder, progress)
  if (isSame(contents, manifest)) return { manifest, damage }
  throw new ProductError('invalid_parameter', `${file} does not match its manifest. Nothing was restored.`)
}

/** Clients know UIDs and states from after the backup: none of them is given again for something else. */
async function renumber(file: string): Promise<void> {
  const db = new Db({ file, lean: true })
  try {
    await migrate(db, mailMigrations)
    await db.write((tx) => renumberAfterRestore(tx, systemClock.now()))
  } finally {
    await db.close()
  }
}

async function moveOut(inside: string, folder: string, { files }: Manifest): Promise<void> {
  if (files.some(({ path }) => path.startsWith('keys/'))) await rename(join(inside, 'keys'), join(folder, 'keys'))
  // mail.db comes last: an appliance refuses a folder with content alone.
  for (const name of ['blobs.db', 'mail.db']) await rename(join(inside, name), join(folder, name))
  await flush(folder)
}

async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
