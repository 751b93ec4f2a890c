// Walks: index scans that visit the candidates of a search in list order, and the remaining conditions on each message.

import { type Fragment, folderMessages, inFolder } from '../rows/folders.ts'
import type { SortDirection } from '../rows/records.ts'
import { every, type OrderColumns } from '../rows/sql.ts'
import type { Hits } from '../search/hits.ts'
import type { Search } from '../search/search.ts'

/** A FROM clause with its conditions; the rows have the alias `m` and are in the order of `order`. */
export interface Walk {
  from: Fragment
  where: Fragment
  order: OrderColumns
  /** The same rows without `m`, if no condition needs the row of the message. */
  bare: Fragment | null
}

/** The first pass walks the list only if its matches are within this many messages; more for phrases, whose matches are costlier. */
const DENSE_WITHIN = 1500
const DENSE_WITHIN_PHRASES = 20_000
const IN_ROW: OrderColumns = { at: 'm.received_at', n: 'm.n' }

/** Each candidate of the search (text aside) is visited by exactly one of the walks. */
export function walksOf(search: Search): Walk[] {
  const { path, account } = search
  const messages: Fragment = { sql: 'messages m', values: [] }
  const messageWalk = (sql: string, values: Fragment['values']): Walk[] => [
    { from: messages, where: every([{ sql, values }, visible(search, 'm')]), order: IN_ROW, bare: null },
  ]
  switch (path.by) {
    case 'folder': {
      const { sql, values } = folderMessages(path.n)
      const from = { sql: `(${sql}) f CROSS JOIN messages m`, values }
      const order = { at: 'f.received_at', n: 'f.message' }
      return [{ from, where: { sql: 'm.n = f.message', values: [] }, order, bare: { sql: `(${sql}) f`, values } }]
    }
    case 'thread':
      return messageWalk('m.thread = ?', [path.n])
    case 'unread':
      return messageWalk('m.account = ? AND m.seen = 0', [account])
    case 'flagged':
      return messageWalk('m.account = ? AND m.flagged = 1', [account])
    case 'attachment':
      return messageWalk('m.account = ? AND m.has_attachments = 1', [account])
    default:
      return listedValues(search).map((listed) => ({
        from: messages,
        where: every([
          { sql: 'm.account = ? AND m.listed = ?', values: [account, listed] },
          listed === 0 ? inHidden(search, 'm') : null,
        ]),
        order: IN_ROW,
        bare: null,
      }))
  }
}

/** Values of `listed` that a search includes. */
export function listedValues({ hidden }: Search): number[] {
  return hidden === 'all' || hidden.length > 0 ? [1, 0] : [1]
}

/** All conditions of a search on a message, except full-text. */
export function matchesFilters(search: Search, alias: string): Fragment {
  return every([
    visible(search, alias),
    search.onPath?.(alias),
    receivedBounds(search, `${alias}.received_at`),
    search.others?.(alias),
  ])
}

/** The conditions that a walk's FROM does not imply. */
export function matchesRemainingFilters(search: Search, at: string): Fragment {
  return every([receivedBounds(search, at), search.others?.('m')])
}

/** FROM and WHERE for the messages in `hits`, which must contain all matches. */
export function fromHits(search: Search): { from: Fragment; where: Fragment } {
  return {
    from: { sql: 'hits h CROSS JOIN messages m', values: [] },
    where: every([{ sql: 'm.n = h.n', values: [] }, matchesFilters(search, 'm')]),
  }
}

/** Condition: the message number in `column` matches the full-text search. */
export function isHit(hits: Hits, column: string): Fragment {
  const fetched = hits.isFetched(column)
  return hits.isBeyond ? either(fetched, hits.isBeyond(column)) : fetched
}

/** Condition: a message of the thread whose number is in `column` matches the search including full-text. */
export function hasMatchingMessage(search: Search, hits: Hits | null, column: string): Fragment {
  const exists = (matches: Fragment | null) => {
    const conditions = every([{ sql: `m.thread = ${column}`, values: [] }, matchesFilters(search, 'm'), matches])
    return { sql: `EXISTS (SELECT 1 FROM messages m WHERE ${conditions.sql})`, values: conditions.values }
  }
  if (!hits?.isBeyond) return exists(hits?.isFetched('m.n') ?? null)
  // First all messages of a thread are checked against the fetched hits; only then is the index queried.
  return either(exists(hits.isFetched('m.n')), exists(hits.isBeyond('m.n')))
}

function either(first: Fragment, second: Fragment): Fragment {
  return { sql: `(${first.sql} OR ${second.sql})`, values: [...first.values, ...second.values] }
}

/**
 * Condition (evaluated once per statement): the matches in `near` are within the first DENSE_WITHIN messages of the list.
 * @param start received_at at which the page starts, ms; null: the end of the list
 */
export function isDense({ account, text }: Search, direction: SortDirection, start: number | null): Fragment {
  const down = direction === 'desc'
  const from = start === null ? null : { sql: `received_at ${down ? '<=' : '>='} ?`, values: [start] }
  const conditions = every([{ sql: 'account = ? AND listed = 1', values: [account] }, from])
  const last = `SELECT n FROM messages WHERE ${conditions.sql} ORDER BY received_at ${direction}, n ${direction} LIMIT 1 OFFSET ?`
  const sql = down
    ? `(SELECT low FROM near_edge) >= coalesce((${last}), 0)`
    : `(SELECT high FROM near_edge) <= coalesce((${last}), (SELECT high FROM near_edge))`
  return { sql, values: [...conditions.values, text?.kind === 'phrase' ? DENSE_WITHIN_PHRASES : DENSE_WITHIN] }
}

/** Condition: the time in `column` is within the range of `near`. */
export function withinNear(column: string, direction: SortDirection): Fragment {
  const [sign, edge] = direction === 'desc' ? ['>=', 'low'] : ['<=', 'high']
  return {
    sql: `${column} ${sign} (SELECT received_at FROM messages WHERE n = (SELECT ${edge} FROM near_edge))`,
    values: [],
  }
}

function receivedBounds({ received }: Search, column: string): Fragment | null {
  const { from, before } = received
  if (from === null && before === null) return null
  return every([
    from === null ? null : { sql: `${column} >= ?`, values: [from] },
    before === null ? null : { sql: `${column} < ?`, values: [before] },
  ])
}

// The plus prevents SQLite from using an index on `listed` that has another order.
function visible(search: Search, alias: string): Fragment | null {
  const { hidden } = search
  if (hidden === 'all') return null
  if (hidden.length === 0) return { sql: `+${alias}.listed = 1`, values: [] }
  const named = inHidden(search, alias)!
  return { sql: `(${alias}.listed = 1 OR ${named.sql})`, values: named.values }
}

/** Condition: the message is in one of the named hidden folders; null if all are included. */
function inHidden({ hidden }: Search, alias: string): Fragment | null {
  if (hidden === 'all') return null
  const parts = hidden.map((folder) => inFolder(`${alias}.n`, folder))
  return { sql: `(${parts.map(({ sql }) => sql).join(' OR ')})`, values: parts.flatMap(({ values }) => values) }
}
