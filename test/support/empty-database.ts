// An empty mail.db of the newest schema, made once for all test processes: migrating one takes as long as many tests.

import { createHash, randomBytes } from 'node:crypto'
import { constants, copyFileSync, existsSync, globSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { Db } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { mailMigrations } from '../../src/db/migrations/migrations.ts'
import { ROOT } from './source.ts'

const FOLDER = join(ROOT, 'node_modules/.cache/empty-databases')

/** Changes with whatever decides how the file looks. */
function nameOfSchema(): string {
  const hash = createHash('sha256').update(process.version)
  const sources = globSync('src/db/**/*.ts', { cwd: ROOT }).sort()
  for (const source of sources) {
    const { mtimeMs, size } = statSync(join(ROOT, source))
    hash.update(`${source} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 24)
}

let template: Promise<string> | undefined

async function makeTemplate(): Promise<string> {
  const file = join(FOLDER, `${nameOfSchema()}.db`)
  if (existsSync(file)) return file
  mkdirSync(FOLDER, { recursive: true })
  const own = `${file}.${process.pid}`
  const db = new Db({ file: own })
  await migrate(db, mailMigrations)
  await db.close()
  renameSync(own, file)
  return file
}

/** Puts a database without a row there, unless one is there. */
export async function copyEmptyDatabase(file: string): Promise<void> {
  template ??= makeTemplate()
  if (!existsSync(file)) copyFileSync(await template, file, constants.COPYFILE_FICLONE)
}

/**
 * Puts mail.db into a new data folder: migrated and without a row, so that the appliance makes its identity itself. An appliance refuses a
 * database without its secret, which is a new one for each folder.
 */
export async function layEmptyDatabase(dataDir: string): Promise<void> {
  await copyEmptyDatabase(join(dataDir, 'mail.db'))
  mkdirSync(join(dataDir, 'keys'), { mode: 0o700 })
  writeFileSync(join(dataDir, 'keys/app-secret'), randomBytes(32).toString('base64url'), { mode: 0o600 })
}
