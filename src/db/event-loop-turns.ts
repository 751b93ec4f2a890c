// Yields to the event loop during long writes: SQLite runs in the thread of the listeners.

/** Statements between yields, about 4 ms. */
export const STATEMENTS_A_TURN = 400
/** Values of this size cost as much as a statement. Bytes. */
const STATEMENT_BYTES = 8192

/** One per writing connection: successive units of work count together. */
export class EventLoopTurns {
  #work = 0

  /** Counts a statement with so many bytes of values. @returns a promise to await before it runs; mostly null */
  next(valueBytes: number): Promise<void> | null {
    this.#work += 1 + valueBytes / STATEMENT_BYTES
    if (this.#work < STATEMENTS_A_TURN) return null
    this.#work = 0
    return new Promise((resolve) => setImmediate(resolve))
  }
}
