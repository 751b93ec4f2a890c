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

export default function scan({ file, sql, values }: ScanTask): unknown[] {
  return (files.get(file) ?? open(file)).all(sql, values)
}
