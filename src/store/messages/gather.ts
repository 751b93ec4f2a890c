// The threads of messages that were found, for lists of threads.

import type { Reader } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import type { Hits } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { every } from '../search/sql.ts'
import { gathered, holds, meetsOnWalk, walksOf } from './walk.ts'

/** The threads of all messages in `hits`, which must hold all that match. */
export function messagesGathered(search: Search): Fragment {
  const { from, where } = gathered(search)
  return { sql: `SELECT DISTINCT m.thread FROM ${from.sql} WHERE ${where.sql}`, values: where.values }
}

/** The threads of all messages a search meets on its path. */
export function messagesWalked(search: Search, hits: Hits | null): Fragment {
  const selects = walksOf(search).map(({ from, where, order }) => {
    const asked = every([where, meetsOnWalk(search, order.at), hits && holds(hits, order.n)])
    return {
      sql: `SELECT DISTINCT m.thread FROM ${from.sql} WHERE ${asked.sql}`,
      values: [...from.values, ...asked.values],
    }
  })
  return { sql: selects.map(({ sql }) => sql).join(' UNION '), values: selects.flatMap(({ values }) => values) }
}

/** Number of the newest message outside Trash and Junk that was received at `at` (ms) or before. */
export async function lastNumberUpTo(reader: Reader, account: number, at: number): Promise<number | null> {
  const row = await reader.get<{ n: number }>(
    `SELECT n FROM messages WHERE account = ? AND listed = 1 AND received_at <= ?
     ORDER BY received_at DESC, n DESC LIMIT 1`,
    [account, at],
  )
  return row?.n ?? null
}
