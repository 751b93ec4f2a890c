// The waist of the house: everything below, wired into one plain object.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from './base/clock.ts'
import { type Log, openLog } from './base/log.ts'
import { openResolver, type Resolver } from './base/resolver.ts'
import type { Vault } from './base/secrets.ts'
import type { Config } from './config/config.ts'
import type { Db } from './db/db.ts'
import { migrate } from './db/migrate.ts'
import { blobMigrations, mailMigrations } from './db/migrations/migrations.ts'
import { type Directory, openDirectory } from './directory/directory.ts'
import type { Inspector } from './mail/inspector.ts'
import { openStore, type Store } from './store/store.ts'

/** What every door of the house works with. */
export interface Context {
  config: Config
  clock: Clock
  log: Log
  db: Db
  blobsDb: Db
  vault: Vault
  resolver: Resolver
  directory: Directory
  store: Store
  /** Threads that authenticate and parse arriving mail. */
  inspector: Inspector
  /** Closes what was opened, the last first; the database is written back before it returns. */
  close(): Promise<void>
}
