// Tells whether the clock can be trusted: compares it with the time last seen and with a clock nobody can set.

import { type Clock, isoTime } from './clock.ts'

/** A larger difference than this, in either direction, is no correction of a clock: nothing is erased or expired by it. */
export const CLOCK_JUMP_MS = 2 * 24 * 60 * 60 * 1000

/** What is asked of the guard by those who erase or expire by the clock. */
export interface ClockDoubt {
  /** True while retention, expiry and purges must wait. */
  isHeld(): boolean
}

export class ClockGuard implements ClockDoubt {
  readonly #clock: Clock
  /** The last time that was trusted, and the monotonic time at which it was. */
  #reference: { time: number; monotonic: number }
  /** Stays until the clock is trusted again: what was written with a wrong time is to be mended first. */
  #isHeld = false

  /** @param time the time last seen, ms */
  constructor(clock: Clock, time: number) {
    this.#clock = clock
    this.#reference = { time, monotonic: clock.monotonic() }
  }

  /** Takes the clock as right at this moment. */
  trust(): void {
    this.#reference = { time: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#isHeld = false
  }

  /** Holds although the clock may be right: another process has not yet found so. */
  hold(): void {
    this.#isHeld = true
  }

  /** What the clock should say, ms: the last trusted time and what has passed since. */
  expected(): number {
    return this.#reference.time + this.#clock.monotonic() - this.#reference.monotonic
  }

  /** How far the clock is ahead of what it should say, ms; below 0 when it is behind. */
  aheadMs(): number {
    return this.#clock.now() - this.expected()
  }

  isHeld(): boolean {
    if (!isNear(this.aheadMs())) this.#isHeld = true
    return this.#isHeld
  }

  /** One sentence for the operator; null when the clock says what it should. */
  complaint(): string | null {
    const ahead = this.aheadMs()
    if (isNear(ahead)) return null
    const days = Math.round(Math.abs(ahead) / 86_400_000)
    const [now, expected] = [isoTime(this.#clock.now()), isoTime(this.expected())]
    return `The clock says ${now}, ${days} days ${ahead > 0 ? 'after' : 'before'} what was last seen (${expected}); retention, expiry and purges are on hold.`
  }
}

/** Whether a difference between two times (ms) is small enough to be a correction. */
export function isNear(differenceMs: number): boolean {
  return Math.abs(differenceMs) <= CLOCK_JUMP_MS
}
