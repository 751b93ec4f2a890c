// Collects writes of one kind from all units of work of a transaction, and writes them once at its end.

import type { Tx } from './sql.ts'

/** Writes of one kind. One instance per kind: the units of work of a transaction share it. */
export class DeferredWrites<T> {
  readonly #write: (tx: Tx, all: readonly T[]) => void
  readonly #order: number
  /** By the handle of the unit of work, and by the handle for the end of the transaction. */
  readonly #lists = new WeakMap<Tx, T[]>()

  /**
   * @param write writes all items of a transaction, in the order they were added; when it fails, the whole transaction fails
   * @param order order among all deferred work, see {@link Tx.atEnd}
   */
  constructor(write: (tx: Tx, all: readonly T[]) => void, order: number) {
    this.#write = write
    this.#order = order
  }

  /** Adds an item as part of a unit of work; it is dropped when the unit fails. */
  add(tx: Tx, one: T): void {
    const known = this.#lists.get(tx)
    if (known !== undefined) {
      known.push(one)
      return
    }
    const mine = [one]
    this.#lists.set(tx, mine)
    // All lists are joined before the joined list is written.
    tx.atEnd((end) => this.#join(end, mine), this.#order - 1)
    tx.atEnd((end) => this.#finish(end), this.#order)
  }

  #join(end: Tx, mine: T[]): void {
    const joined = this.#lists.get(end)
    if (joined === undefined) this.#lists.set(end, mine)
    else for (const one of mine) joined.push(one)
  }

  #finish(end: Tx): void {
    const joined = this.#lists.get(end)
    this.#lists.delete(end)
    if (joined !== undefined) this.#write(end, joined)
  }
}
