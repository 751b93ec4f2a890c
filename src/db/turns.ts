// Lets others have their turn: SQLite works in the thread of the listeners, and long work must not hold them up.

/** Statements after which others have their turn, about 4 ms of them. */
export const STATEMENTS_A_TURN = 400
/** Content of this size costs as much as a statement. Bytes. */
const STATEMENT_BYTES = 8192

/** Of one writing connection: units of work that follow one another count together. */
export class Turns {
  #work = 0

  /** Counts a statement with so many bytes of values. @returns what it has to wait for; null mostly */
  next(valueBytes: number): Promise<void> | null {
    this.#work += 1 + valueBytes / STATEMENT_BYTES
    if (this.#work < STATEMENTS_A_TURN) return null
    this.#work = 0
    return new Promise((resolve) => setImmediate(resolve))
  }
}
