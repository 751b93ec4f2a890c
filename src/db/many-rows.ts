// Writes many rows with few statements: pieces whose sizes are powers of two, so that few distinct statements stay prepared.

import type { Row, SqlValue, Tx } from './sql.ts'
import { placeholders } from './sql-text.ts'

/** Rows in one statement. */
const ROWS_MAX = 32

/** Calls `write` for pieces of the rows, with their placeholders for VALUES and their values. */
export function inPieces(
  rows: readonly (readonly SqlValue[])[],
  write: (marks: string, values: readonly SqlValue[]) => void,
): void {
  for (let at = 0; at < rows.length; ) {
    const count = Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows.length - at)))
    const piece = rows.slice(at, at + count)
    const marks = `(${placeholders(piece[0]!)})`
    write(Array<string>(count).fill(marks).join(', '), piece.flat())
    at += count
  }
}

/** @param rows all with the same members in the same order */
export function insertMany(tx: Tx, table: string, rows: readonly Row[]): void {
  const [first] = rows
  if (first === undefined) return
  const names = Object.keys(first).join(', ')
  inPieces(
    rows.map((row) => Object.values(row)),
    (marks, values) => tx.run(`INSERT INTO ${table} (${names}) VALUES ${marks}`, values),
  )
}
