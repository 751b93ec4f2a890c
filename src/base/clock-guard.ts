// Detects jumps of the system clock, by comparison with the last known time and with the monotonic clock.

import { type Clock, isoTime } from './clock.ts'
import { DAY_MS } from './durations.ts'

/** A difference larger than this, in either direction, is not a clock correction: nothing is deleted or expired until it is confirmed. */
export const CLOCK_JUMP_MS = 2 * DAY_MS

/** Times a wrong clock showed, ms. */
export interface WrongSpan {
  /** When the clock was last right. */
  since: number
  from: number
  until: number
}

/** The view of the guard for code that deletes or expires by the clock. */
export interface ClockDoubt {
  /** True while retention, expiry and purges must wait. */
  isHeld(): boolean
  /** The expected time, ms: the last trusted time plus the monotonic time since. */
  expected(): number
}

export class ClockGuard implements ClockDoubt {
  readonly #clock: Clock
  /** The last time that was trusted, and the monotonic time at which it was. */
  #reference: { time: number; monotonic: number }
  /** Remains set until `trust`: rows written with a wrong time have to be corrected first. */
  #isHeld = false

  /** @param time the last known time, ms */
  constructor(clock: Clock, time: number) {
    this.#clock = clock
    this.#reference = { time, monotonic: clock.monotonic() }
  }

  /** Accepts the current time of the clock as correct. */
  trust(): void {
    this.#reference = { time: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#isHeld = false
  }

  /** Holds even if the clock may be correct, until another process has confirmed it. */
  hold(): void {
    this.#isHeld = true
  }

  /** The expected time, ms: the last trusted time plus the monotonic time since. */
  expected(): number {
    return this.#reference.time + this.#clock.monotonic() - this.#reference.monotonic
  }

  /** How far the clock is ahead of the expected time, ms; negative when it is behind. */
  aheadMs(): number {
    return this.#clock.now() - this.expected()
  }

  isHeld(): boolean {
    if (!isNear(this.aheadMs())) this.#isHeld = true
    return this.#isHeld
  }

  /** One sentence for the operator; null when the clock is as expected. */
  complaint(): string | null {
    const ahead = this.aheadMs()
    if (isNear(ahead)) return null
    const days = Math.round(Math.abs(ahead) / DAY_MS)
    const [now, expected] = [isoTime(this.#clock.now()), isoTime(this.expected())]
    return `The clock says ${now}, ${days} days ${ahead > 0 ? 'after' : 'before'} what was last seen (${expected}); retention, expiry and purges are on hold.`
  }
}

/** A clock that says the expected time while the guard doubts the system clock: by a jump nothing expires, and nothing expired works again. */
export function trustedClock(clock: Clock, guard: ClockDoubt): Clock {
  return {
    now: () => (guard.isHeld() ? Math.round(guard.expected()) : clock.now()),
    monotonic: () => clock.monotonic(),
    after: (ms, run) => clock.after(ms, run),
    every: (ms, run) => clock.every(ms, run),
  }
}

/** Whether a difference between two times (ms) is small enough to be a correction. */
export function isNear(differenceMs: number): boolean {
  return Math.abs(differenceMs) <= CLOCK_JUMP_MS
}
