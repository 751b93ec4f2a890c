// Knex client for node:sqlite: opens, closes and queries a connection, with cached prepared statements; it compiles no SQL.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import knex from 'knex'
import { Statements } from './statements.ts'

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

export class NodeSqliteClient extends knex.Client {
  _driver(): unknown {
    return DatabaseSync
  }

  override async acquireRawConnection(): Promise<Connection> {
    const options = this.connectionSettings as ConnectionOptions
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

// Knex's constructor reads both, before the fields of a subclass exist.
Object.assign(NodeSqliteClient.prototype, { dialect: 'sqlite3', driverName: 'node:sqlite' })

/** SQLite has no booleans and no dates. */
export function sqlValue(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Date) return value.getTime()
  if (value === undefined) return null
  return value as SQLInputValue
}
