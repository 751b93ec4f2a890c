// Remembers senders whose recipients' filters disagreed: for a day, their transactions are limited to recipients with equal filters.

import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'

/** Clients retry for days (RFC 5321 §4.5.4.1), most of them within hours. */
const RETENTION_MS = DAY_MS
const SENDERS_MAX = 10_000

/**
 * DATA has one reply for all recipients. Where sender filters would refuse a message for some and accept it for others, the
 * whole transaction is deferred once; on the retry, RCPT only combines recipients with the same filters. Other messages to
 * several recipients are never split.
 */
export class SplitRecipients {
  readonly #clock: Clock
  readonly #since: Map<string, number>

  /** @param since what another thread knows (see `since`) */
  constructor(clock: Clock, since?: ReadonlyMap<string, number>) {
    this.#clock = clock
    this.#since = new Map(since)
  }

  /** A copy of all senders with the time they were noted, ms. */
  get since(): Map<string, number> {
    return new Map(this.#since)
  }

  note(sender: string): void {
    // The oldest entries are removed first; the cost for their sender is one more retry.
    this.#since.delete(sender)
    this.#since.set(sender, this.#clock.now())
    if (this.#since.size > SENDERS_MAX) this.#since.delete(this.#since.keys().next().value!)
  }

  has(sender: string): boolean {
    const since = this.#since.get(sender)
    return since !== undefined && this.#clock.now() - since < RETENTION_MS
  }
}
