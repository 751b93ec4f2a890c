// Reads and writes many rows with few statements: pieces whose sizes are powers of two, so that few distinct statements stay prepared.

import type { Row, SqlValue, Tx } from './sql.ts'
import { placeholders } from './sql-text.ts'

/** Rows in one statement. */
const ROWS_MAX = 32
/** Up to here every number of rows has its own statement. */
const FEW_ROWS = 4

/** Calls `write` for pieces of the rows, with their placeholders for VALUES and their values. */
export function inPieces(
  rows: readonly (readonly SqlValue[])[],
  write: (marks: string, values: readonly SqlValue[]) => void,
): void {
  for (let at = 0; at < rows.length; ) {
    const count = pieceSize(rows.length - at)
    const piece = rows.slice(at, at + count)
    write(marksOf(piece), piece.flat())
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

/**
 * Looks up many keys with few statements.
 * @param sql the query for a piece, given the placeholders of its keys for VALUES; a key may occur twice in a piece
 * @returns the rows of all pieces
 */
export function selectMany<R>(tx: Tx, keys: readonly (readonly SqlValue[])[], sql: (marks: string) => string): R[] {
  const rows: R[] = []
  for (let at = 0; at < keys.length; at += ROWS_MAX) {
    const piece = keys.slice(at, at + ROWS_MAX)
    // Filled up with the last key: the next power of two takes one statement instead of one for each binary digit.
    const size = 2 ** Math.ceil(Math.log2(piece.length))
    while (piece.length < size) piece.push(piece.at(-1)!)
    rows.push(...tx.all<R>(sql(marksOf(piece)), piece.flat()))
  }
  return rows
}

function pieceSize(rows: number): number {
  return rows <= FEW_ROWS ? rows : Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows)))
}

function marksOf(rows: readonly (readonly SqlValue[])[]): string {
  return Array<string>(rows.length)
    .fill(`(${placeholders(rows[0]!)})`)
    .join(', ')
}
