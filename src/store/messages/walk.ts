// The ways messages of a search can be walked, and what is asked of each on the way.

import { type Fragment, folderMessages, inFolder } from '../folders.ts'
import type { SortDirection } from '../records.ts'
import type { Hits } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { every, type OrderColumns } from '../search/sql.ts'

/** A FROM with the conditions that belong to it; the rows have the alias `m` and come in the order of `order`. */
export interface Walk {
  from: Fragment
  where: Fragment
  order: OrderColumns
  /** The same rows without `m`, in a FROM alone, where nothing of a message itself is asked for. */
  bare: Fragment | null
}

/** Messages among which a page should be full for a walk to be worth it at first glance; more where a match costs the index more. */
const CROWD = 1500
const CROWD_OF_PHRASES = 20_000
const IN_ROW: OrderColumns = { at: 'm.received_at', n: 'm.n' }

/** Every message of the search, text aside, is met by exactly one of the walks. */
export function walksOf(search: Search): Walk[] {
  const { path, account } = search
  const messages: Fragment = { sql: 'messages m', values: [] }
  const one = (sql: string, values: Fragment['values']): Walk[] => [
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
      return one('m.thread = ?', [path.n])
    case 'unread':
      return one('m.account = ? AND m.seen = 0', [account])
    case 'flagged':
      return one('m.account = ? AND m.flagged = 1', [account])
    case 'attachment':
      return one('m.account = ? AND m.has_attachments = 1', [account])
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

/** Which rows of an index over `listed` a search looks at. */
export function listedValues({ hidden }: Search): number[] {
  return hidden === 'all' || hidden.length > 0 ? [1, 0] : [1]
}

/** Everything asked of a message but its text. */
export function meets(search: Search, alias: string): Fragment {
  return every([
    visible(search, alias),
    search.onPath?.(alias),
    receivedBounds(search, `${alias}.received_at`),
    search.others?.(alias),
  ])
}

/** What a walk still has to ask: not what its FROM says already. */
export function meetsOnWalk(search: Search, at: string): Fragment {
  return every([receivedBounds(search, at), search.others?.('m')])
}

/** Messages of `hits`, which must hold all that match: for FROM and WHERE. */
export function gathered(search: Search): { from: Fragment; where: Fragment } {
  return {
    from: { sql: 'hits h CROSS JOIN messages m', values: [] },
    where: every([{ sql: 'm.n = h.n', values: [] }, meets(search, 'm')]),
  }
}

/** True for a number that matches. */
export function holds(hits: Hits, column: string): Fragment {
  const fetched = hits.isFetched(column)
  return hits.isBeyond ? either(fetched, hits.isBeyond(column)) : fetched
}

/** True for a thread (`column` names its number) one of whose messages meets everything, text included. */
export function hasMessage(search: Search, hits: Hits | null, column: string): Fragment {
  const exists = (matches: Fragment | null) => {
    const asked = every([{ sql: `m.thread = ${column}`, values: [] }, meets(search, 'm'), matches])
    return { sql: `EXISTS (SELECT 1 FROM messages m WHERE ${asked.sql})`, values: asked.values }
  }
  if (!hits?.isBeyond) return exists(hits?.isFetched('m.n') ?? null)
  // All messages of a thread are looked for among those fetched before the index is asked for one that was not.
  return either(exists(hits.isFetched('m.n')), exists(hits.isBeyond('m.n')))
}

function either(first: Fragment, second: Fragment): Fragment {
  return { sql: `(${first.sql} OR ${second.sql})`, values: [...first.values, ...second.values] }
}

/**
 * True (asked once in a statement) when the matches in `near` lie within the first messages of the list, CROWD or so many.
 * @param start received_at (ms) where the page starts, null for the end of the list
 */
export function isCrowded({ account, text }: Search, direction: SortDirection, start: number | null): Fragment {
  const down = direction === 'desc'
  const from = start === null ? null : { sql: `received_at ${down ? '<=' : '>='} ?`, values: [start] }
  const asked = every([{ sql: 'account = ? AND listed = 1', values: [account] }, from])
  const last = `SELECT n FROM messages WHERE ${asked.sql} ORDER BY received_at ${direction}, n ${direction} LIMIT 1 OFFSET ?`
  const sql = down
    ? `(SELECT low FROM near_edge) >= coalesce((${last}), 0)`
    : `(SELECT high FROM near_edge) <= coalesce((${last}), (SELECT high FROM near_edge))`
  return { sql, values: [...asked.values, text?.kind === 'phrase' ? CROWD_OF_PHRASES : CROWD] }
}

/** True for times (`column`) as far as `near` reaches. */
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

// The plus keeps SQLite from an index that starts with `listed` and serves another order.
function visible(search: Search, alias: string): Fragment | null {
  const { hidden } = search
  if (hidden === 'all') return null
  if (hidden.length === 0) return { sql: `+${alias}.listed = 1`, values: [] }
  const named = inHidden(search, alias)!
  return { sql: `(${alias}.listed = 1 OR ${named.sql})`, values: named.values }
}

/** In one of the hidden folders that are named; null when all of them are. */
function inHidden({ hidden }: Search, alias: string): Fragment | null {
  if (hidden === 'all') return null
  const parts = hidden.map((folder) => inFolder(`${alias}.n`, folder))
  return { sql: `(${parts.map(({ sql }) => sql).join(' OR ')})`, values: parts.flatMap(({ values }) => values) }
}
