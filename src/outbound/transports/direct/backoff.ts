// Exponential backoff by name, shared by all messages: a failed name is not tried again before its pause ends.

import type { Clock } from '../../../base/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../../base/durations.ts'
import type { SmtpError } from '../smtp/errors.ts'

/** The first and the longest pause in ms; each further failure doubles the pause. */
export const BACKOFF_MS = MINUTE_MS
export const BACKOFF_MAX_MS = 15 * MINUTE_MS
/** Time in ms after a pause at which the count of failures restarts. */
const FORGET_MS = HOUR_MS
/** Maximum number of entries; the oldest is evicted first. */
export const NAMES_MAX = 10_000

export interface Failure {
  error: SmtpError
  /** ms */
  until: number
}

interface Entry extends Failure {
  /** Consecutive failures. */
  failures: number
}

export class Backoff {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size
  }

  /** The failure that blocks the name now; null if it may be tried. */
  get(name: string): Failure | null {
    const entry = this.#entries.get(name)
    return entry === undefined || this.#clock.now() >= entry.until ? null : entry
  }

  fail(name: string, error: SmtpError): void {
    const now = this.#clock.now()
    const known = this.#entries.get(name)
    // Concurrent attempts count as one failure.
    if (known !== undefined && now < known.until) return
    const failures = known === undefined || now > known.until + FORGET_MS ? 1 : known.failures + 1
    this.#entries.delete(name)
    this.#entries.set(name, {
      error,
      failures,
      until: now + Math.min(BACKOFF_MS * 2 ** (failures - 1), BACKOFF_MAX_MS),
    })
    if (this.#entries.size > NAMES_MAX) this.#entries.delete(this.#entries.keys().next().value!)
  }

  /** Ends the pause now, but keeps the count of failures. */
  lift(name: string): void {
    const entry = this.#entries.get(name)
    if (entry !== undefined) entry.until = Math.min(entry.until, this.#clock.now())
  }

  succeed(name: string): void {
    this.#entries.delete(name)
  }
}
