// The threads of matching messages, for lists of threads.

import type { AnyReader } from '../../db/db.ts'
import type { Fragment } from '../rows/folders.ts'
import { every } from '../rows/sql.ts'
import type { Hits } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { fromHits, isHit, matchesRemainingFilters, walksOf } from './walk.ts'

/** Query for the threads of the messages in `hits`, which must contain all matches. */
export function threadsOfHits(search: Search): Fragment {
  const { from, where } = fromHits(search)
  return { sql: `SELECT DISTINCT m.thread FROM ${from.sql} WHERE ${where.sql}`, values: where.values }
}

/** Query for the threads of the messages that the walks of a search find. */
export function threadsOfWalks(search: Search, hits: Hits | null): Fragment {
  const selects = walksOf(search).map(({ from, where, order }) => {
    const conditions = every([where, matchesRemainingFilters(search, order.at), hits && isHit(hits, order.n)])
    return {
      sql: `SELECT DISTINCT m.thread FROM ${from.sql} WHERE ${conditions.sql}`,
      values: [...from.values, ...conditions.values],
    }
  })
  return { sql: selects.map(({ sql }) => sql).join(' UNION '), values: selects.flatMap(({ values }) => values) }
}

/** Number of the newest message outside Trash and Junk that was received at `at` (ms) or before. */
export async function newestNumberAt(reader: AnyReader, account: number, at: number): Promise<number | null> {
  const row = await reader.get<{ n: number }>(
    `SELECT n FROM messages WHERE account = ? AND listed = 1 AND received_at <= ?
     ORDER BY received_at DESC, n DESC LIMIT 1`,
    [account, at],
  )
  return row?.n ?? null
}
