// One connection to a database file, with its prepared statements.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { SqlValue } from './sql.ts'
import { Statements } from './statements.ts'

export interface ConnectionOptions {
  filename: string
  readOnly: boolean
  /** Statements to run when the connection opens. */
  pragmas: readonly string[]
}

export class DatabaseConnection {
  readonly #options: ConnectionOptions
  #database: DatabaseSync | undefined
  #statements: Statements | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** @returns the rows of a statement; none for one that returns no rows */
  all<R>(sql: string, values: readonly SqlValue[] = []): R[] {
    const statements = this.#statements ?? this.#open()
    try {
      return statements.all(sql, values.map(sqlValue)) as R[]
    } catch (error) {
      throw named(error, sql)
    }
  }

  run(sql: string, values: readonly SqlValue[] = []): { changes: number; lastId: number } {
    const statements = this.#statements ?? this.#open()
    try {
      const result = statements.run(sql, values.map(sqlValue))
      return { changes: Number(result.changes), lastId: Number(result.lastInsertRowid) }
    } catch (error) {
      throw named(error, sql)
    }
  }

  close(): void {
    this.#statements?.clear()
    this.#database?.close()
    this.#statements = undefined
    this.#database = undefined
  }

  /** Opens the file with the first statement; after a failure the next one tries again. */
  #open(): Statements {
    const { filename, readOnly, pragmas } = this.#options
    const database = new DatabaseSync(filename, { readOnly, timeout: 0 })
    try {
      for (const pragma of pragmas) database.exec(pragma)
    } catch (error) {
      database.close()
      throw error
    }
    this.#database = database
    this.#statements = new Statements(database)
    return this.#statements
  }
}

/** Adds the statement to the message of an error, without its values: they may be content of messages. */
function named(error: unknown, sql: string): unknown {
  const failed = error as Error
  failed.message = `${sql} - ${failed.message}`
  return failed
}

/** SQLite has no booleans. */
export function sqlValue(value: SqlValue): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value === undefined ? null : value
}
