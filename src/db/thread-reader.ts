// Reads of worker threads: one connection per file and thread that only reads.

import { DatabaseSync } from 'node:sqlite'
import { sqlValue } from './connection.ts'
import { readPragmas } from './pragmas.ts'
import { type DbReads, type Reader, type SqlValue, scanHere } from './sql.ts'
import { Statements } from './statements.ts'

const files = new Map<string, Statements>()

/** The statements of this thread on a file. */
export function threadStatements(file: string): Statements {
  const known = files.get(file)
  if (known !== undefined) return known
  const database = new DatabaseSync(file, { timeout: 0 })
  for (const pragma of readPragmas(false)) database.exec(pragma)
  const statements = new Statements(database)
  files.set(file, statements)
  return statements
}

/** What a worker thread has in place of a `Db`: both members read in this thread. */
export function threadReads(file: string): DbReads {
  const statements = threadStatements(file)
  const all = <R>(sql: string, values: readonly SqlValue[] = []) => statements.all(sql, values.map(sqlValue)) as R[]
  const read: Reader = { all, get: <R>(sql: string, values?: readonly SqlValue[]) => all<R>(sql, values)[0] }
  const columns = async (sql: string, values: readonly SqlValue[] = []) => statements.columns(sql, values.map(sqlValue))
  return { read, scan: { ...scanHere(read), columns } }
}
