// Positions in a thread list, and its changes since a state (RFC 8620 §5.6): removed threads, and the positions of added ones.

import type { AnyReader } from '../../db/db.ts'
import { changedSince } from '../rows/changes.ts'
import type { Fragment } from '../rows/folders.ts'
import type { SortDirection } from '../rows/records.ts'
import { every } from '../rows/sql.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import {
  betweenSteps,
  type ChangesRange,
  changesOf,
  definitionsOf,
  type ListChanges,
  type NamedTable,
  notAfter,
  positionsBySteps,
  positionsInList,
  readChanges,
} from './list-changes.ts'
import { allThreads, exactWalks, type ThreadCondition, type ThreadWalk } from './thread-list.ts'

/** A thread list in its order. */
export interface ThreadListOrder {
  search: Search
  condition: ThreadCondition
  direction: SortDirection
}

export interface ThreadChangesQuery extends ThreadListOrder, ChangesRange {}

/**
 * All is read in one statement, because an index is valid only in the state it belongs to. A changed thread is always reported as
 * removed and added: its previous position is unknown. Each change of a message or its folders is recorded as one of its thread.
 */
export function changesOfThreads(reader: AnyReader, query: ThreadChangesQuery): Promise<ListChanges> {
  return readChanges(reader, threadChangesStatement(query), query.most)
}

/** The statement. If an index has the list, positions are counted along it from one changed thread to the next; else the list is sorted. */
function threadChangesStatement(query: ThreadChangesQuery): Fragment {
  const { search, condition, since, most } = query
  const walks = exactWalks(search, condition)
  const changed = changedSince(search.account, 'threads', since, most + 1)
  const tables = positionTables(query, walks, { ...changed, sql: `SELECT n, object FROM (${changed.sql})` })
  const total = walks ? countOn(walks, null) : { sql: '(SELECT count(*) FROM list)', values: [] }
  return changesOf(search.account, 'threads', tables, { reported: 'changed', total })
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

/** `positions(n, position)` by counting along an index from each changed thread to the next. */
function positionsByWalk({ direction, upTo }: PositionQuery, walks: readonly ThreadWalk[]): NamedTable[] {
  const found = walks.map(({ from, where, order: { at, n } }) => {
    const conditions = every([{ sql: `${n} = c.n`, values: [] }, where, upTo && notAfter(at, n, direction, upTo)])
    return {
      sql: `SELECT ${at}, ${n} FROM changed c CROSS JOIN ${from.sql} WHERE ${conditions.sql}`,
      values: [...from.values, ...conditions.values],
    }
  })
  return positionsBySteps(
    direction,
    { sql: found.map(({ sql }) => sql).join('\nUNION ALL '), values: found.flatMap(({ values }) => values) },
    countOn(walks, ({ order }) => betweenSteps(order, direction)),
  )
}

/** `positions(n, position)` by sorting the whole list. */
function positionsBySort({ search, condition, direction, upTo }: PositionQuery): NamedTable[] {
  const all = allThreads(search, condition)
  const list: Fragment = {
    ...all,
    sql: `SELECT at, n, row_number() OVER (ORDER BY at ${direction}, n ${direction}) - 1 FROM (${all.sql})`,
  }
  return positionsInList(list, direction, upTo)
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
