// Cache of the prepared statements of one connection; returns rows as plain objects.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Columns } from './sql.ts'

const STATEMENTS_KEPT = 500

type MakeRow = (values: readonly unknown[]) => Record<string, unknown>

interface Prepared {
  statement: StatementSync
  /** Makes an object of the values of a row. */
  makeRow: MakeRow
  /** Of the columns. */
  names: readonly string[]
}

/**
 * SQLite's planner looks at a bound LIMIT, and so a statement is prepared again on every execution: 8 µs and more each time. It does not
 * look behind a unary plus.
 */
function unpeeked(sql: string): string {
  return sql.replaceAll('LIMIT ?', 'LIMIT +?')
}

export class Statements {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  all(sql: string, values: readonly SQLInputValue[]): Record<string, unknown>[] {
    const { statement, makeRow } = this.#prepare(sql)
    // Objects made by the driver have no prototype and no stable shape: reading them is slower than building these.
    return (statement.all(...values) as unknown as unknown[][]).map(makeRow)
  }

  /**
   * Rows of numbers by column, see `ScanReader.columns`. As one text for each column: the driver takes three times as long to make an array
   * of each row. SQLite keeps the order of the inner statement for an aggregate that depends on it.
   */
  columns(sql: string, values: readonly SQLInputValue[]): Columns {
    const { names } = this.#prepare(sql)
    const texts = names.map((name) => `json_group_array(${JSON.stringify(name)})`)
    const { statement } = this.#prepare(`SELECT ${texts.join(', ')} FROM (${sql})`)
    const [row] = statement.all(...values) as unknown as [string[]]
    if (row[0] === '[]') return {}
    return Object.fromEntries(names.map((name, at) => [name, numbersIn(row[at]!)]))
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
    const statement = this.#database.prepare(unpeeked(sql))
    statement.setReturnArrays(true)
    const names = statement.columns().map(({ name }) => name)
    const prepared = { statement, makeRow: rowMaker(names), names }
    // FTS5 sets row ids that are not safe integers; the driver would throw on converting them to numbers.
    if (names.length === 0) statement.setReadBigInts(true)
    if (this.#prepared.size >= STATEMENTS_KEPT) {
      const [oldest] = this.#prepared.keys()
      this.#prepared.delete(oldest!)
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

function numbersIn(text: string): Float64Array<ArrayBuffer> {
  const numbers = JSON.parse(text) as (number | null)[]
  return Float64Array.from(text.includes('null') ? numbers.map((one) => one ?? Number.NaN) : (numbers as number[]))
}

/**
 * Compiled for the columns: setting members one by one by a variable name takes ten times as long. The names are those of our
 * own statements, and are written as JSON.
 */
function rowMaker(names: readonly string[]): MakeRow {
  const members = names.map((name, index) => `${JSON.stringify(name)}: row[${index}]`)
  return new Function('row', `return { ${members.join(', ')} }`) as MakeRow
}
