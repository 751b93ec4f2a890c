// Senders whose mail met recipients that wanted different answers: their recipients are asked for one by one for a while.

import type { Clock } from '../base/clock.ts'

/** Peers try again for days (RFC 5321 4.5.4.1), most of them within hours. */
const KEPT_MS = 24 * 60 * 60 * 1000
const KEPT_MOST = 10_000

/**
 * DATA has one answer for all recipients. Where sender filters would refuse a mail for some and take it for others, the
 * whole of it is put off once, and when it comes again only recipients with the same filters travel together. Ordinary mail
 * to many is never divided.
 */
export class Divisions {
  readonly #clock: Clock
  readonly #since = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(sender: string): void {
    // The oldest are forgotten first; to be noted again costs the peer one more try.
    this.#since.delete(sender)
    this.#since.set(sender, this.#clock.now())
    if (this.#since.size > KEPT_MOST) this.#since.delete(this.#since.keys().next().value!)
  }

  has(sender: string): boolean {
    const since = this.#since.get(sender)
    return since !== undefined && this.#clock.now() - since < KEPT_MS
  }
}
