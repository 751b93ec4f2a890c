// Lists of messages: which ones a page shows, in which order.

import type { Reader } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import type { MessageSort } from '../records.ts'
import { HITS_ARE_MORE, hitTables, isNear, matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { behind, type Cut, cutSql, every, inOrder, type OrderColumns, type Place, union } from '../search/sql.ts'
import { numberRange } from './numbers.ts'
import { gathered, meets, meetsOnWalk, type Walk, walksOf } from './walk.ts'

export interface MessageCut extends Cut {
  sort: MessageSort
  /** Of each thread only the first message in the order of the list. */
  collapseThreads: boolean
}

// Mail without a readable Date stands where it was received.
const SORT_KEY: Record<MessageSort, (alias: string) => string> = {
  received_at: (alias) => `${alias}.received_at`,
  sent_at: (alias) => `coalesce(${alias}.sent_at, ${alias}.received_at)`,
  subject: (alias) => `lower(${alias}.subject)`,
  from: (alias) => `lower(${alias}.from_email)`,
  size: (alias) => `${alias}.size_bytes`,
}

/** The messages of a page and one more, if there is one. */
export async function listPlaces(reader: Reader, search: Search, cut: MessageCut): Promise<Place[]> {
  if (search.never) return []
  const { sql, values } = listStatement(search, cut)
  return inOrder(await reader.all<Place>(sql, values), cut.direction).slice(0, cut.limit + 1)
}

/** True when an index leads straight to the page, so that few rows are looked at. */
export function isShort(search: Search, cut: MessageCut): boolean {
  const { text, others, path, hidden } = search
  if (text || others || cut.collapseThreads || cut.sort !== 'received_at') return false
  return path.by === 'folder' || path.by === 'thread' || (path.by === 'listed' && hidden.length === 0)
}

export function listStatement(search: Search, cut: MessageCut): Fragment {
  if (cut.sort !== 'received_at') return union(null, [sorted(search, cut)])
  const walks = walksOf(search)
  const { text } = search
  if (!text)
    return union(
      null,
      walks.map((walk) => walked(search, walk, cut)),
    )
  const start = cut.after === null ? null : Number(cut.after[1])
  const tables = hitTables(text, cut.direction, start)
  return union(tables, [gatheredList(search, cut), ...walks.map((walk) => walked(search, walk, cut))])
}

function walked(search: Search, { from, where, order }: Walk, cut: MessageCut): Fragment {
  const { text } = search
  const isMatch = (column: string) => text && isNear(column, text)
  const asked = every([
    text && HITS_ARE_MORE,
    where,
    behind(order, cut),
    meetsOnWalk(search, order.at),
    isMatch(order.n),
    cut.collapseThreads ? isFirst(search, cut, isMatch) : null,
  ])
  return select(from, order, asked, cut)
}

function gatheredList(search: Search, cut: MessageCut): Fragment {
  const { from, where } = gathered(search)
  const order = { at: 'm.received_at', n: 'm.n' }
  const isHit = (column: string) => ({ sql: `${column} IN (SELECT n FROM hits)`, values: [] })
  const asked = every([where, behind(order, cut), cut.collapseThreads ? isFirst(search, cut, isHit) : null])
  return select({ sql: from, values: [] }, order, asked, cut)
}

/** Orders no index has: all that is found is sorted. */
function sorted(search: Search, cut: MessageCut): Fragment {
  const order = { at: SORT_KEY[cut.sort]('m'), n: 'm.n' }
  const { low, high } = numberRange(search.account)
  const all = search.text && matching(search.text)
  const isMatch = (column: string) => all && { sql: `${column} IN (${all.sql})`, values: all.values }
  const asked = every([
    { sql: 'm.n BETWEEN ? AND ?', values: [low, high] },
    meets(search, 'm'),
    isMatch('m.n'),
    behind(order, cut),
    cut.collapseThreads ? isFirst(search, cut, isMatch) : null,
  ])
  return select({ sql: 'messages m', values: [] }, order, asked, cut)
}

/** No other message of the thread that is found stands before this one. */
function isFirst(search: Search, cut: MessageCut, isMatch: (column: string) => Fragment | null): Fragment {
  const key = SORT_KEY[cut.sort]
  const before = cut.direction === 'desc' ? '>' : '<'
  const asked = every([
    { sql: `o.thread = m.thread AND (${key('o')}, o.n) ${before} (${key('m')}, m.n)`, values: [] },
    meets(search, 'o'),
    isMatch('o.n'),
  ])
  return { sql: `NOT EXISTS (SELECT 1 FROM messages o WHERE ${asked.sql})`, values: asked.values }
}

function select(from: Fragment, order: OrderColumns, asked: Fragment, cut: Cut): Fragment {
  const end = cutSql(order, cut)
  return {
    sql: `SELECT ${order.at} AS at, ${order.n} AS n FROM ${from.sql} WHERE ${asked.sql} ${end.sql}`,
    values: [...from.values, ...asked.values, ...end.values],
  }
}
