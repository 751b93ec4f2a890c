// The rows of the full-text index that match an expression, as pieces of SQL.

import type { SqlValue } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import { numberRange } from '../messages/numbers.ts'
import type { SortDirection } from '../records.ts'

/** Up to here matches are few: they are all gathered and sorted. Above, lists are walked in their own order. */
export const FEW = 1000

/** A search by text inside one account. */
export interface TextSearch {
  account: number
  /** An expression of FTS5. */
  match: string
}

/** All that match, for IN. */
export function matching({ account, match }: TextSearch): Fragment {
  const { low, high } = range(account)
  return {
    sql: 'SELECT rowid FROM message_text WHERE message_text MATCH ? AND rowid BETWEEN ? AND ?',
    values: [match, low, high],
  }
}

/**
 * Two tables for WITH: `hits(n)`, the newest matches by number, one more than FEW at most; and `near(n)`, what a walk that starts
 * at number `start` meets first. `near_edge(low, high)` is the range of numbers in which `near` is complete.
 */
export function hitTables({ account, match }: TextSearch, direction: SortDirection, start: number | null): Fragment {
  const { low, high } = range(account)
  const down = direction === 'desc'
  const from = start === null ? (down ? high : low) : BigInt(start)
  const [first, last] = down ? [low, from] : [from, high]
  const edge = down
    ? 'CASE WHEN count(*) < ? THEN ? ELSE min(n) END, CAST(? AS INTEGER)'
    : 'CAST(? AS INTEGER), CASE WHEN count(*) < ? THEN ? ELSE max(n) END'
  const edgeValues: SqlValue[] = down ? [FEW, low, from] : [from, FEW, high]
  return {
    sql: `hits(n) AS MATERIALIZED (
  SELECT rowid FROM message_text WHERE message_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?),
near(n) AS MATERIALIZED (
  SELECT rowid FROM message_text WHERE message_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid ${direction} LIMIT ?),
near_edge(low, high) AS MATERIALIZED (SELECT ${edge} FROM near)`,
    values: [match, low, high, FEW + 1, match, first, last, FEW, ...edgeValues],
  }
}

/** True (once for a whole statement) when `hits` holds all matches. */
export const HITS_ARE_ALL: Fragment = { sql: '(SELECT count(*) FROM hits) <= ?', values: [FEW] }
export const HITS_ARE_MORE: Fragment = { sql: '(SELECT count(*) FROM hits) > ?', values: [FEW] }

/** True for a number that matches: where `near` knows, by looking there, else by asking the index for that one row. */
export function isNear(column: string, { match }: TextSearch): Fragment {
  return {
    sql: `(${column} IN (SELECT n FROM near) OR (NOT ${column} BETWEEN (SELECT low FROM near_edge) AND (SELECT high FROM near_edge)
  AND EXISTS (SELECT 1 FROM message_text WHERE message_text MATCH ? AND rowid = ${column})))`,
    values: [match],
  }
}

// FTS5 heeds bounds of the rowid only when they are bound as integers; numbers of JavaScript are bound as reals.
function range(account: number): { low: bigint; high: bigint } {
  const { low, high } = numberRange(account)
  return { low: BigInt(low), high: BigInt(high) }
}
