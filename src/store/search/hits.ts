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

/** Some or all of what matches, as tables for WITH: at least `hits(n)`. */
export interface Hits {
  tables: Fragment
  /** True (asked once in a statement) when `hits` holds all that match and they are few, and the contrary. */
  areFew: Fragment
  areMany: Fragment
  /** True for a number that is among those fetched. */
  isFetched(column: string): Fragment
  /** True for a number that was not fetched but matches all the same; null when all were. It costs more to ask. */
  isBeyond: ((column: string) => Fragment) | null
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
  /** True when the index is asked for few rows beyond what is fetched, one by one; else it is asked once for all of them. */
  single: boolean
}

/** Everything that matches, fetched once: for matches that cost the same whether few or all of them are taken. */
export function allHits(text: TextSearch, few: number): Hits {
  const { sql, values } = matching(text)
  return {
    tables: { sql: `hits(n) AS MATERIALIZED (${sql})`, values },
    ...guards(few),
    isFetched: (column) => ({ sql: `${column} IN (SELECT n FROM hits)`, values: [] }),
    isBeyond: null,
  }
}

/**
 * The first matches by number in `hits`, `few` and one more. `near(n)` has as many from where the page starts, which are all that
 * match between the numbers `near_edge(low, high)`.
 */
export function firstHits({ account, match }: TextSearch, { direction, start, few, single }: Fetch): Hits {
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
    ...guards(few),
    isFetched: (column) => ({ sql: `${column} IN (SELECT n FROM near)`, values: [] }),
    isBeyond(column) {
      const all = ordered(match, whole, '')
      const matches = single
        ? {
            sql: `EXISTS (SELECT 1 FROM message_text WHERE message_text MATCH ? AND rowid = ${column})`,
            values: [match],
          }
        : { sql: `${column} IN (${all.sql})`, values: all.values }
      return {
        sql: `(NOT ${column} BETWEEN (SELECT low FROM near_edge) AND (SELECT high FROM near_edge) AND ${matches.sql})`,
        values: matches.values,
      }
    },
  }
}

function guards(few: number): Pick<Hits, 'areFew' | 'areMany'> {
  return {
    areFew: { sql: '(SELECT count(*) FROM hits) <= ?', values: [few] },
    areMany: { sql: '(SELECT count(*) FROM hits) > ?', values: [few] },
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
