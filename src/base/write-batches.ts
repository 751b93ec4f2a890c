// Joins writes that many callers request one by one: what waits when a write begins is written together.

interface PendingWrite<T, R> {
  item: T
  resolve(result: R): void
  reject(error: unknown): void
}

export interface WriteBatchesOptions<T, R> {
  /** Items in one write. */
  most: number
  /** True when the next write may begin once this one has taken its items: for a target that orders writes itself. */
  overlap?: boolean
  /**
   * Resolves when it is time to write: more items may arrive until then; undefined when it is time already. Not asked before an item is
   * written alone.
   */
  gather?: () => Promise<void> | undefined
  /**
   * Writes items, all or none.
   * @param take takes the items to write, at the latest moment possible: those that arrive until then are among them
   * @returns a result for each item, in their order; null when nothing was written because several items have to be written one by one
   */
  write(take: () => readonly T[]): Promise<readonly R[] | null>
}

export class WriteBatches<T, R = void> {
  readonly #options: WriteBatchesOptions<T, R>
  #waiting: PendingWrite<T, R>[] = []
  #isWriting = false

  constructor(options: WriteBatchesOptions<T, R>) {
    this.#options = options
  }

  /** Items that no write has taken yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Writes an item with others. Resolves to its result when the write has ended. @throws the error of its own write */
  write(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#options.overlap === true) this.#writeSoon()
      else if (!this.#isWriting) void this.#writeAll()
    })
  }

  /** Begins a write unless one has yet to take its items. */
  #writeSoon(): void {
    if (this.#isWriting) return
    this.#isWriting = true
    void this.#writeBatch()
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) await this.#writeBatch()
    this.#isWriting = false
  }

  async #writeBatch(): Promise<void> {
    let taken: PendingWrite<T, R>[] = []
    const take = () => {
      if (taken.length === 0) {
        taken = this.#waiting.splice(0, this.#options.most)
        if (this.#options.overlap === true) {
          this.#isWriting = false
          if (this.#waiting.length > 0) this.#writeSoon()
        }
      }
      return taken.map(({ item }) => item)
    }
    try {
      const gathered = this.#options.gather?.()
      if (gathered !== undefined) await gathered
      const results = await this.#options.write(take)
      if (results === null) await this.#writeEach(taken)
      else for (const [index, { resolve }] of taken.entries()) resolve(results[index]!)
    } catch (error) {
      take()
      const [first] = taken
      if (taken.length === 1) first!.reject(error)
      // One item that cannot be written must not fail the others.
      else await this.#writeEach(taken)
    }
  }

  async #writeEach(items: readonly PendingWrite<T, R>[]): Promise<void> {
    for (const item of items) await this.#writeAlone(item)
  }

  async #writeAlone({ item, resolve, reject }: PendingWrite<T, R>): Promise<void> {
    try {
      const results = await this.#options.write(() => [item])
      if (results === null) throw new Error('A write of one item has no result.')
      resolve(results[0]!)
    } catch (error) {
      reject(error)
    }
  }
}
