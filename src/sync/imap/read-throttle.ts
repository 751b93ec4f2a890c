// How fast an account is read: messages and bytes a second, and bytes a day where the provider counts them.

import { type Clock, pause } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { type Idle, ServerError } from '../model/server.ts'
import { untilMidnight } from './server-errors.ts'

/** An account is not read faster than this. */
export const MESSAGES_PER_S = 20
export const BYTES_PER_S = 5_000_000
/** What may be read at once, s: small groups wait for nothing. */
const BURST_S = 10

export interface ThrottleLimits {
  /** Infinity: not limited. */
  messagesPerS: number
  bytesPerS: number
  /** Null: any number. */
  dayBytes: number | null
}

/** The lower of what a provider allows a day and of REMOTE_MAIL_PER_DAY (MiB, 0: not limited). @returns bytes; null: any number */
export function dayLimit(providerBytes: number | null, settingMib: number): number | null {
  const limits = [providerBytes, settingMib === 0 ? null : settingMib * 1_048_576].filter((limit) => limit !== null)
  return limits.length === 0 ? null : Math.min(...limits)
}

/** Bytes read on a day (days since 1970, UTC). */
export interface DayCount {
  day: number
  bytes: number
}

/** A bucket for messages and one for bytes, of one account. */
export class ReadThrottle {
  readonly #clock: Clock
  readonly #limits: ThrottleLimits
  #day: DayCount
  /** Until when what was read is paid for, by `clock.monotonic()`. */
  #paidUntil: number

  constructor(clock: Clock, limits: ThrottleLimits, day: DayCount) {
    this.#clock = clock
    this.#limits = limits
    this.#day = { ...day }
    this.#paidUntil = clock.monotonic()
  }

  /**
   * Waits until more may be read.
   * @param idle runs the wait, if there is one
   * @throws ServerError after `signal`, and when the day's number of bytes is used up
   */
  async next(signal: AbortSignal, idle: Idle = (wait) => wait()): Promise<void> {
    this.#checkDay()
    const ms = this.#paidUntil - BURST_S * 1000 - this.#clock.monotonic()
    if (ms > 0) await idle(() => pause(this.#clock, ms, signal))
    if (signal.aborted) throw new ServerError('delay', 'The connection was closed.')
  }

  /** Counts what was read. */
  count(messages: number, bytes: number): void {
    const { messagesPerS, bytesPerS } = this.#limits
    const seconds = Math.max(messages / messagesPerS, bytes / bytesPerS)
    this.#paidUntil = Math.max(this.#paidUntil, this.#clock.monotonic()) + seconds * 1000
    this.#today()
    this.#day.bytes += bytes
  }

  #checkDay(): void {
    const { dayBytes } = this.#limits
    this.#today()
    if (dayBytes === null || this.#day.bytes < dayBytes) return
    const reason = `The account is read up to ${dayBytes / 1_000_000} MB a day, which are used up.`
    throw new ServerError('delay', reason, { retryAfterMs: untilMidnight(this.#clock.now()) })
  }

  #today(): void {
    const day = Math.floor(this.#clock.now() / DAY_MS)
    if (day !== this.#day.day) this.#day = { day, bytes: 0 }
  }
}
