// What failed a moment ago, remembered for all messages: nobody tries it again before its time.

import type { Clock } from '../../../base/clock.ts'
import type { Fault } from '../smtp/errors.ts'

/** The first pause, and the longest; each further failure doubles it. ms */
export const BACKOFF_MS = 60_000
export const BACKOFF_MAX_MS = 15 * 60_000
/** A failure that is older than this says nothing about the next one, ms. */
const FORGET_MS = 60 * 60_000
/** Names that are remembered at a time; the one that was noted first goes first. */
export const NAMES_MAX = 10_000

export interface Failure {
  fault: Fault
  /** ms */
  until: number
}

interface Entry extends Failure {
  /** In a row. */
  failures: number
}

export class Backoff {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many names are remembered. */
  get size(): number {
    return this.#entries.size
  }

  /** The failure that keeps everybody from trying the name now; null where nothing does. */
  get(name: string): Failure | null {
    const entry = this.#entries.get(name)
    return entry === undefined || this.#clock.now() >= entry.until ? null : entry
  }

  fail(name: string, fault: Fault): void {
    const now = this.#clock.now()
    const known = this.#entries.get(name)
    // Attempts that ran side by side fail once.
    if (known !== undefined && now < known.until) return
    const failures = known === undefined || now > known.until + FORGET_MS ? 1 : known.failures + 1
    this.#entries.delete(name)
    this.#entries.set(name, {
      fault,
      failures,
      until: now + Math.min(BACKOFF_MS * 2 ** (failures - 1), BACKOFF_MAX_MS),
    })
    if (this.#entries.size > NAMES_MAX) this.#entries.delete(this.#entries.keys().next().value!)
  }

  /** Lets the name be tried before its time; a further failure follows on the earlier ones. */
  lift(name: string): void {
    const entry = this.#entries.get(name)
    if (entry !== undefined) entry.until = Math.min(entry.until, this.#clock.now())
  }

  succeed(name: string): void {
    this.#entries.delete(name)
  }
}
