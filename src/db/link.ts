// One connection to one file, held through Knex for as long as the house is open.

import knex, { type Knex } from 'knex'
import { type ConnectionOptions, NodeSqliteClient, sqlValue } from './dialect.ts'
import type { SqlValue } from './sql.ts'

/** What a statement gave: rows of a reading one, counts of a writing one. */
type Response = unknown

export class Link {
  readonly #knex: Knex
  #connection: unknown
  #opening: Promise<unknown> | undefined

  constructor(options: ConnectionOptions) {
    this.#knex = knex({
      client: NodeSqliteClient as unknown as typeof Knex.Client,
      connection: options as unknown as Knex.StaticConnectionConfig,
      useNullAsDefault: true,
      // Errors go to the log, and the values of a statement are mail.
      compileSqlOnError: false,
      pool: { min: 0, max: 1, idleTimeoutMillis: 2 ** 31 - 1 },
      // Knex prints what it throws as well; here only the thrower speaks.
      log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    })
  }

  /**
   * Runs one statement. Knex's builder and its pool are left out of the way: with some thirty statements for each message
   * they cost more than SQLite does.
   */
  async query(sql: string, values: readonly SqlValue[] = []): Promise<Response> {
    this.#connection ??= await this.#open()
    const query = await this.#knex.client.query(this.#connection, { sql, bindings: values.map(sqlValue) })
    return query.response
  }

  // Asked for once, however many wait; after a failure the next one tries again.
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
