// Knex dialect for node:sqlite: its better-sqlite3 dialect with another driver and cached prepared statements.

import { createRequire } from 'node:module'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Knex } from 'knex'
import { Statements } from './statements.ts'

// Knex publishes its dialects only as CommonJS modules.
const BetterSqlite3Client = createRequire(import.meta.url)('knex/lib/dialects/better-sqlite3/index.js') as new (
  config: Knex.Config,
) => Knex.Client

interface Connection {
  database: DatabaseSync
  statements: Statements
}

interface Query {
  sql: string
  bindings?: unknown[]
  response?: unknown
  context?: { lastID: number | bigint; changes: number | bigint }
}

/** Options of one connection, given in `connection` of Knex's configuration. */
export interface ConnectionOptions {
  filename: string
  readOnly: boolean
  /** Statements to run when the connection opens. */
  pragmas: string[]
}

export class NodeSqliteClient extends BetterSqlite3Client {
  _driver(): unknown {
    return DatabaseSync
  }

  override async acquireRawConnection(): Promise<Connection> {
    const options = (this as unknown as { connectionSettings: ConnectionOptions }).connectionSettings
    const database = new DatabaseSync(options.filename, { readOnly: options.readOnly, timeout: 0 })
    for (const pragma of options.pragmas) database.exec(pragma)
    return { database, statements: new Statements(database) }
  }

  override async destroyRawConnection(connection: Connection): Promise<void> {
    connection.statements.clear()
    connection.database.close()
  }

  async _query(connection: Connection, query: Query): Promise<Query> {
    const { statements } = connection
    const bindings = (query.bindings ?? []).map(sqlValue)
    if (statements.reads(query.sql)) {
      query.response = statements.all(query.sql, bindings)
      return query
    }
    const result = statements.run(query.sql, bindings)
    query.response = result
    query.context = { lastID: result.lastInsertRowid, changes: result.changes }
    return query
  }
}

/** SQLite has no booleans and no dates. */
export function sqlValue(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Date) return value.getTime()
  if (value === undefined) return null
  return value as SQLInputValue
}
