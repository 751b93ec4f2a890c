// Knex on Node's own SQLite: its better-sqlite3 dialect with the driver exchanged and prepared statements kept.

import { createRequire } from 'node:module'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { Knex } from 'knex'

// Knex publishes its dialects only as CommonJS files.
const BetterSqlite3Client = createRequire(import.meta.url)('knex/lib/dialects/better-sqlite3/index.js') as new (
  config: Knex.Config,
) => Knex.Client

const STATEMENTS_KEPT = 500

interface Connection {
  database: DatabaseSync
  statements: Map<string, { statement: StatementSync; reads: boolean }>
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
  /** Statements run once when the connection opens. */
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
    return { database, statements: new Map() }
  }

  override async destroyRawConnection(connection: Connection): Promise<void> {
    connection.statements.clear()
    connection.database.close()
  }

  async _query(connection: Connection, query: Query): Promise<Query> {
    const prepared = prepare(connection, query.sql)
    const bindings = (query.bindings ?? []).map(sqlValue)
    if (prepared.reads) {
      query.response = prepared.statement.all(...bindings)
      return query
    }
    const result = prepared.statement.run(...bindings)
    query.response = result
    query.context = { lastID: result.lastInsertRowid, changes: result.changes }
    return query
  }
}

function prepare(connection: Connection, sql: string) {
  const known = connection.statements.get(sql)
  if (known) return known
  const statement = connection.database.prepare(sql)
  const prepared = { statement, reads: statement.columns().length > 0 }
  if (connection.statements.size >= STATEMENTS_KEPT) {
    const [oldest] = connection.statements.keys()
    connection.statements.delete(oldest!)
  }
  connection.statements.set(sql, prepared)
  return prepared
}

/** SQLite knows no booleans and no dates. */
export function sqlValue(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Date) return value.getTime()
  if (value === undefined) return null
  return value as SQLInputValue
}
