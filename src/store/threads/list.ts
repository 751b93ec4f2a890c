// Lists of threads: which ones a page shows. A thread is found when one of its messages meets all that is asked.

import type { Reader, SqlValue } from '../../db/db.ts'
import { type Fragment, folderThreads } from '../folders.ts'
import { lastNumberUpTo, messagesGathered, messagesWalked } from '../messages/gather.ts'
import { hasMessage, listedValues } from '../messages/walk.ts'
import { HITS_ARE_MORE, hitTables } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { behind, type Cut, cutSql, every, inOrder, type OrderColumns, type Place, union } from '../search/sql.ts'

const ORDER: OrderColumns = { at: 't.last_received_at', n: 't.n' }

/** The threads of a page and one more, if there is one. */
export async function listPlaces(reader: Reader, search: Search, cut: Cut): Promise<Place[]> {
  if (search.never) return []
  const start = search.text && cut.after && (await lastNumberUpTo(reader, search.account, Number(cut.after[0])))
  const { sql, values } = listStatement(search, cut, start ?? null)
  return inOrder(await reader.all<Place>(sql, values), cut.direction).slice(0, cut.limit + 1)
}

/** True when an index leads straight to the page, so that few rows are looked at. */
export function isShort(search: Search): boolean {
  return !search.text && (asksNothingMore(search) || countsSay(search))
}

/** @param start number of a message near the last thread of the page before */
export function listStatement(search: Search, cut: Cut, start: number | null): Fragment {
  const { text, path } = search
  if (text) {
    return union(hitTables(text, cut.direction, start), [
      found(messagesGathered(search), cut),
      ...walks(search).map((walk) => walked(search, walk, cut)),
    ])
  }
  // These paths lead to few messages: their threads are gathered and sorted.
  if (path.by === 'thread' || path.by === 'messageId' || path.by === 'flagged') {
    return union(null, [found(messagesWalked(search), cut)])
  }
  return union(
    null,
    walks(search).map((walk) => walked(search, walk, cut)),
  )
}

interface Walk {
  from: Fragment
  where: Fragment | null
  order: OrderColumns
}

function walks(search: Search): Walk[] {
  const { path, account, hidden, received } = search
  if (path.by === 'folder') {
    const { sql, values } = folderThreads(path.n)
    return [{ from: { sql: `(${sql}) f`, values }, where: null, order: { at: 'f.last_received_at', n: 'f.thread' } }]
  }
  const shown = hidden !== 'all' && hidden.length === 0
  const conditions = ['t.account = ? AND t.listed = ?']
  const bounds: SqlValue[] = []
  // What a thread says of itself covers its messages outside Trash and Junk: then it is asked before they are.
  if (shown && path.by === 'unread') conditions.push('t.unread_count > 0')
  if (shown && received.from !== null) {
    conditions.push('t.last_received_at >= ?')
    bounds.push(received.from)
  }
  return listedValues(search).map((listed) => ({
    from: { sql: 'threads t', values: [] },
    where: { sql: conditions.join(' AND '), values: [account, listed, ...bounds] },
    order: ORDER,
  }))
}

function walked(search: Search, { from, where, order }: Walk, cut: Cut): Fragment {
  const asked = every([
    search.text && HITS_ARE_MORE,
    where,
    behind(order, cut),
    isShort(search) ? null : hasMessage(search, order.n),
  ])
  return select(from, order, asked, cut)
}

/** The threads of messages that were found: a SELECT of their numbers. */
function found(messages: Fragment, cut: Cut): Fragment {
  const from = { sql: `(${messages.sql}) x CROSS JOIN threads t`, values: messages.values }
  return select(from, ORDER, every([{ sql: 't.n = x.thread', values: [] }, behind(ORDER, cut)]), cut)
}

function select(from: Fragment, order: OrderColumns, asked: Fragment, cut: Cut): Fragment {
  const end = cutSql(order, cut)
  return {
    sql: `SELECT ${order.at} AS at, ${order.n} AS n FROM ${from.sql} WHERE ${asked.sql} ${end.sql}`,
    values: [...from.values, ...asked.values, ...end.values],
  }
}

/** True when every thread of the walk is shown. */
function asksNothingMore({ path, others, received, hidden }: Search): boolean {
  if (others || received.from !== null || received.before !== null) return false
  return path.by === 'folder' || (path.by === 'listed' && (hidden === 'all' || hidden.length === 0))
}

/** True when the counts of a thread are the answer. */
function countsSay({ path, others, received, hidden }: Search): boolean {
  if (others || received.from !== null || received.before !== null) return false
  return path.by === 'unread' && hidden !== 'all' && hidden.length === 0
}
