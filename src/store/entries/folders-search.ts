// Searches that entries of a folder alone answer: flags, sizes and times, in one statement of the scan thread.

import type { DbReads, SqlValue } from '../../db/db.ts'
import type { Fragment } from '../rows/folders.ts'

/** What an entry must be like. Times are ms, `from` inclusive and `until` exclusive. */
export type EntryCondition =
  | { kind: 'all' }
  | { kind: 'every' | 'any'; of: readonly EntryCondition[] }
  | { kind: 'not'; of: EntryCondition }
  /** A bit of `ENTRY_FLAGS`. */
  | { kind: 'flag'; bit: number; isSet: boolean }
  | { kind: 'size'; relation: 'larger' | 'smaller'; bytes: number }
  | { kind: 'time'; of: 'received' | 'filed'; from?: number; until?: number }

/** The UIDs of the entries that match, ascending. */
export async function matchingUids(db: DbReads, folder: number, condition: EntryCondition): Promise<Float64Array> {
  const { sql, values } = conditionSql(condition)
  const { uid } = await db.scan.columns(`SELECT uid FROM message_folders WHERE folder = ? AND ${sql} ORDER BY uid`, [
    folder,
    ...values,
  ])
  return uid ?? new Float64Array(0)
}

function conditionSql(condition: EntryCondition): Fragment {
  switch (condition.kind) {
    case 'all':
      return { sql: '1', values: [] }
    case 'every':
      return joined(condition.of, 'AND', '1')
    case 'any':
      return joined(condition.of, 'OR', '0')
    case 'not': {
      const { sql, values } = conditionSql(condition.of)
      return { sql: `NOT ${sql}`, values }
    }
    case 'flag':
      return { sql: `(flags & ?) ${condition.isSet ? '<>' : '='} 0`, values: [condition.bit] }
    case 'size':
      return { sql: `size_bytes ${condition.relation === 'larger' ? '>' : '<'} ?`, values: [condition.bytes] }
    case 'time':
      return timeSql(condition)
  }
}

function joined(all: readonly EntryCondition[], operator: 'AND' | 'OR', empty: string): Fragment {
  const parts = all.map(conditionSql)
  if (parts.length === 0) return { sql: empty, values: [] }
  return {
    sql: `(${parts.map(({ sql }) => sql).join(` ${operator} `)})`,
    values: parts.flatMap(({ values }) => values),
  }
}

function timeSql({ of, from, until }: Extract<EntryCondition, { kind: 'time' }>): Fragment {
  const column = of === 'received' ? 'received_at' : 'coalesce(filed_at, received_at)'
  const values: SqlValue[] = []
  const sql: string[] = []
  if (from !== undefined) sql.push(`${column} >= ?`) && values.push(from)
  if (until !== undefined) sql.push(`${column} < ?`) && values.push(until)
  return { sql: sql.length === 0 ? '1' : `(${sql.join(' AND ')})`, values }
}
