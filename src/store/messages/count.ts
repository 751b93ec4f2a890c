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

const NOTHING: MessageCount = { count: 0, unread: 0, sizeBytes: 0 }

/** What is kept as totals (migration 15), for a search that asks for no more; else undefined. A look at some rows. */
export async function countTotals(reader: Reader, search: Search): Promise<MessageCount | undefined> {
  const { never, text, others, received, hidden, path, account } = search
  if (never) return NOTHING
  if (text || others || received.from !== null || received.before !== null) return undefined
  if ((hidden !== 'all' && hidden.length > 0) || !(path.by in ASKED)) return undefined
  const where = [hidden === 'all' ? '' : ' AND listed = 1', ASKED[path.by as keyof typeof ASKED]].join('')
  const row = await reader.get<CountRow>(
    `SELECT sum(messages) AS count, sum(messages) FILTER (WHERE seen = 0) AS unread, sum(size_bytes) AS size
     FROM message_totals WHERE account = ?${where}`,
    [account],
  )
  return present(row!)
}

const ASKED = {
  listed: '',
  unread: ' AND seen = 0',
  flagged: ' AND flagged = 1',
  attachment: ' AND has_attachments = 1',
}

interface CountRow {
  count: number | null
  unread: number | null
  size: number | null
}

function present({ count, unread, size }: CountRow): MessageCount {
  return { count: count ?? 0, unread: unread ?? 0, sizeBytes: size ?? 0 }
}

/** Looks at every message that could be one: for a reader of its own thread. */
export async function countMessages(reader: Reader, search: Search): Promise<MessageCount> {
  if (search.never) return NOTHING
  const { low, high } = numberRange(search.account)
  const found = search.text && matching(search.text)
  const where = every([
    { sql: 'm.n BETWEEN ? AND ?', values: [low, high] },
    meets(search, 'm'),
    found && { sql: `m.n IN (${found.sql})`, values: found.values },
  ])
  const row = await reader.get<CountRow>(
    `SELECT count(*) AS count, sum(m.seen = 0) AS unread, sum(m.size_bytes) AS size FROM messages m WHERE ${where.sql}`,
    where.values,
  )
  return present(row!)
}
