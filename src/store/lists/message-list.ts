// Statements that list messages: filter, order and page.

import type { AnyReader } from '../../db/db.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import type { Fragment } from '../rows/folders.ts'
import type { MessageSort, SortDirection } from '../rows/records.ts'
import {
  afterCursor,
  every,
  mergePage,
  type OrderColumns,
  type PageRequest,
  pageOfAll,
  pageStatement,
  type RowKey,
} from '../rows/sql.ts'
import { type Hits, matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { findByText, type TextList } from './find-by-text.ts'
import {
  fromHits,
  isDense,
  isHit,
  matchesFilters,
  matchesRemainingFilters,
  type Walk,
  walksOf,
  withinNear,
} from './walk.ts'

/** The order of a list, and whether it is collapsed to threads. */
export interface MessageOrder {
  sort: MessageSort
  direction: SortDirection
  /** Only the first message of each thread in the order of the list. */
  collapseThreads: boolean
}

export interface MessagePageRequest extends PageRequest, MessageOrder {}

/** Rows of an index that are skipped on the calling thread: less than 1 ms. */
export const NEAR_POSITION = 20_000

const BY_TIME: OrderColumns = { at: 'm.received_at', n: 'm.n' }

/** SQL expression of a sort key. A message without a valid Date is sorted by its time of receipt. */
export const SORT_KEY: Record<MessageSort, (alias: string) => string> = {
  received_at: (alias) => `${alias}.received_at`,
  sent_at: (alias) => `coalesce(${alias}.sent_at, ${alias}.received_at)`,
  subject: (alias) => `lower(${alias}.subject)`,
  from: (alias) => `lower(${alias}.from_email)`,
  size: (alias) => `${alias}.size_bytes`,
}

/** The keys of a page, and of one more message if there is one. */
export async function listMessageKeys(reader: AnyReader, search: Search, page: MessagePageRequest): Promise<RowKey[]> {
  if (search.never) return []
  const { text } = search
  if (text && page.sort === 'received_at' && !page.position) {
    return mergePage(
      await findByText(reader, text, page, await startNumber(reader, search, page), textList(search, page)),
      page,
    )
  }
  const { sql, values } = listStatement(search, page)
  return mergePage(await reader.all<RowKey>(sql, values), page)
}

/** Time at which a page ordered by receipt starts, ms: the cursor, or the bound of the filter; null: the end of the list. */
function startTime({ received }: Search, { after, direction, sort }: MessagePageRequest): number | null {
  if (after !== null) return sort === 'received_at' ? Number(after[0]) : null
  return direction === 'desc' ? received.before : received.from
}

/** True if the page can be read from an index without reading other rows. */
export function isIndexedPage(search: Search, page: MessagePageRequest): boolean {
  const { text, others, path, hidden } = search
  if ((page.position ?? 0) > NEAR_POSITION) return false
  if (text || others || page.collapseThreads || page.sort !== 'received_at') return false
  return path.by === 'folder' || path.by === 'thread' || (path.by === 'listed' && hidden.length === 0)
}

/** Statement of a list without full-text search, sorted by a key without an index, or at a position among the matches of a text. */
export function listStatement(search: Search, page: MessagePageRequest): Fragment {
  if (page.sort !== 'received_at' || search.text) return sortedStatement(search, page)
  return pageOfAll(
    (part) => walksOf(search).map((walk) => walkStatement(search, walk, { ...page, ...part }, null, null)),
    page,
  )
}

/** The two alternative statements of a list with full-text search. */
export function textList(search: Search, page: MessagePageRequest): TextList {
  const dense = isDense(search, page.direction, startTime(search, page))
  return {
    gathered(hits) {
      const isHit = (column: string) => ({ sql: `${column} IN (SELECT n FROM hits)`, values: [] })
      const first = page.collapseThreads ? isFirstOfThread(search, page, isHit) : null
      const { from, where } = fromHits(search)
      return pageStatement(
        { from, where: every([where, afterCursor(BY_TIME, page), first]), order: BY_TIME, guard: hits.areFew },
        page,
      )
    },
    walked: (hits, isFirstPass) =>
      walksOf(search).map((walk) => {
        if (!isFirstPass) return walkStatement(search, walk, page, hits, hits.areMany)
        const near = every([walk.where, withinNear(walk.order.at, page.direction)])
        return walkStatement(search, { ...walk, where: near }, page, hits, every([hits.areMany, dense]))
      }),
  }
}

/** Number of the message at which a page ordered by receipt starts; null: the end of the list. */
async function startNumber(reader: AnyReader, search: Search, page: MessagePageRequest): Promise<number | null> {
  if (page.after !== null) return Number(page.after[1])
  const { direction } = page
  const at = startTime(search, page)
  if (at === null) return null
  const row = await reader.get<{ n: number }>(
    `SELECT n FROM messages WHERE account = ? AND listed = 1 AND received_at ${direction === 'desc' ? '<=' : '>='} ?
     ORDER BY received_at ${direction}, n ${direction} LIMIT 1`,
    [search.account, at],
  )
  return row?.n ?? null
}

function walkStatement(
  search: Search,
  walk: Walk,
  page: MessagePageRequest,
  hits: Hits | null,
  guard: Fragment | null,
): Fragment {
  const { from, where, order } = walk
  const isMatch = (column: string) => hits && isHit(hits, column)
  const conditions = every([
    where,
    afterCursor(order, page),
    matchesRemainingFilters(search, order.at),
    isMatch(order.n),
    page.collapseThreads ? isFirstOfThread(search, page, isMatch) : null,
  ])
  return pageStatement({ from, where: conditions, order, guard }, page)
}

/** Statement for sort keys without an index: sorts all matches. */
function sortedStatement(search: Search, page: MessagePageRequest): Fragment {
  const order = { at: SORT_KEY[page.sort]('m'), n: 'm.n' }
  const { low, high } = numberRange(search.account)
  const all = search.text && matching(search.text)
  const isMatch = (column: string) => all && { sql: `${column} IN (${all.sql})`, values: all.values }
  const conditions = every([
    { sql: 'm.n BETWEEN ? AND ?', values: [low, high] },
    matchesFilters(search, 'm'),
    isMatch('m.n'),
    afterCursor(order, page),
    page.collapseThreads ? isFirstOfThread(search, page, isMatch) : null,
  ])
  return pageStatement({ from: { sql: 'messages m', values: [] }, where: conditions, order }, page)
}

/**
 * Condition: no other matching message of the thread comes before this one.
 * @param isMatch condition on the number of the other message, in addition to the search
 */
export function isFirstOfThread(
  search: Search,
  { sort, direction }: MessageOrder,
  isMatch: (column: string) => Fragment | null,
): Fragment {
  const key = SORT_KEY[sort]
  const before = direction === 'desc' ? '>' : '<'
  const conditions = every([
    { sql: `o.thread = m.thread AND (${key('o')}, o.n) ${before} (${key('m')}, m.n)`, values: [] },
    matchesFilters(search, 'o'),
    isMatch('o.n'),
  ])
  return { sql: `NOT EXISTS (SELECT 1 FROM messages o WHERE ${conditions.sql})`, values: conditions.values }
}
