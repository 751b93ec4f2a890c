// Statements for the changes of a list of messages or threads: the common table expressions that both have, and how their rows are read.

import type { AnyReader } from '../../db/db.ts'
import { countersQuery } from '../rows/accounts.ts'
import type { Fragment } from '../rows/folders.ts'
import type { ListChanges } from '../rows/query-changes.ts'
import type { ChangeType, SortDirection } from '../rows/records.ts'
import type { RowKey } from '../rows/sql.ts'

/** A common table expression. */
export interface NamedTable {
  /** With its columns: `steps(at, n)`. */
  name: string
  content: Fragment
}

/** What the caller may ask of the changes of a list. */
export interface ChangesRange {
  /** Sequence number of the type of the entries at the state. */
  since: number
  /** Maximum number of changed entries. */
  most: number
  /** Positions after this one are left out; null: none. */
  upTo: RowKey | null
}

interface Row {
  id: string | null
  position: number | null
  total: number | null
  seq: number | null
  type_seq: number | null
  changed: number | null
}

// Bounds of all times.
const TIME_ENDS = { desc: Number.MAX_SAFE_INTEGER, asc: Number.MIN_SAFE_INTEGER }

/** @param statement of {@link changesOf} */
export async function readChanges(reader: AnyReader, statement: Fragment, most: number): Promise<ListChanges> {
  const rows = await reader.all<Row>(statement.sql, statement.values)
  const totals = rows.find(({ id }) => id === null)!
  return {
    seq: totals.seq!,
    typeSeq: totals.type_seq!,
    total: totals.total!,
    reported: rows.flatMap(({ id, position }) => (id === null ? [] : [{ id, index: position }])),
    tooMany: totals.changed! > most,
  }
}

/**
 * The whole statement.
 * @param tables those of the list, with `changed(n, id)`, `positions(n, position)` and `reported`
 * @param reported the name of the one with the entries to report, `n` and `id`
 */
export function changesOf(
  account: number,
  type: ChangeType,
  tables: readonly NamedTable[],
  { reported, total }: { reported: string; total: Fragment },
): Fragment {
  const counters = countersQuery(account, type)
  return {
    sql: `${definitionsOf(tables)}
SELECT r.id AS id, positions.position AS position, NULL AS total, NULL AS seq, NULL AS type_seq, NULL AS changed
FROM ${reported} r LEFT JOIN positions ON positions.n = r.n
UNION ALL
SELECT NULL, NULL, ${total.sql}, a.seq, a.type_seq, (SELECT count(*) FROM changed) FROM (${counters.sql}) a`,
    values: [...tables.flatMap(({ content }) => content.values), ...total.values, ...counters.values],
  }
}

export function definitionsOf(tables: readonly NamedTable[]): string {
  return `WITH ${tables.map(({ name, content }) => `${name} AS MATERIALIZED (${content.sql})`).join(',\n')}`
}

/**
 * `positions(n, position)` by counting along an index from each entry to the next.
 * @param found the rows `at`, `n` of the entries
 * @param between the number of entries of the list after (`s.at_before`, `s.n_before`) and before (`s.at`, `s.n`)
 */
export function positionsBySteps(direction: SortDirection, found: Fragment, between: Fragment): NamedTable[] {
  const row = `ORDER BY at ${direction}, n ${direction}`
  return [
    { name: 'found(at, n)', content: found },
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

/** `list(at, n, position)` and `positions(n, position)` of a list that is sorted as a whole. @param list its `list` */
export function positionsInList(list: Fragment, direction: SortDirection, upTo: RowKey | null): NamedTable[] {
  const inRange = upTo === null ? { sql: '1 = 1', values: [] } : notAfter('at', 'n', direction, upTo)
  return [
    { name: 'list(at, n, position)', content: list },
    {
      name: 'positions(n, position)',
      content: { ...inRange, sql: `SELECT n, position FROM list WHERE ${inRange.sql}` },
    },
  ]
}

/** The condition of an entry that is not after another one. */
export function notAfter(at: string, n: string, direction: SortDirection, last: RowKey): Fragment {
  return { sql: `(${at}, ${n}) ${direction === 'desc' ? '>=' : '<='} (?, ?)`, values: [last.at, last.n] }
}

/** The condition of an entry that is between two steps of {@link positionsBySteps}. */
export function betweenSteps({ at, n }: { at: string; n: string }, direction: SortDirection): Fragment {
  const [after, before] = direction === 'desc' ? ['<', '>'] : ['>', '<']
  return {
    sql: `(${at}, ${n}) ${after} (s.at_before, s.n_before) AND (${at}, ${n}) ${before} (s.at, s.n)`,
    values: [],
  }
}
