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
  /** Runs after the commit that makes this unit durable, never when the unit fails. */
  afterCommit(run: () => void): void
}
