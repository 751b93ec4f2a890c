// The rows of the full-text index that match an expression, as pieces of SQL.

import type { SqlValue } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import { numberRange } from '../messages/numbers.ts'
import type { SortDirection } from '../records.ts'

/** A search by text inside one account. */
export interface TextSearch {
  account: number
  /** An expression of FTS5. */
  match: string
}

/**
 * Some of what matches, as tables for WITH. `hits(n)` are the first matches by number, at most `few` and one more; `near(n)` are
 * at most so many from a number `start` on, and all that match between the numbers `near_edge(low, high)`.
 */
export interface Hits {
  tables: Fragment
  /** True (asked once in a statement) when `hits` holds all that match, and the contrary. */
  areAll: Fragment
  areMore: Fragment
  /** True for a number that matches: between the edges `near` knows, beyond them the index is asked for that one row. */
  holds(column: string): Fragment
}

/** All that match, for IN. */
export function matching({ account, match }: TextSearch): Fragment {
  return ordered(match, range(account), '')
}

export function hitsOf(text: TextSearch, direction: SortDirection, start: number | null, few: number): Hits {
  const { account, match } = text
  const whole = range(account)
  const from = start === null ? (direction === 'desc' ? whole.high : whole.low) : BigInt(start)
  const behind = direction === 'desc' ? { low: whole.low, high: from } : { low: from, high: whole.high }
  const order = `ORDER BY rowid ${direction} LIMIT ?`
  const hits = ordered(match, whole, order, [few + 1])
  const near = start === null ? { sql: 'SELECT n FROM hits', values: [] } : ordered(match, behind, order, [few + 1])
  const edge =
    direction === 'desc'
      ? { sql: `${CUT_OFF('min(n)')}, CAST(? AS INTEGER)`, values: [few, behind.low, behind.high] }
      : { sql: `CAST(? AS INTEGER), ${CUT_OFF('max(n)')}`, values: [behind.low, few, behind.high] }
  return {
    tables: {
      sql: `hits(n) AS MATERIALIZED (${hits.sql}),
near(n) AS MATERIALIZED (${near.sql}),
near_edge(low, high) AS MATERIALIZED (SELECT ${edge.sql} FROM near)`,
      values: [...hits.values, ...near.values, ...edge.values],
    },
    areAll: { sql: '(SELECT count(*) FROM hits) <= ?', values: [few] },
    areMore: { sql: '(SELECT count(*) FROM hits) > ?', values: [few] },
    holds: (column) => ({
      sql: `(${column} IN (SELECT n FROM near)
  OR (NOT ${column} BETWEEN (SELECT low FROM near_edge) AND (SELECT high FROM near_edge)
    AND EXISTS (SELECT 1 FROM message_text WHERE message_text MATCH ? AND rowid = ${column})))`,
      values: [match],
    }),
  }
}

// What was not cut off holds all there is up to the end of the range.
const CUT_OFF = (last: string) => `CASE WHEN count(*) > ? THEN ${last} ELSE ? END`

function ordered(match: string, { low, high }: Range, order: string, more: SqlValue[] = []): Fragment {
  return {
    sql: `SELECT rowid FROM message_text WHERE message_text MATCH ? AND rowid BETWEEN ? AND ? ${order}`,
    values: [match, low, high, ...more],
  }
}

interface Range {
  low: bigint
  high: bigint
}

// FTS5 heeds bounds of the rowid only when they are bound as integers; numbers of JavaScript are bound as reals.
function range(account: number): Range {
  const { low, high } = numberRange(account)
  return { low: BigInt(low), high: BigInt(high) }
}
