// Statements that list threads. A thread matches if one of its messages matches all conditions.

import type { AnyReader, SqlValue } from '../../db/db.ts'
import { type Fragment, folderThreads } from '../rows/folders.ts'
import type { MessageFilter } from '../rows/records.ts'
import {
  afterCursor,
  every,
  mergePage,
  type OrderColumns,
  type PageRequest,
  pageOfAll,
  pageStatement,
  type RowKey,
  unionAll,
} from '../rows/sql.ts'
import { allHits, type Hits } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { findByText, type TextList } from './find-by-text.ts'
import { newestNumberAt, threadsOfHits, threadsOfWalks } from './matching-threads.ts'
import { NEAR_POSITION } from './message-list.ts'
import { hasMatchingMessage, isDense, listedValues, withinNear } from './walk.ts'

const ORDER: OrderColumns = { at: 't.last_received_at', n: 't.n' }

/** The keys of a page, and of one more thread if there is one. */
export async function listThreadKeys(
  reader: AnyReader,
  search: Search,
  page: PageRequest,
  condition: ThreadCondition,
): Promise<RowKey[]> {
  if (search.never) return []
  const { text, account } = search
  if (!text || page.position) {
    const { sql, values } = listStatement(search, page, condition)
    return mergePage(await reader.all<RowKey>(sql, values), page)
  }
  const start = page.after && (await newestNumberAt(reader, account, Number(page.after[0])))
  return mergePage(await findByText(reader, text, page, start, textList(search, page, condition)), page)
}

/** True if the page can be read from an index without reading other rows. */
export function isIndexedPage(search: Search, page: PageRequest, condition: ThreadCondition = null): boolean {
  if ((page.position ?? 0) > NEAR_POSITION) return false
  return !search.text && condition === null && isAnsweredByThreads(search)
}

/** SQL condition on the thread itself, in addition to its matching message; null: none. */
export type ThreadCondition = string | null

/** "Read" and "without attachments" are conditions on the condition thread, not on one of its messages. */
export function threadConditionOf({ isUnread, hasAttachment }: MessageFilter): ThreadCondition {
  const conditions: string[] = []
  if (isUnread === false) conditions.push('w.unread_count = 0')
  if (hasAttachment === false) conditions.push('w.has_attachments = 0')
  return conditions.length === 0 ? null : conditions.join(' AND ')
}

/** The condition on the thread whose number is in a column. */
export function matchesThread(n: string, condition: ThreadCondition): Fragment | null {
  return condition === null
    ? null
    : { sql: `EXISTS (SELECT 1 FROM threads w WHERE w.n = ${n} AND ${condition})`, values: [] }
}

/** Statement of a list without full-text search, or at a position among the threads that a text matches. */
export function listStatement(search: Search, page: PageRequest, condition: ThreadCondition = null): Fragment {
  if (search.text) {
    const { tables } = allHits(search.text, 0)
    return unionAll(tables, [threadsOfMessages(threadsOfHits(search), page, null, condition)])
  }
  if (isNarrow(search)) return threadsOfMessages(threadsOfWalks(search, null), page, null, condition)
  return pageOfAll(
    (part) =>
      walksOf(search).map((walk) => walkStatement(search, withThreadCondition(walk, condition), part, null, null)),
    page,
  )
}

/** The two alternative statements of a list with full-text search. */
export function textList(search: Search, page: PageRequest, condition: ThreadCondition = null): TextList {
  const dense = isDense(search, page.direction, page.after && Number(page.after[0]))
  return {
    gathered: (hits) => threadsOfMessages(threadsOfHits(search), page, hits.areFew, condition),
    walked(hits, isFirstPass) {
      if (isNarrow(search))
        return isFirstPass ? [] : [threadsOfMessages(threadsOfWalks(search, hits), page, hits.areMany, condition)]
      return walksOf(search).map((plain) => {
        const walk = withThreadCondition(plain, condition)
        if (!isFirstPass) return walkStatement(search, walk, page, hits, hits.areMany)
        const near = every([walk.where, withinNear(walk.order.at, page.direction)])
        return walkStatement(search, { ...walk, where: near }, page, hits, every([hits.areMany, dense]))
      })
    },
  }
}

/** An index scan over the threads that may be in a list, in its order. */
export interface ThreadWalk {
  from: Fragment
  where: Fragment | null
  order: OrderColumns
}

/**
 * Walks that visit exactly the threads of a list, each thread on one of them.
 * @returns null if the messages of the threads have to be read
 */
export function exactWalks(search: Search, condition: ThreadCondition): ThreadWalk[] | null {
  if (search.never || search.text !== null || isNarrow(search) || !isAnsweredByThreads(search)) return null
  return walksOf(search).map((walk) => withThreadCondition(walk, condition))
}

/** The numbers and times of all threads of a list. */
export function allThreads(search: Search, condition: ThreadCondition): Fragment {
  const numbers = search.text ? threadsOfHits(search) : threadsOfWalks(search, null)
  const where = every([
    search.never ? { sql: '1 = 0', values: [] } : null,
    { sql: 't.n = x.thread', values: [] },
    matchesThread(ORDER.n, condition),
  ])
  return {
    sql: `SELECT t.last_received_at AS at, t.n AS n FROM (${numbers.sql}) x CROSS JOIN threads t WHERE ${where.sql}`,
    values: [...numbers.values, ...where.values],
  }
}

function withThreadCondition(walk: ThreadWalk, condition: ThreadCondition): ThreadWalk {
  return { ...walk, where: every([walk.where, matchesThread(walk.order.n, condition)]) }
}

function walksOf(search: Search): ThreadWalk[] {
  const { path, account, hidden, received } = search
  if (path.by === 'folder') {
    const { sql, values } = folderThreads(path.n)
    return [{ from: { sql: `(${sql}) f`, values }, where: null, order: { at: 'f.last_received_at', n: 'f.thread' } }]
  }
  const conditions = ['t.account = ? AND t.listed = ?']
  const bounds: SqlValue[] = []
  // The counts of a thread cover its messages outside Trash and Junk: they are checked first if the search covers the same.
  if (hidden !== 'all' && hidden.length === 0) {
    if (path.by === 'unread') conditions.push('t.unread_count > 0')
    if (path.by === 'attachment') conditions.push('t.has_attachments = 1')
    if (received.from !== null) {
      conditions.push('t.last_received_at >= ?')
      bounds.push(received.from)
    }
  }
  return listedValues(search).map((listed) => ({
    from: { sql: 'threads t', values: [] },
    where: { sql: conditions.join(' AND '), values: [account, listed, ...bounds] },
    order: ORDER,
  }))
}

function walkStatement(
  search: Search,
  walk: ThreadWalk,
  page: PageRequest,
  hits: Hits | null,
  guard: Fragment | null,
): Fragment {
  const { from, where, order } = walk
  const message = hits === null && isAnsweredByThreads(search) ? null : hasMatchingMessage(search, hits, order.n)
  return pageStatement({ from, where: every([where, afterCursor(order, page), message]), order, guard }, page)
}

/** Lists the threads that a SELECT of thread numbers returns. */
function threadsOfMessages(
  messages: Fragment,
  page: PageRequest,
  guard: Fragment | null,
  condition: ThreadCondition,
): Fragment {
  const from = { sql: `(${messages.sql}) x CROSS JOIN threads t`, values: messages.values }
  const where = every([
    { sql: 't.n = x.thread', values: [] },
    afterCursor(ORDER, page),
    matchesThread(ORDER.n, condition),
  ])
  return pageStatement({ from, where, order: ORDER, guard }, page)
}

/** True for paths with so few messages that their threads are sorted instead of walked. */
function isNarrow({ path }: Search): boolean {
  return path.by === 'thread' || path.by === 'flagged'
}

/** True if the messages of the threads on a walk need not be read: all threads match, or their counts decide. */
function isAnsweredByThreads({ path, others, received, hidden }: Search): boolean {
  if (others || received.from !== null || received.before !== null) return false
  if (path.by === 'folder') return true
  if (path.by === 'listed') return hidden === 'all' || hidden.length === 0
  return (path.by === 'unread' || path.by === 'attachment') && hidden !== 'all' && hidden.length === 0
}
