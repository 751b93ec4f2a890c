// What a session did: its commands by name, for metrics and the log. Never arguments, never secrets.

import { stopwatch } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ImapMeters } from './meters.ts'

/** Waits for the client most of the time. */
const WITHOUT_DURATION = new Set(['IDLE'])

export class SessionUsage {
  readonly #log: Log
  readonly #meters: ImapMeters
  readonly #session: string
  readonly #counts = new Map<string, number>()
  /** Ms since the session began. */
  readonly #elapsed = stopwatch()
  /** When the current command began. */
  #began = 0

  constructor({ log, meters }: { log: Log; meters: ImapMeters }, session: string) {
    this.#log = log
    this.#meters = meters
    this.#session = session
  }

  /** A command was read completely, up to its first message. */
  commandBegan(): void {
    this.#began = this.#elapsed()
  }

  /** @param result `OK`, `NO` or `BAD` */
  commandEnded(name: string, result: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    const ms = this.#elapsed() - this.#began
    this.#meters.command(name, result, WITHOUT_DURATION.has(name) ? null : ms / 1000)
    if (!this.#log.isLevelEnabled('debug')) return
    const facts = { session: this.#session, command: name, result, ms: Math.round(ms) }
    this.#log.debug({ event: 'imap.command_answered', ...facts }, 'IMAP command answered')
  }

  /** Commands by name, and for how long the session has been open. */
  facts(): { commands: Record<string, number>; seconds: number } {
    return { commands: Object.fromEntries(this.#counts), seconds: Math.round(this.#elapsed() / 1000) }
  }
}
