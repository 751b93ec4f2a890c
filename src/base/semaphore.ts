// A weighted semaphore: a bounded amount that many share, first in, first out.

interface Waiter {
  amount: number
  go(): void
}

export class Semaphore {
  readonly #total: number
  readonly #waiters: Waiter[] = []
  #free: number

  constructor(total: number) {
    this.#total = total
    this.#free = total
  }

  /** The amount that is not acquired. */
  get free(): number {
    return this.#free
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#waiters.length
  }

  /** True while nothing is acquired. */
  get isIdle(): boolean {
    return this.#free === this.#total
  }

  /** Acquires an amount if it is free now, without waiting. @returns false when it is not; nothing is acquired then */
  tryAcquire(amount: number): boolean {
    if (amount > this.#free) return false
    this.#free -= amount
    return true
  }

  /** Gives an acquired amount back. */
  release(amount: number): void {
    this.#free += amount
    for (let first = this.#waiters[0]; first && this.tryAcquire(first.amount); first = this.#waiters[0]) {
      this.#waiters.shift()
      first.go()
    }
  }

  /** Waits until the amount is free and acquires it; more than the total counts as the total. @returns releases it */
  async acquire(wanted: number): Promise<() => void> {
    const now = this.acquireNow(wanted)
    if (now !== null) return now
    const amount = Math.min(wanted, this.#total)
    await new Promise<void>((go) => this.#waiters.push({ amount, go }))
    return () => this.release(amount)
  }

  /** {@link acquire} without a wait. @returns null when the amount is not free, or others wait */
  acquireNow(wanted: number): (() => void) | null {
    const amount = Math.min(wanted, this.#total)
    if (this.#waiters.length > 0 || !this.tryAcquire(amount)) return null
    return () => this.release(amount)
  }

  /** Runs a function while it holds the amount. */
  async during<T>(amount: number, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(amount)
    try {
      return await work()
    } finally {
      release()
    }
  }
}
