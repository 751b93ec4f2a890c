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
  /** Words are looked up; of phrases and negations much is thrown away; for a prefix the index merges all it stands for first. */
  kind: 'words' | 'phrase' | 'prefix'
}

/**
 * Some of what matches, as tables for WITH. `hits(n)` are the first matches by number, at most `few` and one more; `near(n)` are
 * the first ones from where a page starts, all that match between the numbers `near_edge(low, high)`.
 */
export interface Hits {
  tables: Fragment
  /** True (asked once in a statement) when `hits` holds all that match, and the contrary. */
  areAll: Fragment
  areMore: Fragment
  /** True for a number that matches: between the edges `near` knows, beyond them the index is asked. */
  holds(column: string): Fragment
}

/** All that match, for IN. */
export function matching({ account, match }: Pick<TextSearch, 'account' | 'match'>): Fragment {
  return ordered(match, range(account), '')
}

/** How many matches are fetched, and from where on. */
export interface Fetch {
  direction: SortDirection
  /** Number of the message where a page starts; null for the first page. */
  start: number | null
  few: number
  near: number
  /** True when the index is asked for few rows beyond the edges, one by one; else it is asked once for all of them. */
  single: boolean
}

export function hitsOf({ account, match }: TextSearch, { direction, start, few, near: nearMax, single }: Fetch): Hits {
  const whole = range(account)
  const from = start === null ? (direction === 'desc' ? whole.high : whole.low) : BigInt(start)
  const behind = direction === 'desc' ? { low: whole.low, high: from } : { low: from, high: whole.high }
  const all = ordered(match, whole, '')
  const order = `ORDER BY rowid ${direction} LIMIT ?`
  const hits = ordered(match, whole, order, [few + 1])
  // The first of `hits` come first: a table for WITH keeps the order it was filled in.
  const near =
    start === null
      ? { sql: 'SELECT n FROM hits LIMIT ?', values: [nearMax + 1] }
      : ordered(match, behind, order, [nearMax + 1])
  const edge =
    direction === 'desc'
      ? { sql: `${CUT_OFF('min(n)')}, CAST(? AS INTEGER)`, values: [nearMax, behind.low, behind.high] }
      : { sql: `CAST(? AS INTEGER), ${CUT_OFF('max(n)')}`, values: [behind.low, nearMax, behind.high] }
  return {
    tables: {
      sql: `hits(n) AS MATERIALIZED (${hits.sql}),
near(n) AS MATERIALIZED (${near.sql}),
near_edge(low, high) AS MATERIALIZED (SELECT ${edge.sql} FROM near)`,
      values: [...hits.values, ...near.values, ...edge.values],
    },
    areAll: { sql: '(SELECT count(*) FROM hits) <= ?', values: [few] },
    areMore: { sql: '(SELECT count(*) FROM hits) > ?', values: [few] },
    holds(column) {
      const beyond = single
        ? {
            sql: `EXISTS (SELECT 1 FROM message_text WHERE message_text MATCH ? AND rowid = ${column})`,
            values: [match],
          }
        : { sql: `${column} IN (${all.sql})`, values: all.values }
      return {
        sql: `(${column} IN (SELECT n FROM near)
  OR (NOT ${column} BETWEEN (SELECT low FROM near_edge) AND (SELECT high FROM near_edge) AND ${beyond.sql}))`,
        values: beyond.values,
      }
    },
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
