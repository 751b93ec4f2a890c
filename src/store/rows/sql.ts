// SQL building blocks: conditions, and statements for one page of an ordered list.

import type { SqlValue } from '../../db/db.ts'
import type { Fragment } from './folders.ts'
import type { PageKey, SortDirection } from './records.ts'

/** Sort key and number of a row in an ordered list. */
export interface RowKey {
  at: number | string
  n: number
}

/** The cursor of a row. */
export function keyOf({ at, n }: RowKey): PageKey {
  return [at, n]
}

export function numberOf({ n }: RowKey): number {
  return n
}

export interface PageRequest {
  direction: SortDirection
  limit: number
  /** The last row of the previous page. */
  after: PageKey | null
  /** Number of rows before the page, where it is given instead of `after`. */
  position?: number
}

/** Columns by which a list is ordered. */
export interface OrderColumns {
  at: string
  n: string
}

/** AND of the conditions that are set; true without any. */
export function every(conditions: readonly (Fragment | null | undefined)[]): Fragment {
  const set = conditions.filter((condition) => condition != null)
  if (set.length === 0) return { sql: '1 = 1', values: [] }
  return { sql: set.map(({ sql }) => sql).join(' AND '), values: set.flatMap(({ values }) => values) }
}

/** Condition: rows after the cursor. */
export function afterCursor({ at, n }: OrderColumns, { direction, after }: PageRequest): Fragment | null {
  if (after === null) return null
  return { sql: `(${at}, ${n}) ${direction === 'desc' ? '<' : '>'} (?, ?)`, values: [after[0], after[1]] }
}

/** A SELECT of the keys of a page in order, with one additional row that shows whether there is a next page. */
export interface PageStatement {
  from: Fragment
  where: Fragment
  order: OrderColumns
  /** If false, the statement reads no rows. */
  guard?: Fragment | null
}

export function pageStatement(
  { from, where, order: { at, n }, guard }: PageStatement,
  { direction, limit, position = 0 }: PageRequest,
): Fragment {
  // SQLite evaluates a condition without columns for every row, but a limit only once.
  const rows = guard ? `CASE WHEN ${guard.sql} THEN ? ELSE 0 END` : '?'
  return {
    sql: `SELECT ${at} AS at, ${n} AS n FROM ${from.sql} WHERE ${where.sql}
ORDER BY ${at} ${direction}, ${n} ${direction} LIMIT ${rows}${position > 0 ? ' OFFSET ?' : ''}`,
    values: [...from.values, ...where.values, ...(guard?.values ?? []), limit + 1, ...(position > 0 ? [position] : [])],
  }
}

/**
 * One page of the rows of several selects together.
 * @param select returns the statements of a page
 */
export function pageOfAll(select: (page: PageRequest) => Fragment[], page: PageRequest): Fragment {
  const { direction, limit, position = 0 } = page
  const alone = select(page)
  if (position === 0 || alone.length === 1) return unionAll(null, alone)
  // The rows before the page can come from any of them.
  const { sql, values } = unionAll(null, select({ ...page, position: 0, limit: position + limit }))
  return {
    sql: `SELECT at, n FROM (${sql}) ORDER BY at ${direction}, n ${direction} LIMIT ? OFFSET ?`,
    values: [...values, limit + 1, position],
  }
}

/** UNION ALL of selects, each with its own order and limit. */
export function unionAll(tables: Fragment | null, selects: readonly Fragment[]): { sql: string; values: SqlValue[] } {
  const together =
    selects.length === 1 ? selects[0]!.sql : selects.map(({ sql }) => `SELECT * FROM (${sql})`).join('\nUNION ALL\n')
  return {
    sql: `${tables ? `WITH ${tables.sql}\n` : ''}${together}`,
    values: [...(tables?.values ?? []), ...selects.flatMap(({ values }) => values)],
  }
}

/** Sorts the rows of several selects and truncates them to the page and one more row. */
export function mergePage(rows: RowKey[], { direction, limit }: PageRequest): RowKey[] {
  const sign = direction === 'desc' ? -1 : 1
  return rows.sort((a, b) => (a.at === b.at ? a.n - b.n : a.at < b.at ? -1 : 1) * sign).slice(0, limit + 1)
}
