// Changes of a message list since a state (RFC 8620 §5.6): removed messages, and the positions of added ones.

import type { AnyReader } from '../../db/db.ts'
import { countersQuery } from '../accounts.ts'
import { numberRange } from '../accounts-numbers.ts'
import { changedSince } from '../changes.ts'
import type { Fragment } from '../folders.ts'
import type { ListChanges } from '../query-changes.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { every, type RowKey } from '../search/sql.ts'
import { isFirstOfThread, type MessageOrder, SORT_KEY } from './list.ts'
import { matchesFilters, matchesRemainingFilters, type Walk, walksOf } from './walk.ts'

export interface ListChangesQuery {
  search: Search
  order: MessageOrder
  /** Sequence number of the messages at the state. */
  since: number
  /** Maximum number of changed messages. */
  most: number
  /** Positions after this one are left out; null: none. */
  upTo: RowKey | null
}

interface Row {
  id: string | null
  position: number | null
  total: number | null
  seq: number | null
  messages_seq: number | null
  changed: number | null
}

/** A common table expression. */
interface Table {
  name: string
  content: Fragment
}

// Bounds of all times of receipt.
const TIME_ENDS = { desc: Number.MAX_SAFE_INTEGER, asc: Number.MIN_SAFE_INTEGER }

/**
 * Everything is read in one statement, because an index is valid only in the state it belongs to. A changed message is always reported
 * as removed and added: its previous position is unknown. This is also correct for a client whose list is newer than its state.
 */
export async function changesOfList(reader: AnyReader, query: ListChangesQuery): Promise<ListChanges> {
  const { sql, values } = changesStatement(query)
  const rows = await reader.all<Row>(sql, values)
  const totals = rows.find(({ id }) => id === null)!
  return {
    seq: totals.seq!,
    typeSeq: totals.messages_seq!,
    total: totals.total!,
    reported: rows.flatMap(({ id, position }) => (id === null ? [] : [{ id, index: position }])),
    tooMany: totals.changed! > query.most,
  }
}

/** The statement. If an index has the order of the list, positions are counted along it up to the last reported message; else the whole list is sorted. */
export function changesStatement(query: ListChangesQuery): Fragment {
  const { search, order } = query
  const walks = search.text === null && order.sort === 'received_at' && !search.never
  const tables = [...changedTables(query), ...(walks ? tablesByWalk(query) : tablesBySort(query))]
  const total = walks ? countOnWalks(search, order, null) : { sql: '(SELECT count(*) FROM list)', values: [] }
  const counters = countersQuery(search.account, 'messages')
  const definitions = tables.map(({ name, content }) => `${name} AS MATERIALIZED (${content.sql})`)
  return {
    sql: `WITH ${definitions.join(',\n')}
SELECT reported.id AS id, positions.position AS position, NULL AS total, NULL AS seq, NULL AS messages_seq, NULL AS changed
FROM reported LEFT JOIN positions ON positions.n = reported.n
UNION ALL
SELECT NULL, NULL, ${total.sql}, a.seq, a.type_seq, (SELECT count(*) FROM changed) FROM (${counters.sql}) a`,
    values: [...tables.flatMap(({ content }) => content.values), ...total.values, ...counters.values],
  }
}

/** `reported(n, id)`: the changed messages, and for changed threads also the message that may have represented the thread before. */
function changedTables({ search, order, since, most }: ListChangesQuery): Table[] {
  const { account, text } = search
  const changed = changedSince(account, 'messages', since, most + 1)
  const tables: Table[] = [
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
function tablesByWalk({ search, order, upTo }: ListChangesQuery): Table[] {
  const { direction } = order
  const conditions = every([
    { sql: 'm.n = reported.n', values: [] },
    matchesFilters(search, 'm'),
    order.collapseThreads ? isFirstOfThread(search, order, () => null) : null,
    upTo && notAfter('m.received_at', 'm.n', order, upTo),
  ])
  const row = `ORDER BY at ${direction}, n ${direction}`
  const between = countOnWalks(search, order, (walk) => betweenSteps(walk, order))
  return [
    {
      name: 'found(at, n)',
      content: {
        sql: `SELECT m.received_at, m.n FROM reported CROSS JOIN messages m WHERE ${conditions.sql}`,
        values: conditions.values,
      },
    },
    {
      name: 'steps(at, n, at_before, n_before)',
      content: {
        sql: `SELECT at, n, coalesce(lag(at) OVER (${row}), ?), coalesce(lag(n) OVER (${row}), 0) FROM found`,
        values: [TIME_ENDS[direction]],
      },
    },
    {
      name: 'counted(at, n, passed)',
      content: { sql: `SELECT s.at, s.n, ${between.sql} FROM steps s`, values: between.values },
    },
    {
      name: 'positions(n, position)',
      content: {
        sql: `SELECT n, sum(passed) OVER (${row}) + row_number() OVER (${row}) - 1 FROM counted`,
        values: [],
      },
    },
  ]
}

/** `positions(n, position)` by sorting the whole list. */
function tablesBySort({ search, order, upTo }: ListChangesQuery): Table[] {
  const key = SORT_KEY[order.sort]('m')
  const { low, high } = numberRange(search.account)
  const conditions = every([
    search.never ? { sql: '1 = 0', values: [] } : null,
    search.text === null ? { sql: 'm.n BETWEEN ? AND ?', values: [low, high] } : { sql: 'm.n = hits.n', values: [] },
    matchesFilters(search, 'm'),
    order.collapseThreads ? isFirstOfThread(search, order, isHit(search)) : null,
  ])
  const from = search.text === null ? 'messages m' : 'hits CROSS JOIN messages m'
  const inRange = upTo === null ? { sql: '1 = 1', values: [] } : notAfter('at', 'n', order, upTo)
  return [
    {
      name: 'list(at, n, position)',
      content: {
        sql: `SELECT ${key}, m.n, row_number() OVER (ORDER BY ${key} ${order.direction}, m.n ${order.direction}) - 1
FROM ${from} WHERE ${conditions.sql}`,
        values: conditions.values,
      },
    },
    {
      name: 'positions(n, position)',
      content: { ...inRange, sql: `SELECT n, position FROM list WHERE ${inRange.sql}` },
    },
  ]
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

function betweenSteps({ order: { at, n } }: Walk, { direction }: MessageOrder): Fragment {
  const [after, before] = direction === 'desc' ? ['<', '>'] : ['>', '<']
  return {
    sql: `(${at}, ${n}) ${after} (s.at_before, s.n_before) AND (${at}, ${n}) ${before} (s.at, s.n)`,
    values: [],
  }
}

function notAfter(at: string, n: string, { direction }: MessageOrder, last: RowKey): Fragment {
  return { sql: `(${at}, ${n}) ${direction === 'desc' ? '>=' : '<='} (?, ?)`, values: [last.at, last.n] }
}

function isHit({ text }: Search): (column: string) => Fragment | null {
  return (column) => (text === null ? null : { sql: `${column} IN (SELECT n FROM hits)`, values: [] })
}
