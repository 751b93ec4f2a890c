// A reading thread: its own read-only view of the file, one statement at a time.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { workerData } from 'piscina'
import { Statements } from './statements.ts'

export interface ScanTask {
  sql: string
  values: SQLInputValue[]
}

const { file, pragmas } = workerData as unknown as { file: string; pragmas: string[] }
const database = new DatabaseSync(file, { timeout: 0 })
for (const pragma of pragmas) database.exec(pragma)

const statements = new Statements(database)

export default function scan({ sql, values }: ScanTask): unknown[] {
  return statements.all(sql, values)
}
