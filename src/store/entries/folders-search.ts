// Searches that one statement answers: by what the entries of a folder have, and by subjects.

import type { DbReads, SqlValue } from '../../db/db.ts'
import type { Fragment } from '../rows/folders.ts'
import type { UidRange } from '../rows/folders-expunged.ts'
import { hasSubjectText } from './headers.ts'

/** What an entry must be like. Times are ms, `from` inclusive and `until` exclusive. */
export type EntryCondition =
  | { kind: 'all' }
  | { kind: 'every' | 'any'; of: readonly EntryCondition[] }
  | { kind: 'not'; of: EntryCondition }
  /** A bit of `ENTRY_FLAGS`. */
  | { kind: 'flag'; bit: number; isSet: boolean }
  | { kind: 'size'; relation: 'larger' | 'smaller'; bytes: number }
  | { kind: 'time'; of: 'received' | 'filed'; from?: number; until?: number }
  /** A substring of the subject, folded as `HeaderKeys.subjectText` is. */
  | { kind: 'subject'; text: string }

/** What a condition says of the entries of a folder, by ascending UID. */
export interface MatchingUids {
  found: Float64Array<ArrayBuffer>
  /** Entries of messages whose subject is not kept as text. */
  undecided: Float64Array<ArrayBuffer>
}

/** The UIDs that match, of those from `first` to `last`. In the scan thread. */
export async function matchingUids(
  db: DbReads,
  folder: number,
  condition: EntryCondition,
  { first, last }: UidRange,
): Promise<MatchingUids> {
  const { sql, values } = conditionSql(condition)
  // A condition on a text that is not kept is NULL, and what depends on it as well. The sign tells them apart: one column of numbers.
  const { uid = new Float64Array(0) } = await db.scan.columns(
    `SELECT CASE WHEN hit IS NULL THEN -n ELSE n END AS uid
     FROM (SELECT uid AS n, ${sql} AS hit FROM message_folders e WHERE folder = ? AND uid BETWEEN ? AND ?)
     WHERE hit IS NOT 0 ORDER BY n`,
    [...values, folder, first, last],
  )
  if (!uid.some((one) => one < 0)) return { found: uid, undecided: new Float64Array(0) }
  return { found: uid.filter((one) => one > 0), undecided: uid.filter((one) => one < 0).map((one) => -one) }
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
    case 'subject':
      return { sql: hasSubjectText('e.message'), values: [condition.text] }
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
