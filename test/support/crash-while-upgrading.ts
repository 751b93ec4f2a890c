// A process that is killed while it upgrades a database: after the first piece of the fill.

import process from 'node:process'
import { Db } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { mailMigrations } from '../../src/db/migrations/migrations.ts'

const db = new Db({ file: process.argv[2]! })
await migrate(db, mailMigrations, () => process.kill(process.pid, 'SIGKILL'))
