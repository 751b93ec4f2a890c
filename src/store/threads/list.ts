// Lists of threads: which ones a page shows. A thread is found when one of its messages meets all that is asked of messages.

import type { Reader, SqlValue } from '../../db/db.ts'
import { type Fragment, folderThreads } from '../folders.ts'
import { lastNumberUpTo, messagesGathered, messagesWalked } from '../messages/gather.ts'
import { hasMessage, isCrowded, listedValues, withinNear } from '../messages/walk.ts'
import type { MessageFilter } from '../records.ts'
import type { Hits } from '../search/hits.ts'
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

const ORDER: OrderColumns = { at: 't.last_received_at', n: 't.n' }

/** The threads of a page and one more, if there is one. */
export async function listThreadKeys(
  reader: Reader,
  search: Search,
  cut: PageRequest,
  whole: Whole,
): Promise<RowKey[]> {
  if (search.never) return []
  const { text, account } = search
  if (!text) {
    const { sql, values } = listStatement(search, cut, whole)
    return cutOff(await reader.all<RowKey>(sql, values), cut)
  }
  const start = cut.after && (await lastNumberUpTo(reader, account, Number(cut.after[0])))
  return cutOff(await findByText(reader, text, cut, start, textList(search, cut, whole)), cut)
}

/** True when an index leads straight to the page, so that few rows are looked at. */
export function isShort(search: Search, whole: Whole = null): boolean {
  return !search.text && whole === null && threadsSay(search)
}

/** What the thread as a whole must be, beside having a message that meets all that is asked; null for nothing. */
export type Whole = string | null

/** "Read" and "without attachments" are said of a thread, not of one of its messages. */
export function wholeOf({ isUnread, hasAttachment }: MessageFilter): Whole {
  const conditions: string[] = []
  if (isUnread === false) conditions.push('w.unread_count = 0')
  if (hasAttachment === false) conditions.push('w.has_attachments = 0')
  return conditions.length === 0 ? null : conditions.join(' AND ')
}

function wholeSql(n: string, whole: Whole): Fragment | null {
  return whole === null ? null : { sql: `EXISTS (SELECT 1 FROM threads w WHERE w.n = ${n} AND ${whole})`, values: [] }
}

/** A list that is not found by text. */
export function listStatement(search: Search, cut: PageRequest, whole: Whole = null): Fragment {
  if (isNarrow(search)) return found(messagesWalked(search, null), cut, null, whole)
  return union(
    null,
    walksOf(search).map((walk) => walked(search, withWhole(walk, whole), cut, null, null)),
  )
}

/** The same threads by text, to be found both ways. */
export function textList(search: Search, cut: PageRequest, whole: Whole = null): TextList {
  const crowded = isCrowded(search, cut.direction, cut.after && Number(cut.after[0]))
  return {
    gathered: (hits) => found(messagesGathered(search), cut, hits.areFew, whole),
    walked(hits, glance) {
      if (isNarrow(search)) return glance ? [] : [found(messagesWalked(search, hits), cut, hits.areMany, whole)]
      return walksOf(search).map((plain) => {
        const walk = withWhole(plain, whole)
        if (!glance) return walked(search, walk, cut, hits, hits.areMany)
        const near = every([walk.where, withinNear(walk.order.at, cut.direction)])
        return walked(search, { ...walk, where: near }, cut, hits, every([hits.areMany, crowded]))
      })
    },
  }
}

interface Walk {
  from: Fragment
  where: Fragment | null
  order: OrderColumns
}

function withWhole(walk: Walk, whole: Whole): Walk {
  return { ...walk, where: every([walk.where, wholeSql(walk.order.n, whole)]) }
}

function walksOf(search: Search): Walk[] {
  const { path, account, hidden, received } = search
  if (path.by === 'folder') {
    const { sql, values } = folderThreads(path.n)
    return [{ from: { sql: `(${sql}) f`, values }, where: null, order: { at: 'f.last_received_at', n: 'f.thread' } }]
  }
  const conditions = ['t.account = ? AND t.listed = ?']
  const bounds: SqlValue[] = []
  // What a thread says of itself covers its messages outside Trash and Junk: then it is asked before they are.
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

function walked(search: Search, walk: Walk, cut: PageRequest, hits: Hits | null, guard: Fragment | null): Fragment {
  const { from, where, order } = walk
  const message = hits === null && threadsSay(search) ? null : hasMessage(search, hits, order.n)
  return listing({ from, where: every([where, behind(order, cut), message]), order, guard }, cut)
}

/** The threads of messages that were found, by a SELECT of their numbers. */
function found(messages: Fragment, cut: PageRequest, guard: Fragment | null, whole: Whole): Fragment {
  const from = { sql: `(${messages.sql}) x CROSS JOIN threads t`, values: messages.values }
  const where = every([{ sql: 't.n = x.thread', values: [] }, behind(ORDER, cut), wholeSql(ORDER.n, whole)])
  return listing({ from, where, order: ORDER, guard }, cut)
}

/** True for paths to so few messages that their threads are gathered and sorted. */
function isNarrow({ path }: Search): boolean {
  return path.by === 'thread' || path.by === 'flagged'
}

/** True when the threads of a walk need not ask their messages: all are shown, or their counts are the answer. */
function threadsSay({ path, others, received, hidden }: Search): boolean {
  if (others || received.from !== null || received.before !== null) return false
  if (path.by === 'folder') return true
  if (path.by === 'listed') return hidden === 'all' || hidden.length === 0
  return (path.by === 'unread' || path.by === 'attachment') && hidden !== 'all' && hidden.length === 0
}
