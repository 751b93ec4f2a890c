// So much of something at a time: places, bytes; first come, first served.

export class Ration {
  readonly #all: number
  #free: number
  readonly #waiting: { amount: number; go: () => void }[] = []

  constructor(amount: number) {
    this.#all = amount
    this.#free = amount
  }

  /** How many stand in line. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** True while nobody has anything of it. */
  get isWhole(): boolean {
    return this.#free === this.#all
  }

  /** Waits until there is enough, and gives what lets go of it again. Who wants more than all gets all. */
  async take(wanted: number): Promise<() => void> {
    const amount = Math.min(wanted, this.#all)
    if (this.#waiting.length > 0 || amount > this.#free) {
      await new Promise<void>((go) => this.#waiting.push({ amount, go }))
    } else {
      this.#free -= amount
    }
    return () => this.#give(amount)
  }

  #give(amount: number): void {
    this.#free += amount
    while (this.#waiting.length > 0 && this.#waiting[0]!.amount <= this.#free) {
      const next = this.#waiting.shift()!
      this.#free -= next.amount
      next.go()
    }
  }
}
