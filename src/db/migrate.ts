// Migrates a database file to the schema version of this program, in numbered steps.

import { ProductError } from '../base/errors.ts'
import type { Db, Reader, Tx } from './db.ts'

/** One migration. Released migrations are never changed; new ones are added. */
export interface Migration {
  number: number
  name: string
  up(tx: Tx): void
}

/** A migration of plain SQL statements, each ending with `;` at the end of a line. */
export function statements(number: number, name: string, sql: string): Migration {
  return {
    number,
    name,
    up(tx) {
      for (const statement of sql.split(/;\s*\n/)) if (statement.trim() !== '') tx.run(statement)
    },
  }
}

/**
 * Applies all pending migrations in one transaction.
 * @throws ProductError when the file was written by a newer version
 */
export async function migrate(db: Db, steps: readonly Migration[]): Promise<number> {
  return db.write((tx) => {
    tx.run('CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT')
    const last = formOf(tx)
    const newest = steps.at(-1)?.number ?? 0
    if (last > newest) {
      throw new ProductError(
        'conflict',
        `${db.file} was written by a newer version of Mailstead (schema ${last}, supported ${newest}). Start that version, or restore a backup made by this one.`,
      )
    }
    const missing = steps.filter((step) => step.number > last)
    for (const step of missing) {
      step.up(tx)
      tx.insert('migrations', { number: step.number, name: step.name })
    }
    return missing.length
  })
}

/** The schema version of a file: the number of its newest migration. */
export function formOf(reader: Reader): number {
  const row = reader.get<{ last: number | null }>('SELECT max(number) AS last FROM migrations')
  return row?.last ?? 0
}
