// Worker thread for reads: a connection per file, one statement at a time.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { readPragmas } from './pragmas.ts'
import { Statements } from './statements.ts'

export interface ScanTask {
  file: string
  sql: string
  values: SQLInputValue[]
}

const files = new Map<string, Statements>()

function open(file: string): Statements {
  const database = new DatabaseSync(file, { timeout: 0 })
  for (const pragma of readPragmas(false)) database.exec(pragma)
  const statements = new Statements(database)
  files.set(file, statements)
  return statements
}

/** @throws Error whose cause is the result code of SQLite: a thread hands on no other members of an error */
export default function scan({ file, sql, values }: ScanTask): unknown[] {
  try {
    return (files.get(file) ?? open(file)).all(sql, values)
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    throw new Error(message, { cause: errcode })
  }
}
