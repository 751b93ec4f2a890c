// Prepared statements of one connection, kept by their text, and their rows as plain objects.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

const STATEMENTS_KEPT = 500

/** A statement that has been prepared; `names` are its columns, none for what only writes. */
interface Prepared {
  statement: StatementSync
  names: readonly string[]
}

export class Statements {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** True when the statement gives rows. */
  reads(sql: string): boolean {
    return this.#prepare(sql).names.length > 0
  }

  all(sql: string, values: readonly SQLInputValue[]): Record<string, unknown>[] {
    const { statement, names } = this.#prepare(sql)
    // The objects the driver makes itself have no prototype and no shape: reading them costs more than making these.
    const rows = statement.all(...values) as unknown as unknown[][]
    return rows.map((row) => {
      const made: Record<string, unknown> = {}
      for (let i = 0; i < names.length; i++) made[names[i]!] = row[i]
      return made
    })
  }

  run(sql: string, values: readonly SQLInputValue[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.#prepare(sql).statement.run(...values)
  }

  clear(): void {
    this.#prepared.clear()
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    const prepared = { statement, names: statement.columns().map(({ name }) => name) }
    // FTS5 leaves row ids of its own behind that are no safe integers; the driver would refuse to tell them as numbers.
    if (prepared.names.length === 0) statement.setReadBigInts(true)
    if (this.#prepared.size >= STATEMENTS_KEPT) {
      const [oldest] = this.#prepared.keys()
      this.#prepared.delete(oldest!)
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}
