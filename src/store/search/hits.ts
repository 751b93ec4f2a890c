// Queries for the rows of the full-text index that match an expression, and for messages whose texts contain words.

import type { DbReads, Reader, SqlValue } from '../../db/db.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import type { Fragment } from '../rows/folders.ts'
import type { SortDirection } from '../rows/records.ts'
import { expression, matchOf } from './match.ts'
import type { Leaf } from './terms.ts'
import { tokensOf } from './words.ts'

/** A full-text search in one account. */
export interface TextSearch {
  account: number
  /** An expression of FTS5. */
  match: string
  /** Cost class: words are looked up directly; phrases and negations read and discard many rows; a prefix merges the lists of all its words first. */
  kind: 'words' | 'phrase' | 'prefix'
}

/** Some or all of the matches, as tables for WITH: at least `hits(n)`. */
export interface Hits {
  tables: Fragment
  /** Conditions (evaluated once per statement): `hits` contains all matches, which are few; and the opposite. */
  areFew: Fragment
  areMany: Fragment
  /** Condition: the number is among the fetched matches. */
  isFetched(column: string): Fragment
  /** Condition: the number matches although it was not fetched, which costs more; null if all matches were fetched. */
  isBeyond: ((column: string) => Fragment) | null
}

/** Query for all matches, to use with IN. */
export function matching({ account, match }: Pick<TextSearch, 'account' | 'match'>): Fragment {
  return ordered(match, range(account), '')
}

/** Which matches to fetch. */
interface Fetch {
  direction: SortDirection
  /** Number of the message at which the page starts; null for the first page. */
  start: number | null
  few: number
  /** True to query the index row by row for matches that were not fetched, which are few; else it is queried once for all. */
  single: boolean
}

/** All matches, fetched once: for searches whose cost does not depend on the number of rows taken. */
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
 * `hits` has the first `few` + 1 matches by number. `near(n)` has as many from the start of the page; these are all matches between the
 * numbers in `near_edge(low, high)`.
 */
export function firstHits({ account, match }: TextSearch, { direction, start, few, single }: Fetch): Hits {
  const full = range(account)
  const from = start === null ? (direction === 'desc' ? full.high : full.low) : BigInt(start)
  const rest = direction === 'desc' ? { low: full.low, high: from } : { low: from, high: full.high }
  const order = `ORDER BY rowid ${direction} LIMIT ?`
  const hits = ordered(match, full, order, [few + 1])
  const near = start === null ? { sql: 'SELECT n FROM hits', values: [] } : ordered(match, rest, order, [few + 1])
  const edge =
    direction === 'desc'
      ? { sql: `${CUT_OFF('min(n)')}, CAST(? AS INTEGER)`, values: [few, rest.low, rest.high] }
      : { sql: `CAST(? AS INTEGER), ${CUT_OFF('max(n)')}`, values: [rest.low, few, rest.high] }
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
      const all = ordered(match, full, '')
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

// A result that was not truncated contains all matches up to the end of the range.
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

// FTS5 uses bounds of the rowid only if they are bound as integers; JavaScript numbers are bound as reals.
function range(account: number): Range {
  const { low, high } = numberRange(account)
  return { low: BigInt(low), high: BigInt(high) }
}

/** The newest messages of an account with one of these keys (`addressKey`, `domainKey`), by number. */
export function newestWithKeys(reader: Reader, account: number, keys: readonly string[], limit: number): number[] {
  const { sql, values } = ordered(`keys : (${keys.join(' OR ')})`, range(account), 'ORDER BY rowid DESC LIMIT ?', [
    limit,
  ])
  return reader.all<{ rowid: number }>(sql, values).map(({ rowid }) => rowid)
}

/** Whether a message with this key has a lower number than `n`, which is a message of the account. */
export function hasOlderWithKey(reader: Reader, account: number, key: string, n: number): boolean {
  const older = { low: range(account).low, high: BigInt(n) - 1n }
  const { sql, values } = ordered(`keys : (${key})`, older, 'LIMIT 1')
  return reader.get(sql, values) !== undefined
}

/**
 * The numbers of the messages of an account with these words side by side, in the body or in any text; the last word may be the beginning
 * of one. In the scan thread.
 * @returns null when the text has no words
 */
export async function messagesWithWords(
  db: DbReads,
  account: number,
  { part, text }: { part: 'any' | 'body'; text: string },
): Promise<Set<number> | null> {
  const tokens = tokensOf(text)
  if (tokens.length === 0) return null
  const leaf: Leaf = { kind: 'words', part, tokens, prefix: true }
  const { sql, values } = matching({ account, match: expression(account, matchOf(leaf)!) })
  const rows = await db.scan.all<{ rowid: number }>(sql, values)
  return new Set(rows.map(({ rowid }) => rowid))
}
