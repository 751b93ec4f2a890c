// Transaction handles of units of work: they become invalid with their unit, so that nothing is written outside a transaction.

import type { DatabaseConnection } from './connection.ts'
import type { Reader, Row, SqlValue, Tx } from './sql.ts'
import { placeholders } from './sql-text.ts'
import type { WriteLog } from './write-log.ts'

/** Work that a unit of work deferred. */
export interface DeferredWork {
  readonly atEnd: { order: number; work: (tx: Tx) => void }[]
  readonly followUps: ((tx: Tx) => void)[]
  readonly afterCommit: (() => void)[]
  keepsCaches: boolean
  /** The unit is rolled back although it did not fail. */
  isUndone: boolean
  /** Accounts whose numbers the unit assigns. */
  readonly accounts: Set<number | 'all'>
}

/** The writing connection with its write-ahead log. */
export interface WriteContext {
  connection: DatabaseConnection
  log: WriteLog
}

export function readerOf(connection: DatabaseConnection): Reader {
  return {
    all: <R>(sql: string, values?: readonly SqlValue[]) => connection.all<R>(sql, values),
    get: <R>(sql: string, values?: readonly SqlValue[]) => connection.all<R>(sql, values)[0],
  }
}

/** @returns the handle, the work deferred through it, and the function that ends it */
export function openTx(context: WriteContext): { tx: Tx; deferred: DeferredWork; end(): void } {
  const handle = new Handle(context)
  return { tx: handle as unknown as Tx, deferred: handle.deferred, end: () => handle.end() }
}

/** A class, so that all handles have one shape: whatever calls them is compiled once. */
class Handle {
  readonly deferred: DeferredWork = {
    atEnd: [],
    followUps: [],
    afterCommit: [],
    keepsCaches: false,
    isUndone: false,
    accounts: new Set(),
  }
  readonly #context: WriteContext
  #isOpen = true

  constructor(context: WriteContext) {
    this.#context = context
  }

  all<R>(sql: string, values: readonly SqlValue[] = []): R[] {
    return this.#connection(values).all<R>(sql, values)
  }

  get<R>(sql: string, values: readonly SqlValue[] = []): R | undefined {
    return this.all<R>(sql, values)[0]
  }

  run(sql: string, values: readonly SqlValue[] = []): { changes: number; lastId: number } {
    return this.#connection(values).run(sql, values)
  }

  insert(table: string, row: Row): number {
    const names = Object.keys(row)
    return this.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${placeholders(names)})`, Object.values(row))
      .lastId
  }

  atEnd(work: (tx: Tx) => void, order = 0): void {
    this.deferred.atEnd.push({ order, work })
  }

  followUp(work: (tx: Tx) => void): void {
    this.deferred.followUps.push(work)
  }

  afterCommit(hook: () => void): void {
    this.deferred.afterCommit.push(hook)
  }

  keepsCaches(): void {
    this.deferred.keepsCaches = true
  }

  assignsNumbersOf(account: number | 'all'): void {
    this.deferred.accounts.add(account)
  }

  undo<T>(value: T): T {
    this.deferred.isUndone = true
    return value
  }

  get isUndone(): boolean {
    return this.deferred.isUndone
  }

  end(): void {
    this.#isOpen = false
  }

  #connection(values: readonly SqlValue[]): DatabaseConnection {
    if (!this.#isOpen) throw new Error('A unit of work used its handle after it ended.')
    this.#context.log.note(sizeOf(values))
    return this.#context.connection
  }
}

function sizeOf(values: readonly SqlValue[]): number {
  let bytes = 0
  for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  return bytes
}
