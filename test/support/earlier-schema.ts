// Takes a database back to an earlier schema: what later migrations added is dropped, what they dropped is created again, empty.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Db, type Reader } from '../../src/db/db.ts'
import { type Migration, migrate } from '../../src/db/migrate.ts'

/** Old name by new one. */
export interface Renames {
  tables?: Readonly<Record<string, string>>
  /** `table.column` with the old name of the table. */
  columns?: Readonly<Record<string, string>>
}

interface SchemaObject {
  type: 'table' | 'index' | 'trigger' | 'view'
  name: string
  table: string
  sql: string
}

/** Objects that were written, by name; those of SQLite and of the search index have no text, or belong to it. */
function objectsOf(reader: Reader): Map<string, SchemaObject> {
  const rows = reader.all<SchemaObject>(
    `SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'message_text%'`,
  )
  return new Map(rows.map((row) => [row.name, row]))
}

/** Names of columns; those of the primary key, which cannot be dropped, are marked. */
function columnsOf(reader: Reader, table: string): string[] {
  const rows = reader.all<{ name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)', [table])
  return rows.map(({ name, pk }) => (pk > 0 ? `${name} (key)` : name))
}

/** The schema that migrations below a number make. */
async function earlierSchema(migrations: readonly Migration[], below: number) {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-schema-'))
  const db = new Db({ file: join(folder, 'earlier.db') })
  await migrate(
    db,
    migrations.filter(({ number }) => number < below),
  )
  const objects = objectsOf(db.read)
  const tables = [...objects.values()].filter(({ type }) => type === 'table')
  const columns = new Map(tables.map(({ name }) => [name, columnsOf(db.read, name)]))
  await db.close()
  await rm(folder, { recursive: true })
  return { objects, columns }
}

/** @param below the first migration that is taken back */
export async function takeBack(db: Db, migrations: readonly Migration[], below: number, renames: Renames = {}) {
  const { objects: wanted, columns } = await earlierSchema(migrations, below)
  await db.write((tx) => {
    for (const [name, former] of Object.entries(renames.tables ?? {})) tx.run(`ALTER TABLE ${name} RENAME TO ${former}`)
    for (const [column, former] of Object.entries(renames.columns ?? {})) {
      const [table, name] = column.split('.')
      tx.run(`ALTER TABLE ${table} RENAME COLUMN ${name} TO ${former}`)
    }
    const drop = (object: SchemaObject) => tx.run(`DROP ${object.type.toUpperCase()} IF EXISTS ${object.name}`)
    const ofType = (...types: SchemaObject['type'][]) =>
      [...objectsOf(tx).values()].filter(({ type }) => types.includes(type))
    // Columns cannot be dropped below indexes and triggers.
    for (const object of ofType('trigger', 'index', 'view')) drop(object)
    for (const table of ofType('table')) {
      const expected = columns.get(table.name)
      const present = columnsOf(tx, table.name)
      const added = present.filter((column) => !expected?.includes(column))
      const isOther =
        expected?.some((column) => !present.includes(column)) || added.some((name) => name.endsWith(' (key)'))
      if (expected === undefined || isOther) drop(table)
      else for (const column of added) tx.run(`ALTER TABLE ${table.name} DROP COLUMN ${column}`)
    }
    const present = objectsOf(tx)
    const missing = [...wanted.values()].filter(({ name }) => !present.has(name))
    const order = ['table', 'index', 'view', 'trigger']
    for (const { sql } of missing.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type))) tx.run(sql)
    tx.run('DELETE FROM migrations WHERE number >= ?', [below])
  })
}
