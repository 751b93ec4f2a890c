// Corrects the times of rows that were written while the clock was wrong.

import type { WrongSpan } from '../base/clock-guard.ts'
import type { Db } from './db.ts'
import { placeholders } from './sql-text.ts'

const BATCH = 500

/**
 * Dates rows of a table with the key `n` as of now that a wrong clock dated in a span. Rows really written then, before the clock went
 * wrong, are distinguished by their number: it is lower than that of the newest row the right clock dated.
 * @param now ms @returns how many
 */
export async function redateRows(
  db: Db,
  { table, column }: { table: string; column: string },
  { since, from, until }: WrongSpan,
  now: number,
): Promise<number> {
  // A unary `+` keeps SQLite from using an index of the column: the newest rows come first by their key.
  const trusted = await db.scan.get<{ n: number }>(
    `SELECT n FROM ${table} WHERE +${column} > ? AND +${column} <= ? ORDER BY n DESC LIMIT 1`,
    [until < since ? until : 0, since],
  )
  let redated = 0
  for (let after = trusted?.n ?? 0; ; ) {
    const rows = await db.scan.all<{ n: number }>(
      `SELECT n FROM ${table} WHERE n > ? AND +${column} BETWEEN ? AND ? ORDER BY n LIMIT ?`,
      [after, from, until, BATCH],
    )
    if (rows.length === 0) return redated
    after = rows.at(-1)!.n
    const marks = placeholders(rows)
    const sql = `UPDATE ${table} SET ${column} = ? WHERE n IN (${marks})`
    redated += (await db.write((tx) => tx.run(sql, [now, ...rows.map(({ n }) => n)]))).changes
  }
}
