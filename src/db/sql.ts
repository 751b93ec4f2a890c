// The SQL interface for the other modules: values, rows, and the handles for reading and writing.

/** Values that can be bound to a `?` of a statement. */
export type SqlValue = string | number | bigint | boolean | Uint8Array | null | undefined
export type Row = Record<string, SqlValue>

/** Reads rows on the calling thread. Statements are portable SQL with `?` for values; foreign text is always bound, never concatenated. */
export interface Reader {
  all<R = Row>(sql: string, values?: readonly SqlValue[]): R[]
  get<R = Row>(sql: string, values?: readonly SqlValue[]): R | undefined
}

/** Reads rows in another thread. */
export interface ScanReader {
  all<R = Row>(sql: string, values?: readonly SqlValue[]): Promise<R[]>
  get<R = Row>(sql: string, values?: readonly SqlValue[]): Promise<R | undefined>
  /** Rows of numbers by column, NaN for NULL: many rows cost the calling thread nothing. Empty without rows. */
  columns(sql: string, values?: readonly SqlValue[]): Promise<Columns>
}

/** Numbers by name of their column; all are of one length. */
export type Columns = Record<string, Float64Array<ArrayBuffer>>

/** The columns of rows that have numbers only. */
export function columnsOf(rows: readonly Record<string, unknown>[]): Columns {
  const names = Object.keys(rows[0] ?? {})
  const numberIn = (value: unknown) => (value === null ? Number.NaN : Number(value))
  return Object.fromEntries(names.map((name) => [name, Float64Array.from(rows, (row) => numberIn(row[name]))]))
}

/** Both ways to read a file; in a worker thread both read there (`thread-reader.ts`). */
export interface DbReads {
  readonly read: Reader
  readonly scan: ScanReader
}

/** Reads rows here or in another thread. */
export type AnyReader = Reader | ScanReader

declare const insideWrite: unique symbol

/** The handle of one unit of work, valid only inside `write`. */
export interface Tx extends Reader {
  readonly [insideWrite]: true
  /** @returns the number of changed rows, and the integer key of the last inserted row */
  run(sql: string, values?: readonly SqlValue[]): { changes: number; lastId: number }
  /** Inserts one row; undefined members are stored as NULL. @returns its integer key */
  insert(table: string, row: Row): number
  /**
   * Defers work to the end of the transaction, after all units of work in it: for writes that are cheaper in bulk.
   * It is dropped when the unit fails; when it fails itself, the whole transaction fails.
   * @param order deferred work runs in ascending order; 0 when the order does not matter
   */
  atEnd(work: (tx: Tx) => void, order?: number): void
  /** Declares that the unit changes no row that a {@link RowCache} keeps: what is kept stays valid. */
  keepsCaches(): void
  /**
   * Declares that the unit assigns numbers of an account that clients see (UIDs, states, modification numbers), or of all accounts:
   * `Db.durable` waits for it before they are shown.
   */
  assignsNumbersOf(account: number | 'all'): void
  /**
   * Queues upkeep as a unit of work of its own, once the transaction is committed: what waits for this transaction does not wait for it.
   * It is lost when the process ends before, and nothing waits for it: its failure is only reported (`DbOptions.upkeepFailed`).
   */
  followUp(work: (tx: Tx) => void): void
  /** Runs after the commit that makes this unit durable, never when the unit fails or is undone. */
  afterCommit(run: () => void): void
  /**
   * Rolls the unit back when its function has returned; its caller gets what the function returns. For outcomes of normal operation for
   * which nothing is to be stored.
   * @returns the value, for `return tx.undo('full')`
   */
  undo<T>(value: T): T
  /** Whether the unit is rolled back when its function has returned. */
  readonly isUndone: boolean
}

/** Scans that run on the calling thread. */
export function scanHere(reader: Reader): ScanReader {
  return {
    all: async (sql, values) => reader.all(sql, values),
    get: async (sql, values) => reader.get(sql, values),
    columns: async (sql, values) => columnsOf(reader.all(sql, values)),
  }
}
