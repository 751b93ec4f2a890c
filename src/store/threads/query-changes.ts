// Positions in a thread list, and its changes since a state (RFC 8620 §5.6): removed threads, and the positions of added ones.

import type { AnyReader } from '../../db/db.ts'
import { countersQuery } from '../accounts.ts'
import { changedSince } from '../changes.ts'
import type { Fragment } from '../folders.ts'
import type { ListChanges } from '../query-changes.ts'
import type { SortDirection } from '../records.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { every, type RowKey } from '../search/sql.ts'
import { allThreads, exactWalks, type ThreadCondition, type ThreadWalk } from './list.ts'

/** A thread list in its order. */
export interface ThreadListOrder {
  search: Search
  condition: ThreadCondition
  direction: SortDirection
}

export interface ThreadChangesQuery extends ThreadListOrder {
  /** Sequence number of the threads at the state. */
  since: number
  /** Maximum number of changed threads. */
  most: number
  /** Positions after this one are left out; null: none. */
  upTo: RowKey | null
}

interface ChangeRow {
  id: string | null
  position: number | null
  total: number | null
  seq: number | null
  threads_seq: number | null
  changed: number | null
}

interface NamedTable {
  name: string
  content: Fragment
}

// Bounds of all times.
const TIME_ENDS = { desc: Number.MAX_SAFE_INTEGER, asc: Number.MIN_SAFE_INTEGER }

/**
 * All is read in one statement, because an index is valid only in the state it belongs to. A changed thread is always reported as
 * removed and added: its previous position is unknown. Each change of a message or its folders is recorded as one of its thread.
 */
export async function changesOfThreads(reader: AnyReader, query: ThreadChangesQuery): Promise<ListChanges> {
  const { sql, values } = threadChangesStatement(query)
  const rows = await reader.all<ChangeRow>(sql, values)
  const totals = rows.find(({ id }) => id === null)!
  return {
    seq: totals.seq!,
    typeSeq: totals.threads_seq!,
    total: totals.total!,
    reported: rows.flatMap(({ id, position }) => (id === null ? [] : [{ id, index: position }])),
    tooMany: totals.changed! > query.most,
  }
}

/** The statement. If an index has the list, positions are counted along it from one changed thread to the next; else the list is sorted. */
export function threadChangesStatement(query: ThreadChangesQuery): Fragment {
  const { search, condition, since, most } = query
  const walks = exactWalks(search, condition)
  const changed = changedSince(search.account, 'threads', since, most + 1)
  const tables = positionTables(query, walks, { ...changed, sql: `SELECT n, object FROM (${changed.sql})` })
  const total = walks ? countOn(walks, null) : { sql: '(SELECT count(*) FROM list)', values: [] }
  const counters = countersQuery(search.account, 'threads')
  return {
    sql: `${definitionsOf(tables)}
SELECT changed.id AS id, positions.position AS position, NULL AS total, NULL AS seq, NULL AS threads_seq, NULL AS changed
FROM changed LEFT JOIN positions ON positions.n = changed.n
UNION ALL
SELECT NULL, NULL, ${total.sql}, a.seq, a.type_seq, (SELECT count(*) FROM changed) FROM (${counters.sql}) a`,
    values: [...tables.flatMap(({ content }) => content.values), ...total.values, ...counters.values],
  }
}

/** Number of threads of a list before a thread; null if the list does not have it. @param id `thr_…` */
export async function indexOfThread(reader: AnyReader, list: ThreadListOrder, id: string): Promise<number | null> {
  const { search, condition } = list
  const anchor = { sql: 'SELECT n, id FROM threads WHERE id = ? AND account = ?', values: [id, search.account] }
  const tables = positionTables({ ...list, upTo: null }, exactWalks(search, condition), anchor)
  const row = await reader.get<{ position: number }>(
    `${definitionsOf(tables)}\nSELECT position FROM positions WHERE n = (SELECT n FROM changed)`,
    tables.flatMap(({ content }) => content.values),
  )
  return row?.position ?? null
}

type PositionQuery = Pick<ThreadChangesQuery, 'search' | 'condition' | 'direction' | 'upTo'>

/** `changed(n, id)`, and `positions(n, position)` of at least these threads. */
function positionTables(query: PositionQuery, walks: ThreadWalk[] | null, changed: Fragment): NamedTable[] {
  const { text } = query.search
  return [
    { name: 'changed(n, id)', content: changed },
    ...(text ? [{ name: 'hits(n)', content: matching(text) }] : []),
    ...(walks ? positionsByWalk(query, walks) : positionsBySort(query)),
  ]
}

function definitionsOf(tables: readonly NamedTable[]): string {
  return `WITH ${tables.map(({ name, content }) => `${name} AS MATERIALIZED (${content.sql})`).join(',\n')}`
}

/** `positions(n, position)` by counting along an index from each changed thread to the next. */
function positionsByWalk({ direction, upTo }: PositionQuery, walks: readonly ThreadWalk[]): NamedTable[] {
  const found = walks.map(({ from, where, order: { at, n } }) => {
    const conditions = every([{ sql: `${n} = c.n`, values: [] }, where, upTo && notAfter(at, n, direction, upTo)])
    return {
      sql: `SELECT ${at}, ${n} FROM changed c CROSS JOIN ${from.sql} WHERE ${conditions.sql}`,
      values: [...from.values, ...conditions.values],
    }
  })
  const row = `ORDER BY at ${direction}, n ${direction}`
  const [after, before] = direction === 'desc' ? ['<', '>'] : ['>', '<']
  const between = countOn(walks, ({ order: { at, n } }) => ({
    sql: `(${at}, ${n}) ${after} (s.at_before, s.n_before) AND (${at}, ${n}) ${before} (s.at, s.n)`,
    values: [],
  }))
  return [
    {
      name: 'found(at, n)',
      content: { sql: found.map(({ sql }) => sql).join('\nUNION ALL '), values: found.flatMap(({ values }) => values) },
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
function positionsBySort({ search, condition, direction, upTo }: PositionQuery): NamedTable[] {
  const all = allThreads(search, condition)
  const inRange = upTo === null ? { sql: '1 = 1', values: [] } : notAfter('at', 'n', direction, upTo)
  return [
    {
      name: 'list(at, n, position)',
      content: {
        ...all,
        sql: `SELECT at, n, row_number() OVER (ORDER BY at ${direction}, n ${direction}) - 1 FROM (${all.sql})`,
      },
    },
    {
      name: 'positions(n, position)',
      content: { ...inRange, sql: `SELECT n, position FROM list WHERE ${inRange.sql}` },
    },
  ]
}

/** Counts the threads on the walks. @param part restricts each walk to a range; null: no restriction */
function countOn(walks: readonly ThreadWalk[], part: ((walk: ThreadWalk) => Fragment) | null): Fragment {
  const counts = walks.map((walk) => {
    const conditions = every([walk.where, part?.(walk)])
    return {
      sql: `(SELECT count(*) FROM ${walk.from.sql} WHERE ${conditions.sql})`,
      values: [...walk.from.values, ...conditions.values],
    }
  })
  return { sql: counts.map(({ sql }) => sql).join(' + '), values: counts.flatMap(({ values }) => values) }
}

function notAfter(at: string, n: string, direction: SortDirection, last: RowKey): Fragment {
  return { sql: `(${at}, ${n}) ${direction === 'desc' ? '>=' : '<='} (?, ?)`, values: [last.at, last.n] }
}
