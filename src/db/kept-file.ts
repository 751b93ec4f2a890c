// A database that is only read: whether it is whole, which form it has, what is in it.

import { Link } from './link.ts'
import { readPragmas } from './pragmas.ts'
import type { Reader } from './sql.ts'
import { readerOf } from './tx.ts'

export class KeptFile {
  readonly read: Reader
  readonly #link: Link

  constructor(file: string) {
    this.#link = new Link({ filename: file, readOnly: true, pragmas: readPragmas(true) })
    this.read = readerOf(this.#link)
  }

  /** What SQLite finds wrong with the file, its first complaint; undefined when nothing is. Reads all of it. */
  async damage(): Promise<string | undefined> {
    const [row] = await this.read.all<{ integrity_check: string }>('PRAGMA integrity_check(1)')
    return row?.integrity_check === 'ok' ? undefined : (row?.integrity_check ?? 'it is empty')
  }

  /** The same without looking whether indexes fit their tables, which takes a small part of the time. */
  async quickDamage(): Promise<string | undefined> {
    const [row] = await this.read.all<{ quick_check: string }>('PRAGMA quick_check(1)')
    return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'it is empty')
  }

  /** From here on the file is seen as it is now, whoever writes it, until it is closed. */
  async hold(): Promise<void> {
    await this.read.all('BEGIN')
    // BEGIN alone looks at nothing yet.
    await this.read.all('SELECT count(*) FROM sqlite_schema')
  }

  /** Names of its tables: a file of an earlier form has fewer. */
  async tables(): Promise<Set<string>> {
    const rows = await this.read.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return new Set(rows.map(({ name }) => name))
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}
