// Counts of the messages a search matches, and their total size.

import type { AnyReader, Reader } from '../../db/db.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import type { Fragment } from '../rows/folders.ts'
import { every } from '../rows/sql.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { matchesFilters } from './walk.ts'

export interface MessageCount {
  count: number
  unread: number
  sizeBytes: number
}

const ZERO: MessageCount = { count: 0, unread: 0, sizeBytes: 0 }

/** Counts from the stored totals (migration 15), which takes a few rows; undefined if the search has conditions beyond them. */
export function countTotals(reader: Reader, search: Search): MessageCount | undefined {
  const { never, text, others, received, hidden, path, account } = search
  if (never) return ZERO
  if (text || others || received.from !== null || received.before !== null) return undefined
  if ((hidden !== 'all' && hidden.length > 0) || !(path.by in TOTALS_CONDITIONS)) return undefined
  const where = [
    hidden === 'all' ? '' : ' AND listed = 1',
    TOTALS_CONDITIONS[path.by as keyof typeof TOTALS_CONDITIONS],
  ].join('')
  const row = reader.get<CountRow>(
    `SELECT sum(messages) AS count, sum(messages) FILTER (WHERE seen = 0) AS unread, sum(size_bytes) AS size
     FROM message_totals WHERE account = ?${where}`,
    [account],
  )
  return present(row!)
}

const TOTALS_CONDITIONS = {
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

/** Counts by reading all candidate messages; to be run on the scan reader. */
export async function countMessages(reader: AnyReader, search: Search): Promise<MessageCount> {
  if (search.never) return ZERO
  const where = isMatch(search)
  const row = await reader.get<CountRow>(
    `SELECT count(*) AS count, sum(m.seen = 0) AS unread, sum(m.size_bytes) AS size FROM messages m WHERE ${where.sql}`,
    where.values,
  )
  return present(row!)
}

/** Condition: the message `m` matches the search. */
function isMatch(search: Search): Fragment {
  const { low, high } = numberRange(search.account)
  const hits = search.text && matching(search.text)
  return every([
    { sql: 'm.n BETWEEN ? AND ?', values: [low, high] },
    matchesFilters(search, 'm'),
    hits && { sql: `m.n IN (${hits.sql})`, values: hits.values },
  ])
}

/** Of more matches of a full-text search than this the number is not counted. */
export const TEXT_TOTAL_MAX = 10_000

/**
 * Number of messages, or of the threads with a matching message; to be run on the scan reader.
 * @param ofThread an additional condition on the thread, with `m.thread` as its number
 * @returns null for a full-text search with more than TEXT_TOTAL_MAX
 */
export async function countEntries(
  reader: AnyReader,
  search: Search,
  entries: 'messages' | 'threads',
  ofThread: Fragment | null = null,
): Promise<number | null> {
  if (search.never) return 0
  const where = every([isMatch(search), ofThread])
  const column = entries === 'messages' ? 'm.n' : 'DISTINCT m.thread'
  const limit = search.text ? ` LIMIT ${TEXT_TOTAL_MAX + 1}` : ''
  const row = await reader.get<{ total: number }>(
    `SELECT count(*) AS total FROM (SELECT ${column} FROM messages m WHERE ${where.sql}${limit})`,
    where.values,
  )
  return search.text && row!.total > TEXT_TOTAL_MAX ? null : row!.total
}
