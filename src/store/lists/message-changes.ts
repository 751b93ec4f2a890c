// Changes of a message list since a state (RFC 8620 §5.6): removed messages, and the positions of added ones.

import type { AnyReader } from '../../db/db.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import { changedSince } from '../rows/changes.ts'
import type { Fragment } from '../rows/folders.ts'
import { every } from '../rows/sql.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import {
  betweenSteps,
  type ChangesRange,
  changesOf,
  type ListChanges,
  type NamedTable,
  notAfter,
  positionsBySteps,
  positionsInList,
  readChanges,
} from './list-changes.ts'
import { isFirstOfThread, type MessageOrder, SORT_KEY } from './message-list.ts'
import { matchesFilters, matchesRemainingFilters, type Walk, walksOf } from './walk.ts'

export interface ListChangesQuery extends ChangesRange {
  search: Search
  order: MessageOrder
}

/**
 * Everything is read in one statement, because an index is valid only in the state it belongs to. A changed message is always reported
 * as removed and added: its previous position is unknown. This is also correct for a client whose list is newer than its state.
 */
export function changesOfList(reader: AnyReader, query: ListChangesQuery): Promise<ListChanges> {
  return readChanges(reader, changesStatement(query), query.most)
}

/** The statement. If an index has the order of the list, positions are counted along it up to the last reported message; else the whole list is sorted. */
export function changesStatement(query: ListChangesQuery): Fragment {
  const { search, order } = query
  const walks = search.text === null && order.sort === 'received_at' && !search.never
  const tables = [...changedTables(query), ...(walks ? tablesByWalk(query) : tablesBySort(query))]
  const total = walks ? countOnWalks(search, order, null) : { sql: '(SELECT count(*) FROM list)', values: [] }
  return changesOf(search.account, 'messages', tables, { reported: 'reported', total })
}

/** `reported(n, id)`: the changed messages, and for changed threads also the message that may have represented the thread before. */
function changedTables({ search, order, since, most }: ListChangesQuery): NamedTable[] {
  const { account, text } = search
  const changed = changedSince(account, 'messages', since, most + 1)
  const tables: NamedTable[] = [
    { name: 'changed(n, id)', content: { ...changed, sql: `SELECT n, object FROM (${changed.sql})` } },
  ]
  if (text !== null) tables.push({ name: 'hits(n)', content: matching(text) })
  if (!order.collapseThreads || search.never) {
    return [...tables, { name: 'reported(n, id)', content: { sql: 'SELECT n, id FROM changed', values: [] } }]
  }
  // An unchanged message matched before as it does now, so that only the first of them can have represented its thread.
  const untouched = (column: string) =>
    every([{ sql: `${column} NOT IN (SELECT n FROM changed)`, values: [] }, isHit(search)(column)])
  const threads = changedSince(account, 'threads', since, most + 1)
  const conditions = every([
    // The number of a deleted thread can be in use by another account. The plus makes SQLite use the index on threads.
    { sql: 'm.thread = t.n AND +m.account = ?', values: [account] },
    matchesFilters(search, 'm'),
    untouched('m.n'),
    isFirstOfThread(search, order, untouched),
  ])
  return [
    ...tables,
    {
      name: 'reported(n, id)',
      content: {
        sql: `SELECT n, id FROM changed
UNION ALL SELECT m.n, m.id FROM (${threads.sql}) t CROSS JOIN messages m WHERE ${conditions.sql}`,
        values: [...threads.values, ...conditions.values],
      },
    },
  ]
}

/** `positions(n, position)` by counting along an index from each reported message to the next. */
function tablesByWalk({ search, order, upTo }: ListChangesQuery): NamedTable[] {
  const { direction } = order
  const conditions = every([
    { sql: 'm.n = reported.n', values: [] },
    matchesFilters(search, 'm'),
    order.collapseThreads ? isFirstOfThread(search, order, () => null) : null,
    upTo && notAfter('m.received_at', 'm.n', direction, upTo),
  ])
  const found: Fragment = {
    sql: `SELECT m.received_at, m.n FROM reported CROSS JOIN messages m WHERE ${conditions.sql}`,
    values: conditions.values,
  }
  return positionsBySteps(
    direction,
    found,
    countOnWalks(search, order, (walk) => betweenSteps(walk.order, direction)),
  )
}

/** `positions(n, position)` by sorting the whole list. */
function tablesBySort({ search, order, upTo }: ListChangesQuery): NamedTable[] {
  const key = SORT_KEY[order.sort]('m')
  const { low, high } = numberRange(search.account)
  const conditions = every([
    search.never ? { sql: '1 = 0', values: [] } : null,
    search.text === null ? { sql: 'm.n BETWEEN ? AND ?', values: [low, high] } : { sql: 'm.n = hits.n', values: [] },
    matchesFilters(search, 'm'),
    order.collapseThreads ? isFirstOfThread(search, order, isHit(search)) : null,
  ])
  const from = search.text === null ? 'messages m' : 'hits CROSS JOIN messages m'
  const list: Fragment = {
    sql: `SELECT ${key}, m.n, row_number() OVER (ORDER BY ${key} ${order.direction}, m.n ${order.direction}) - 1
FROM ${from} WHERE ${conditions.sql}`,
    values: conditions.values,
  }
  return positionsInList(list, order.direction, upTo)
}

/** Counts the messages on the walks. @param part restricts each walk to a range; null: no restriction */
function countOnWalks(search: Search, order: MessageOrder, part: ((walk: Walk) => Fragment) | null): Fragment {
  const counts = walksOf(search).map((walk) => {
    const isBare = walk.bare !== null && search.others === null && !order.collapseThreads
    const from = isBare ? walk.bare! : walk.from
    const conditions = every([
      isBare ? null : walk.where,
      part?.(walk),
      matchesRemainingFilters(search, walk.order.at),
      order.collapseThreads ? isFirstOfThread(search, order, () => null) : null,
    ])
    return {
      sql: `(SELECT count(*) FROM ${from.sql} WHERE ${conditions.sql})`,
      values: [...from.values, ...conditions.values],
    }
  })
  return { sql: counts.map(({ sql }) => sql).join(' + '), values: counts.flatMap(({ values }) => values) }
}

function isHit({ text }: Search): (column: string) => Fragment | null {
  return (column) => (text === null ? null : { sql: `${column} IN (SELECT n FROM hits)`, values: [] })
}
