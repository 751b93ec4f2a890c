// Brings a file from the form it has to the form this program expects, one numbered step at a time.

import { ProductError } from '../base/errors.ts'
import type { Db, Reader, Tx } from './db.ts'

/** One step. Steps are never changed once released; a new one is added. */
export interface Migration {
  number: number
  name: string
  up(tx: Tx): Promise<void>
}

/** A step made of plain statements, separated by a line that holds only `;`-ended statements. */
export function statements(number: number, name: string, sql: string): Migration {
  return {
    number,
    name,
    async up(tx) {
      for (const statement of sql.split(/;\s*\n/)) if (statement.trim() !== '') await tx.run(statement)
    },
  }
}

/**
 * Applies the steps the file does not have yet, all in one transaction.
 * @throws ProductError when the file was written by a newer program
 */
export async function migrate(db: Db, steps: readonly Migration[]): Promise<number> {
  return db.write(async (tx) => {
    await tx.run('CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT')
    const last = await formOf(tx)
    const newest = steps.at(-1)?.number ?? 0
    if (last > newest) {
      throw new ProductError(
        'conflict',
        `${db.file} was written by a newer version of Mailstead (form ${last}, known ${newest}): start that version, or restore a backup made by this one.`,
      )
    }
    const missing = steps.filter((step) => step.number > last)
    for (const step of missing) {
      await step.up(tx)
      await tx.insert('migrations', { number: step.number, name: step.name })
    }
    return missing.length
  })
}

/** The form a file has: the number of its newest step. */
export async function formOf(reader: Reader): Promise<number> {
  const row = await reader.get<{ last: number | null }>('SELECT max(number) AS last FROM migrations')
  return row?.last ?? 0
}
