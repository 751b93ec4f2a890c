// Migrates a database file to the schema version of this program, in numbered steps.

import { ProductError } from '../base/errors.ts'
import type { Db, Reader, Tx } from './db.ts'

/** One migration. Released migrations are never changed; new ones are added. */
export interface Migration {
  number: number
  name: string
  up(tx: Tx): void
  /** Fills what `up` has added, for migrations that write many rows. */
  fill?: Fill
}

/** Fills new columns in pieces, each in a transaction of its own. After an interruption it begins again: what is filled is skipped. */
export interface Fill {
  /** Rows that are left. */
  total(reader: Reader): number
  /** @param after the key that the previous piece returned; null for the first @returns null when no rows are left */
  piece(tx: Tx, after: number[] | null): { after: number[]; rows: number } | null
}

/** Called after each piece of a fill. */
export type OnFill = (progress: { name: string; filled: number; total: number }) => void

/** Follows the name of a migration whose fill has not ended. */
const UNFILLED = ' (unfilled)'

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
 * Applies all pending migrations in one transaction, then fills in pieces what they added. A process that ends in between leaves a file
 * that the next call completes.
 * @returns how many migrations were applied
 * @throws ProductError when the file was written by a newer version
 */
export async function migrate(db: Db, steps: readonly Migration[], onFill: OnFill = () => {}): Promise<number> {
  const applied = await applyMissing(db, steps)
  const unfilled = db.read.all<{ number: number }>('SELECT number FROM migrations WHERE name LIKE ?', [`%${UNFILLED}`])
  for (const step of steps) {
    if (step.fill && unfilled.some(({ number }) => number === step.number)) await fillStep(db, step, step.fill, onFill)
  }
  return applied
}

function applyMissing(db: Db, steps: readonly Migration[]): Promise<number> {
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
      tx.insert('migrations', { number: step.number, name: step.fill ? step.name + UNFILLED : step.name })
    }
    return missing.length
  })
}

async function fillStep(db: Db, { number, name }: Migration, fill: Fill, onFill: OnFill): Promise<void> {
  const total = fill.total(db.read)
  let [filled, after]: [number, number[] | null] = [0, null]
  for (;;) {
    const piece = await db.write((tx) => fill.piece(tx, after))
    if (piece === null) break
    filled += piece.rows
    after = piece.after
    onFill({ name, filled, total })
  }
  await db.write((tx) => tx.run('UPDATE migrations SET name = ? WHERE number = ?', [name, number]))
}

/** The schema version of a file: the number of its newest migration. */
export function formOf(reader: Reader): number {
  const row = reader.get<{ last: number | null }>('SELECT max(number) AS last FROM migrations')
  return row?.last ?? 0
}
