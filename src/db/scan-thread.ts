// A reading thread: its own read-only view of the file, one statement at a time.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { workerData } from 'piscina'

export interface ScanTask {
  sql: string
  values: SQLInputValue[]
}

const { file, pragmas } = workerData as unknown as { file: string; pragmas: string[] }
const database = new DatabaseSync(file, { timeout: 0 })
for (const pragma of pragmas) database.exec(pragma)

export default function scan({ sql, values }: ScanTask): unknown[] {
  // Rows come with a null prototype, which the structured clone between threads turns into plain objects.
  return database.prepare(sql).all(...values)
}
