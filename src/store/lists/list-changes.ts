// Changes of lists of messages and threads since a state (RFC 8620 §5.6): options, statements and rows that both kinds share.

import { conflict, ProductError } from '../../base/errors.ts'
import type { AnyReader, Reader } from '../../db/db.ts'
import { type Accounts, countersQuery, writeState } from '../rows/accounts.ts'
import { stateTooOld } from '../rows/changes.ts'
import { floorOf } from '../rows/changes-history.ts'
import type { Fragment } from '../rows/folders.ts'
import type { Account, ChangeType, SortDirection } from '../rows/records.ts'
import type { RowKey } from '../rows/sql.ts'

/** Changes of a list since a state: remove, then insert in this order. */
export interface QueryChanges {
  newState: string
  /** Entries in the list now. */
  total: number
  /** Public ids; may contain ids that were not in the list. */
  removed: string[]
  /** In ascending order of index. */
  added: { id: string; index: number }[]
}

/** Changes of a list as one statement reads them. */
export interface ListChanges {
  /** Sequence number of the account, and of the type of the entries. */
  seq: number
  typeSeq: number
  /** Entries in the list now. */
  total: number
  /** The changed entries with their current index; null if not in the list, or after the last one the client has. */
  reported: { id: string; index: number | null }[]
  /** True if more entries changed than allowed. */
  tooMany: boolean
}

interface ChangesRequest {
  accounts: Accounts
  account: Account
  type: 'messages' | 'threads'
  reader: Reader
  /** Sequence number of the type at the state. */
  since: number
}

/** Attempts to read a list and the names in its filter in the same state while other clients change the mailbox. */
const ATTEMPTS_MAX = 10

/**
 * Reads the changes until the account did not change between the names in the filter and the list.
 * @throws ProductError conflict if the state is unknown or too old, or more entries changed; service_unavailable
 */
export async function steadyChanges(
  { accounts, account, type, reader, since }: ChangesRequest,
  read: () => Promise<ListChanges>,
): Promise<QueryChanges> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const seq = accounts.seq(account)
    const list = await read()
    // The account changed after the names in the filter were resolved.
    if (list.seq !== seq) continue
    // Checked after the list is read: changes pruned in the meantime are missing in it.
    const isPruned = since < floorOf(reader, account.n, type)
    if (since > list.typeSeq || list.tooMany || isPruned) throw stateTooOld('since_query_state')
    const added = list.reported.flatMap(({ id, index }) => (index === null ? [] : [{ id, index }]))
    return {
      newState: writeState(type, list.typeSeq),
      total: list.total,
      removed: list.reported.map(({ id }) => id),
      added: added.sort((a, b) => a.index - b.index),
    }
  }
  throw new ProductError('service_unavailable', 'The mailbox is changing too quickly. Try again.', { retryAfter: 1 })
}

/** The error for a list whose entries change with the time alone. */
export function dependsOnTime(): ProductError {
  return conflict('This list depends on the current time; fetch it again', 'since_query_state')
}

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
