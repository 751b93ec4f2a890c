// What the rest of the house sees of SQL: values, rows, and the two handles that take statements.

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
  /**
   * Puts work off to the end of the transaction, after every unit of work in it: for what is cheaper done once for many.
   * It is dropped when the unit fails; when it fails itself, the whole transaction does.
   * @param place works are done in ascending order of it, 0 when it does not matter
   */
  atEnd(work: (tx: Tx) => Promise<void>, place?: number): void
  /** Runs after the commit that makes this unit durable, never when the unit fails. */
  afterCommit(run: () => void): void
}
