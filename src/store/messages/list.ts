// Lists of messages: which ones a page shows, in which order.

import type { Reader } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import type { MessageSort, SortDirection } from '../records.ts'
import { type Hits, matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import {
  behind,
  cutOff,
  every,
  listing,
  type OrderColumns,
  type PageRequest,
  type RowKey,
  union,
} from '../search/sql.ts'
import { findByText, type TextList } from '../search/stages.ts'
import { numberRange } from './numbers.ts'
import { gathered, holds, isCrowded, meets, meetsOnWalk, type Walk, walksOf, withinNear } from './walk.ts'

/** The order of a list, and whether it shows threads. */
export interface MessageOrder {
  sort: MessageSort
  direction: SortDirection
  /** Of each thread only the first message in the order of the list. */
  collapseThreads: boolean
}

export interface MessageCut extends PageRequest, MessageOrder {}

const BY_TIME: OrderColumns = { at: 'm.received_at', n: 'm.n' }

// Mail without a readable Date stands where it was received.
/** What a list is ordered by, as a piece of SQL. */
export const SORT_KEY: Record<MessageSort, (alias: string) => string> = {
  received_at: (alias) => `${alias}.received_at`,
  sent_at: (alias) => `coalesce(${alias}.sent_at, ${alias}.received_at)`,
  subject: (alias) => `lower(${alias}.subject)`,
  from: (alias) => `lower(${alias}.from_email)`,
  size: (alias) => `${alias}.size_bytes`,
}

/** The messages of a page and one more, if there is one. */
export async function listMessageKeys(reader: Reader, search: Search, cut: MessageCut): Promise<RowKey[]> {
  if (search.never) return []
  const { text } = search
  if (text && cut.sort === 'received_at') {
    return cutOff(
      await findByText(reader, text, cut, await startNumber(reader, search, cut), textList(search, cut)),
      cut,
    )
  }
  const { sql, values } = listStatement(search, cut)
  return cutOff(await reader.all<RowKey>(sql, values), cut)
}

/** Where a page by time starts (ms): behind the one before, or at the bound that is asked for; null at the end of the list. */
function startOf({ received }: Search, { after, direction, sort }: MessageCut): number | null {
  if (after !== null) return sort === 'received_at' ? Number(after[0]) : null
  return direction === 'desc' ? received.before : received.from
}

/** True when an index leads straight to the page, so that few rows are looked at. */
export function isShort(search: Search, cut: MessageCut): boolean {
  const { text, others, path, hidden } = search
  if (text || others || cut.collapseThreads || cut.sort !== 'received_at') return false
  return path.by === 'folder' || path.by === 'thread' || (path.by === 'listed' && hidden.length === 0)
}

/** A list that is not found by text, or is sorted by what no index has. */
export function listStatement(search: Search, cut: MessageCut): Fragment {
  if (cut.sort !== 'received_at') return sorted(search, cut)
  return union(
    null,
    walksOf(search).map((walk) => walked(search, walk, cut, null, null)),
  )
}

/** The same messages by text, to be found both ways. */
export function textList(search: Search, cut: MessageCut): TextList {
  const crowded = isCrowded(search, cut.direction, startOf(search, cut))
  return {
    gathered(hits) {
      const isHit = (column: string) => ({ sql: `${column} IN (SELECT n FROM hits)`, values: [] })
      const first = cut.collapseThreads ? isFirst(search, cut, isHit) : null
      const { from, where } = gathered(search)
      return listing(
        { from, where: every([where, behind(BY_TIME, cut), first]), order: BY_TIME, guard: hits.areFew },
        cut,
      )
    },
    walked: (hits, glance) =>
      walksOf(search).map((walk) => {
        if (!glance) return walked(search, walk, cut, hits, hits.areMany)
        const near = every([walk.where, withinNear(walk.order.at, cut.direction)])
        return walked(search, { ...walk, where: near }, cut, hits, every([hits.areMany, crowded]))
      }),
  }
}

/** The number of the message a page by time starts with; null at the end of the list. */
async function startNumber(reader: Reader, search: Search, cut: MessageCut): Promise<number | null> {
  if (cut.after !== null) return Number(cut.after[1])
  const { direction } = cut
  const at = startOf(search, cut)
  if (at === null) return null
  const row = await reader.get<{ n: number }>(
    `SELECT n FROM messages WHERE account = ? AND listed = 1 AND received_at ${direction === 'desc' ? '<=' : '>='} ?
     ORDER BY received_at ${direction}, n ${direction} LIMIT 1`,
    [search.account, at],
  )
  return row?.n ?? null
}

function walked(search: Search, walk: Walk, cut: MessageCut, hits: Hits | null, guard: Fragment | null): Fragment {
  const { from, where, order } = walk
  const isMatch = (column: string) => hits && holds(hits, column)
  const asked = every([
    where,
    behind(order, cut),
    meetsOnWalk(search, order.at),
    isMatch(order.n),
    cut.collapseThreads ? isFirst(search, cut, isMatch) : null,
  ])
  return listing({ from, where: asked, order, guard }, cut)
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
  return listing({ from: { sql: 'messages m', values: [] }, where: asked, order }, cut)
}

/**
 * No other message of the thread that is found stands before this one.
 * @param isMatch what is asked of the number of the other one beside the search
 */
export function isFirst(
  search: Search,
  { sort, direction }: MessageOrder,
  isMatch: (column: string) => Fragment | null,
): Fragment {
  const key = SORT_KEY[sort]
  const before = direction === 'desc' ? '>' : '<'
  const asked = every([
    { sql: `o.thread = m.thread AND (${key('o')}, o.n) ${before} (${key('m')}, m.n)`, values: [] },
    meets(search, 'o'),
    isMatch('o.n'),
  ])
  return { sql: `NOT EXISTS (SELECT 1 FROM messages o WHERE ${asked.sql})`, values: asked.values }
}
