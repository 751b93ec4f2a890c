// The database: reads on the asking thread, scans in threads, writes gathered into one durable transaction.

import { setTimeout as pause } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import { Piscina } from 'piscina'
import { type ConnectionOptions, NodeSqliteClient, sqlValue } from './dialect.ts'
import type { ScanTask } from './scan-thread.ts'

/** What can be bound to a `?` of a statement. */
export type SqlValue = string | number | bigint | boolean | Uint8Array | null | undefined
export type Row = Record<string, SqlValue>

/** Reads rows. Statements are portable SQL with `?` for values; foreign text is only ever bound, never pasted. */
export interface Reader {
  all<R = Row>(sql: string, values?: readonly SqlValue[]): Promise<R[]>
  get<R = Row>(sql: string, values?: readonly SqlValue[]): Promise<R | undefined>
}

declare const insideWrite: unique symbol

/** The handle of one unit of work. It exists only inside `write`; nothing but the database is awaited while it is held. */
export interface Tx extends Reader {
  readonly [insideWrite]: true
  /** @returns how many rows changed, and the integer key of the last row inserted */
  run(sql: string, values?: readonly SqlValue[]): Promise<{ changes: number; lastId: number }>
  /** Inserts one row; undefined members are stored as NULL. @returns its integer key */
  insert(table: string, row: Row): Promise<number>
  /** Runs after the commit that makes this unit durable, never when the unit fails. */
  afterCommit(run: () => void): void
}

export interface DbOptions {
  file: string
  /** Threads for reads that may scan; 0 runs scans on the asking thread. */
  scanThreads: number
}

interface Unit {
  work(tx: Tx): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

// WAL with FULL: a commit is on the disk when it returns (NORMAL forgets acknowledged commits when the power fails).
const WRITE_PRAGMAS = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA cache_size = -32768',
  'PRAGMA journal_size_limit = 67108864',
]
const READ_PRAGMAS = ['PRAGMA query_only = ON', 'PRAGMA cache_size = -16384', 'PRAGMA mmap_size = 268435456']
// More would make the first caller of a batch wait long for its answer; fewer would flush more often.
const BATCH_MAX = 128
const BUSY_WAIT_MS = 2
const BUSY_TRIES = 5000

/** One SQLite file. */
export class Db {
  readonly file: string
  readonly read: Reader
  /** Reads that may look at many rows: run in a thread, so that nothing else waits for them. */
  readonly scan: Reader
  /** Counts for the operator: transactions committed and units in them. */
  readonly counts = { commits: 0, units: 0 }
  readonly #writer: Knex
  readonly #reader: Knex
  readonly #scanners: Piscina | undefined
  readonly #waiting: Unit[] = []
  #draining: Promise<void> | undefined
  #closed = false

  constructor(options: DbOptions) {
    this.file = options.file
    this.#writer = openKnex({ filename: options.file, readOnly: false, pragmas: WRITE_PRAGMAS })
    this.#reader = openKnex({ filename: options.file, readOnly: false, pragmas: READ_PRAGMAS })
    this.read = knexReader(this.#reader)
    this.#scanners = options.scanThreads > 0 ? openScanners(options) : undefined
    this.scan = this.#scanners ? threadReader(this.#scanners) : this.read
  }

  /**
   * Runs `work` inside the next transaction and answers after its commit is durable. A unit that throws is rolled back
   * alone; its neighbours in the same transaction are not touched.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('The database is closed.'))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Waits for what was asked, writes the log back into the file, and closes it. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    await this.#scanners?.close()
    await this.#reader.destroy()
    await this.#writer.raw('PRAGMA wal_checkpoint(TRUNCATE)')
    await this.#writer.destroy()
  }

  async #drain(): Promise<void> {
    // Callers of this turn of the event loop travel together.
    await new Promise(setImmediate)
    try {
      const connection = await this.#writer.client.acquireConnection()
      try {
        while (this.#waiting.length > 0) await this.#batch(connection, this.#waiting.splice(0, BATCH_MAX))
      } finally {
        await this.#writer.client.releaseConnection(connection)
      }
    } catch (error) {
      // The file cannot be opened: whoever waits hears why, and whoever comes later tries again.
      for (const unit of this.#waiting.splice(0)) unit.reject(error)
    } finally {
      this.#draining = this.#waiting.length > 0 ? this.#drain() : undefined
    }
  }

  async #batch(connection: unknown, units: Unit[]): Promise<void> {
    const exec = (sql: string) => this.#writer.raw(sql).connection(connection)
    const done: { unit: Unit; value: unknown; hooks: (() => void)[] }[] = []
    try {
      await begin(exec)
      for (const unit of units) {
        const hooks: (() => void)[] = []
        const handle = openTx(this.#writer, connection, hooks)
        await exec('SAVEPOINT unit')
        try {
          const value = await unit.work(handle.tx)
          await exec('RELEASE unit')
          done.push({ unit, value, hooks })
        } catch (error) {
          // A full disk ends the whole transaction by itself: then the cause, not the missing savepoint, is what callers hear.
          await exec('ROLLBACK TO unit').catch(() => Promise.reject(error))
          await exec('RELEASE unit')
          unit.reject(error)
        } finally {
          handle.end()
        }
      }
      await exec('COMMIT')
    } catch (error) {
      await exec('ROLLBACK').catch(() => {})
      for (const unit of units) unit.reject(error)
      return
    }
    this.counts.commits++
    this.counts.units += done.length
    for (const { unit, value, hooks } of done) {
      unit.resolve(value)
      for (const hook of hooks) hook()
    }
  }
}

function openKnex(connection: ConnectionOptions): Knex {
  return knex({
    client: NodeSqliteClient as unknown as typeof Knex.Client,
    connection: connection as unknown as Knex.StaticConnectionConfig,
    useNullAsDefault: true,
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1 },
    // Knex prints what it throws as well; here only the thrower speaks.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
  })
}

// The busy timeout of SQLite would block the whole thread; waiting here blocks nobody else.
async function begin(exec: (sql: string) => PromiseLike<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || tries >= BUSY_TRIES) throw error
      await pause(BUSY_WAIT_MS)
    }
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  // SQLITE_BUSY and its extended forms share the low byte.
  return code !== undefined && (code & 0xff) === 5
}

function knexReader(source: Knex, connection?: unknown): Reader {
  const query = (sql: string, values: readonly SqlValue[]) => {
    const raw = source.raw(sql, values.map(sqlValue) as Knex.RawBinding[])
    return connection === undefined ? raw : raw.connection(connection)
  }
  return {
    async all<R>(sql: string, values: readonly SqlValue[] = []) {
      return (await query(sql, values)) as R[]
    },
    async get<R>(sql: string, values: readonly SqlValue[] = []) {
      return ((await query(sql, values)) as R[])[0]
    },
  }
}

function openTx(source: Knex, connection: unknown, hooks: (() => void)[]): { tx: Tx; end(): void } {
  let open = true
  const reader = knexReader(source, connection)
  const guard = () => {
    if (!open) throw new Error('A unit of work used its handle after it ended.')
  }
  const run = async (sql: string, values: readonly SqlValue[] = []) => {
    guard()
    const raw = source.raw(sql, values.map(sqlValue) as Knex.RawBinding[]).connection(connection)
    const result = (await raw) as unknown as { changes: number; lastInsertRowid: number }
    return { changes: Number(result.changes), lastId: Number(result.lastInsertRowid) }
  }
  const tx = {
    all: <R>(sql: string, values?: readonly SqlValue[]) => {
      guard()
      return reader.all<R>(sql, values)
    },
    get: <R>(sql: string, values?: readonly SqlValue[]) => {
      guard()
      return reader.get<R>(sql, values)
    },
    run,
    async insert(table: string, row: Row) {
      const names = Object.keys(row)
      const marks = names.map(() => '?').join(', ')
      const { lastId } = await run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, Object.values(row))
      return lastId
    },
    afterCommit(hook: () => void) {
      guard()
      hooks.push(hook)
    },
  } as unknown as Tx
  return { tx, end: () => (open = false) }
}

function openScanners(options: DbOptions): Piscina {
  return new Piscina({
    filename: new URL('./scan-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: options.scanThreads,
    idleTimeout: 10_000,
    workerData: { file: options.file, pragmas: READ_PRAGMAS },
  })
}

function threadReader(scanners: Piscina): Reader {
  const run = (task: ScanTask) => scanners.run(task)
  return {
    all: (sql, values = []) => run({ sql, values: values.map(sqlValue) }),
    async get(sql, values = []) {
      return (await run({ sql, values: values.map(sqlValue) }))[0]
    },
  }
}
