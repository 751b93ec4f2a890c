// Deadlines of a session (docs/design/mail-programs.md §2.5): login, silence, started lines, slow literals, clients that do not read.

import type { Clock } from '../../base/clock.ts'
import {
  LITERAL_GRACE_MS,
  LITERAL_PAUSE_MS,
  LITERAL_RATE,
  LOGIN_MS,
  SILENCE_MS,
  STARTED_LINE_MS,
  STILL_HERE_MS,
  UNREAD_MS,
} from '../grammar/limits.ts'

export interface SessionActivity {
  isSignedIn: boolean
  isIdle: boolean
  /** A command has begun to arrive and is not complete. */
  hasBegun: boolean
  isRunning: boolean
  /** Bytes received so far. */
  received: number
  /** Since when the client takes nothing, ms; null when it does. */
  blockedSince: number | null
}

export class SessionDeadlines {
  readonly #clock: Clock
  readonly #opened: number
  #lastCommand: number
  #lastBytes: { at: number; received: number }
  #begun: number | null = null
  #stillHere: number
  #content: { began: number; bytes: number } | null = null
  /** Since when the rest of a command is awaited behind a message. */
  #rest: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
    const now = clock.monotonic()
    this.#opened = this.#lastCommand = this.#stillHere = now
    this.#lastBytes = { at: now, received: 0 }
  }

  commandBegan(): void {
    this.#lastCommand = this.#clock.monotonic()
    this.#stillHere = this.#lastCommand
  }

  commandEnded(): void {
    this.#lastCommand = this.#clock.monotonic()
    this.#begun = null
    this.#content = null
    this.#rest = null
  }

  /** The content of a message begins to arrive. */
  contentBegan(): void {
    this.#content = { began: this.#clock.monotonic(), bytes: 0 }
  }

  /** Bytes of a message arrived. */
  progress(bytes = 0): void {
    if (this.#content !== null) this.#content.bytes += bytes
  }

  /** The running command waits for the client: for a message, or for what follows it. */
  get isReadingContent(): boolean {
    return this.#content !== null || this.#rest !== null
  }

  /** Waits for what follows a message in its command. */
  async duringRest<T>(reading: Promise<T>): Promise<T> {
    this.#rest = this.#clock.monotonic()
    try {
      return await reading
    } finally {
      this.#rest = null
    }
  }

  contentEnded(): void {
    this.#content = null
  }

  /** Whether `* OK Still here` is due; it is counted as sent. */
  stillHereDue(interval = STILL_HERE_MS): boolean {
    const now = this.#clock.monotonic()
    if (now - this.#stillHere < interval) return false
    this.#stillHere = now
    return true
  }

  /** The sentence of the deadline that has passed; `unread` for a client that takes nothing, null for none. */
  problem(activity: SessionActivity): string | null {
    const now = this.#clock.monotonic()
    if (activity.received !== this.#lastBytes.received) this.#lastBytes = { at: now, received: activity.received }
    if (activity.blockedSince !== null && now - activity.blockedSince > UNREAD_MS) return 'unread'
    if (!activity.isSignedIn) return now - this.#opened > LOGIN_MS ? 'The login took too long.' : null
    if (this.#content !== null) return this.#contentProblem(now)
    if (this.#rest !== null) return now - this.#rest > STARTED_LINE_MS ? 'The command took too long.' : null
    if (activity.isRunning && !activity.isIdle) return null
    if (activity.hasBegun) {
      this.#begun ??= now
      if (now - this.#begun > STARTED_LINE_MS) return 'The command took too long.'
    } else this.#begun = null
    return now - Math.max(this.#lastCommand, this.#lastBytes.at) > SILENCE_MS ? 'Silent for too long.' : null
  }

  #contentProblem(now: number): string | null {
    const { began, bytes } = this.#content!
    if (now - this.#lastBytes.at > LITERAL_PAUSE_MS) return 'The message did not arrive.'
    const elapsed = now - began
    return elapsed > LITERAL_GRACE_MS && (bytes * 1000) / elapsed < LITERAL_RATE
      ? 'The message arrived too slowly.'
      : null
  }
}
