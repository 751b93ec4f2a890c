// How many messages a search finds, and how large they are together.

import type { Reader } from '../../db/db.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { every } from '../search/sql.ts'
import { numberRange } from './numbers.ts'
import { meets } from './walk.ts'

export interface MessageCount {
  count: number
  unread: number
  sizeBytes: number
}

/** Looks at every message that could be one: for a reader of its own thread. */
export async function countMessages(reader: Reader, search: Search): Promise<MessageCount> {
  if (search.never) return { count: 0, unread: 0, sizeBytes: 0 }
  const { low, high } = numberRange(search.account)
  const found = search.text && matching(search.text)
  const where = every([
    { sql: 'm.n BETWEEN ? AND ?', values: [low, high] },
    meets(search, 'm'),
    found && { sql: `m.n IN (${found.sql})`, values: found.values },
  ])
  const row = await reader.get<{ count: number; unread: number | null; size: number | null }>(
    `SELECT count(*) AS count, sum(m.seen = 0) AS unread, sum(m.size_bytes) AS size FROM messages m WHERE ${where.sql}`,
    where.values,
  )
  return { count: row!.count, unread: row!.unread ?? 0, sizeBytes: row!.size ?? 0 }
}
