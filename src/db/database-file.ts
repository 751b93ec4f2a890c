// A database file opened for reading only: integrity checks, schema version, tables.

import { DatabaseConnection } from './connection.ts'
import { readPragmas } from './pragmas.ts'
import type { Reader } from './sql.ts'
import { readerOf } from './tx.ts'

export class DatabaseFile {
  readonly read: Reader
  readonly #connection: DatabaseConnection

  constructor(file: string) {
    this.#connection = new DatabaseConnection({ filename: file, readOnly: true, pragmas: readPragmas(true) })
    this.read = readerOf(this.#connection)
  }

  /** The first problem of SQLite's integrity check; undefined when there is none. Reads the whole file. */
  damage(): string | undefined {
    const [row] = this.read.all<{ integrity_check: string }>('PRAGMA integrity_check(1)')
    return row?.integrity_check === 'ok' ? undefined : (row?.integrity_check ?? 'it is empty')
  }

  /** The same without comparing indexes with their tables, which is much faster. */
  quickDamage(): string | undefined {
    const [row] = this.read.all<{ quick_check: string }>('PRAGMA quick_check(1)')
    return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'it is empty')
  }

  /** Starts a read transaction: reads see the current snapshot until the file is closed. */
  hold(): void {
    this.read.all('BEGIN')
    // BEGIN alone takes no snapshot.
    this.read.all('SELECT count(*) FROM sqlite_schema')
  }

  /** Names of its tables: a file of an earlier schema version has fewer. */
  tables(): Set<string> {
    const rows = this.read.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return new Set(rows.map(({ name }) => name))
  }

  close(): void {
    this.#connection.close()
  }
}
