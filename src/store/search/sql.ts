// Pieces of SQL put together: conditions, and the part of an ordered list that a page shows.

import type { SqlValue } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import type { PageKey, SortDirection } from '../records.ts'

/** A row of an ordered list: where it stands, and its number. */
export interface RowKey {
  at: number | string
  n: number
}

/** What a cursor keeps of a place. */
export function keyOf({ at, n }: RowKey): PageKey {
  return [at, n]
}

export function numberOf({ n }: RowKey): number {
  return n
}

/** Which part of a list is wanted. */
export interface PageRequest {
  direction: SortDirection
  limit: number
  /** The last row of the page before. */
  after: PageKey | null
}

/** Columns that order a list. */
export interface OrderColumns {
  at: string
  n: string
}

/** All the conditions that are there; nothing asked is true. */
export function every(conditions: readonly (Fragment | null | undefined)[]): Fragment {
  const asked = conditions.filter((condition) => condition != null)
  if (asked.length === 0) return { sql: '1 = 1', values: [] }
  return { sql: asked.map(({ sql }) => sql).join(' AND '), values: asked.flatMap(({ values }) => values) }
}

/** The rows behind the last one shown. */
export function behind({ at, n }: OrderColumns, { direction, after }: PageRequest): Fragment | null {
  if (after === null) return null
  return { sql: `(${at}, ${n}) ${direction === 'desc' ? '<' : '>'} (?, ?)`, values: [after[0], after[1]] }
}

/** A SELECT of the places of a list, in its order; one more than the page shows tells whether there is a next one. */
export interface Listing {
  from: Fragment
  where: Fragment
  order: OrderColumns
  /** What must be true of the statement as a whole; nothing is looked at otherwise. */
  guard?: Fragment | null
}

export function listing(
  { from, where, order: { at, n }, guard }: Listing,
  { direction, limit }: PageRequest,
): Fragment {
  // SQLite asks a condition without columns for every row, but a limit once, at the start.
  const rows = guard ? `CASE WHEN ${guard.sql} THEN ? ELSE 0 END` : '?'
  return {
    sql: `SELECT ${at} AS at, ${n} AS n FROM ${from.sql} WHERE ${where.sql}
ORDER BY ${at} ${direction}, ${n} ${direction} LIMIT ${rows}`,
    values: [...from.values, ...where.values, ...(guard?.values ?? []), limit + 1],
  }
}

/** The selects one after the other, each with its own order and limit. */
export function union(tables: Fragment | null, selects: readonly Fragment[]): { sql: string; values: SqlValue[] } {
  const together =
    selects.length === 1 ? selects[0]!.sql : selects.map(({ sql }) => `SELECT * FROM (${sql})`).join('\nUNION ALL\n')
  return {
    sql: `${tables ? `WITH ${tables.sql}\n` : ''}${together}`,
    values: [...(tables?.values ?? []), ...selects.flatMap(({ values }) => values)],
  }
}

/** The rows of several selects in the one order, as many as the page shows and one more. */
export function cutOff(places: RowKey[], { direction, limit }: PageRequest): RowKey[] {
  const sign = direction === 'desc' ? -1 : 1
  return places.sort((a, b) => (a.at === b.at ? a.n - b.n : a.at < b.at ? -1 : 1) * sign).slice(0, limit + 1)
}
