// Inserts many rows with few statements: several rows each, in few sizes, so that the prepared statements are used again.

import type { Row, Tx } from './sql.ts'
import { placeholders } from './sql-text.ts'

/** Rows per statement. A statement takes 32,766 values, and its text is kept while it is prepared. */
const SIZES = [32, 8, 4, 2, 1]

/** @param rows all with the same members in the same order */
export function insertMany(tx: Tx, table: string, rows: readonly Row[]): void {
  const [first] = rows
  if (first === undefined) return
  const names = Object.keys(first)
  const values = `(${placeholders(names)})`
  let at = 0
  for (const size of SIZES) {
    for (; rows.length - at >= size; at += size) {
      tx.run(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES ${Array<string>(size).fill(values).join(', ')}`,
        rows.slice(at, at + size).flatMap((row) => Object.values(row)),
      )
    }
  }
}
