// One connection to a database file, held through Knex until it is closed.

import knex, { type Knex } from 'knex'
import { type ConnectionOptions, NodeSqliteClient, sqlValue } from './dialect.ts'
import type { SqlValue } from './sql.ts'

/** The result of a statement: rows when it reads, counts when it writes. */
type Response = unknown

export class DatabaseConnection {
  readonly #knex: Knex
  #connection: unknown
  #opening: Promise<unknown> | undefined

  constructor(options: ConnectionOptions) {
    this.#knex = knex({
      client: NodeSqliteClient as unknown as typeof Knex.Client,
      connection: options as unknown as Knex.StaticConnectionConfig,
      useNullAsDefault: true,
      // Errors are logged, and the values of a statement may be content of messages.
      compileSqlOnError: false,
      pool: { min: 0, max: 1, idleTimeoutMillis: 2 ** 31 - 1 },
      // Knex logs the errors it throws; the caller does that here.
      log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    })
  }

  /**
   * Runs one statement. Knex's query builder and pool are bypassed: with about thirty statements per message
   * they cost more than SQLite does.
   */
  async query(sql: string, values: readonly SqlValue[] = []): Promise<Response> {
    this.#connection ??= await this.#open()
    const query = await this.#knex.client.query(this.#connection, { sql, bindings: values.map(sqlValue) })
    return query.response
  }

  // Opened once for all waiting callers; after a failure the next call tries again.
  #open(): Promise<unknown> {
    this.#opening ??= this.#knex.client.acquireConnection().finally(() => {
      this.#opening = undefined
    })
    return this.#opening!
  }

  async close(): Promise<void> {
    if (this.#connection !== undefined) await this.#knex.client.releaseConnection(this.#connection)
    await this.#knex.destroy()
  }
}
