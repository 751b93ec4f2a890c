// Reproducible random choices for tests with a model.

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  /** Some of them, in their order. */
  some<T>(from: readonly T[], probability: number): T[] {
    return from.filter(() => this.chance(probability))
  }
}
