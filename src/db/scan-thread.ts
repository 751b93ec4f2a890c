// Worker thread for reads: a connection per file, one statement at a time.

import type { SQLInputValue } from 'node:sqlite'
import { transferred } from '../base/thread-pool.ts'
import { threadStatements } from './thread-reader.ts'

export interface ScanTask {
  file: string
  sql: string
  values: SQLInputValue[]
  /** Numbers by column instead of rows: for results of very many rows. */
  asColumns?: true
}

/** @throws Error whose cause is the result code of SQLite: a thread hands on no other members of an error */
export default function scan({ file, sql, values, asColumns }: ScanTask): unknown {
  try {
    const statements = threadStatements(file)
    if (asColumns === undefined) return statements.all(sql, values)
    const columns = statements.columns(sql, values)
    return transferred(
      columns,
      Object.values(columns).map(({ buffer }) => buffer),
    )
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    throw new Error(message, { cause: errcode })
  }
}
