// What many units of work have to write of one kind, gathered and written once at the end of their transaction.

import type { Tx } from './sql.ts'

/** Things of one kind. One per kind in a house: units of work of a transaction find one another through it. */
export class Gathered<T> {
  readonly #write: (tx: Tx, all: readonly T[]) => Promise<void>
  readonly #place: number
  /** By the handles of units of work, and by that of the end of the transaction. */
  readonly #lists = new WeakMap<Tx, T[]>()

  /**
   * @param write writes all of a transaction, in the order they were given; when it fails, the whole transaction does
   * @param place when it is done among all that is put off, see {@link Tx.atEnd}
   */
  constructor(write: (tx: Tx, all: readonly T[]) => Promise<void>, place: number) {
    this.#write = write
    this.#place = place
  }

  /** Adds one as part of a unit of work; it is dropped when the unit fails. */
  add(tx: Tx, one: T): void {
    const known = this.#lists.get(tx)
    if (known !== undefined) {
      known.push(one)
      return
    }
    const mine = [one]
    this.#lists.set(tx, mine)
    // All lists are joined before one of them is written.
    tx.atEnd(async (end) => this.#join(end, mine), this.#place - 1)
    tx.atEnd((end) => this.#finish(end), this.#place)
  }

  #join(end: Tx, mine: T[]): void {
    const joined = this.#lists.get(end)
    if (joined === undefined) this.#lists.set(end, mine)
    else for (const one of mine) joined.push(one)
  }

  async #finish(end: Tx): Promise<void> {
    const joined = this.#lists.get(end)
    this.#lists.delete(end)
    if (joined !== undefined) await this.#write(end, joined)
  }
}
