// A bounded amount that many share: who asks for more than is left waits for its turn.

interface Waiting {
  amount: number
  go(): void
}

export class Budget {
  readonly #total: number
  readonly #waiting: Waiting[] = []
  #left: number

  constructor(total: number) {
    this.#total = total
    this.#left = total
  }

  /** What is not taken. */
  get left(): number {
    return this.#left
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Takes an amount if it is there now. @returns false otherwise, and nothing is taken */
  take(amount: number): boolean {
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }

  /** Gives back what was taken; who waits longest goes first. */
  give(amount: number): void {
    this.#left += amount
    for (let first = this.#waiting[0]; first && this.take(first.amount); first = this.#waiting[0]) {
      this.#waiting.shift()
      first.go()
    }
  }

  /** Waits until the amount is there, takes it, works, and gives it back. More than the whole counts as the whole. */
  async during<T>(amount: number, work: () => Promise<T>): Promise<T> {
    const taken = Math.min(amount, this.#total)
    if (this.#waiting.length > 0 || !this.take(taken)) {
      await new Promise<void>((go) => this.#waiting.push({ amount: taken, go }))
    }
    try {
      return await work()
    } finally {
      this.give(taken)
    }
  }
}
