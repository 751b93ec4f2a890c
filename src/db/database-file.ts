// A database file opened for reading only: integrity checks, schema version, tables.

import { DatabaseConnection } from './connection.ts'
import { readPragmas } from './pragmas.ts'
import type { Reader } from './sql.ts'
import { readerOf } from './tx.ts'

export class DatabaseFile {
  readonly read: Reader
  readonly #link: DatabaseConnection

  constructor(file: string) {
    this.#link = new DatabaseConnection({ filename: file, readOnly: true, pragmas: readPragmas(true) })
    this.read = readerOf(this.#link)
  }

  /** The first problem of SQLite's integrity check; undefined when there is none. Reads the whole file. */
  async damage(): Promise<string | undefined> {
    const [row] = await this.read.all<{ integrity_check: string }>('PRAGMA integrity_check(1)')
    return row?.integrity_check === 'ok' ? undefined : (row?.integrity_check ?? 'it is empty')
  }

  /** The same without comparing indexes with their tables, which is much faster. */
  async quickDamage(): Promise<string | undefined> {
    const [row] = await this.read.all<{ quick_check: string }>('PRAGMA quick_check(1)')
    return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'it is empty')
  }

  /** Starts a read transaction: reads see the current snapshot until the file is closed. */
  async hold(): Promise<void> {
    await this.read.all('BEGIN')
    // BEGIN alone takes no snapshot.
    await this.read.all('SELECT count(*) FROM sqlite_schema')
  }

  /** Names of its tables: a file of an earlier schema version has fewer. */
  async tables(): Promise<Set<string>> {
    const rows = await this.read.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return new Set(rows.map(({ name }) => name))
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}
