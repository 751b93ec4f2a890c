// The open sessions of a protocol, and how they end when the appliance shuts down.

import type { Clock } from '../base/clock.ts'
import { CLOSING_MS, CUT_MS } from '../base/lifecycle.ts'

/** How sessions end at a shutdown. */
interface Shutdown<S> {
  clock: Clock
  /** Ends a session at once when it is idle, otherwise after what it is doing. */
  retire(session: S): void
  /** Closes the connection of a session that has not ended in time. */
  cut(session: S): void
}

/** Sessions, each with what it holds until its end. */
export class OpenSessions<S, H> {
  readonly #held = new Map<S, H>()
  #emptied: (() => void) | undefined

  add(session: S, held: H): void {
    this.#held.set(session, held)
  }

  /** @returns what the session held */
  remove(session: S): H | undefined {
    const held = this.#held.get(session)
    this.#held.delete(session)
    if (this.#held.size === 0) this.#emptied?.()
    return held
  }

  [Symbol.iterator](): IterableIterator<S> {
    return this.#held.keys()
  }

  /** Resolves when no session is open: after a bounded time, also when the work of one goes on behind its connection. */
  async end({ clock, retire, cut }: Shutdown<S>): Promise<void> {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    for (const session of this) retire(session)
    const timers = [
      clock.after(CLOSING_MS, () => {
        for (const session of this) cut(session)
      }),
      clock.after(CLOSING_MS + CUT_MS, resolve),
    ]
    this.#emptied = resolve
    if (this.#held.size === 0) resolve()
    await ended
    for (const timer of timers) timer.cancel()
  }
}
