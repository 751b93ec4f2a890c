// The clock interface: the product reads time only through it, so that tests can control it.

import { uptime } from 'node:os'

/** A timer that can be canceled. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Milliseconds since a fixed moment, including suspend. It cannot be set, so differences are real elapsed time. */
  monotonic(): number
  /** Calls `run` once after `ms` milliseconds. Does not keep the process alive. */
  after(ms: number, run: () => void): Timer
  /** Calls `run` every `ms` milliseconds. Does not keep the process alive. */
  every(ms: number, run: () => void): Timer
}

/** Waits `ms` milliseconds, or until the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      timer.cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.after(ms, end)
    signal.addEventListener('abort', end, { once: true })
  })
}

/** For how long a reading of the uptime is extended by another clock, ms: reading it opens a file. */
const READING_MS = 100
/** A difference between the system clock and the clock that stops in a suspend, ms: there was one, and the uptime is read at once. */
const SUSPENDED_MS = 1000

/** Uptime in ms, that only grows. CLOCK_MONOTONIC, and therefore performance.now(), stops while a machine is suspended. */
export class UptimeClock {
  readonly #uptimeMs: () => number
  readonly #awakeMs: () => number
  readonly #systemMs: () => number
  #read = 0
  #readAt = Number.NEGATIVE_INFINITY
  /** How far the system clock was ahead of the other one at the reading, ms. */
  #ahead = 0
  #last = 0

  constructor(uptimeMs = () => uptime() * 1000, awakeMs = () => performance.now(), systemMs = () => Date.now()) {
    this.#uptimeMs = uptimeMs
    this.#awakeMs = awakeMs
    this.#systemMs = systemMs
  }

  ms(): number {
    const at = this.#awakeMs()
    const ahead = this.#systemMs() - at
    // Behind a suspend the clock guard compares both: an old reading would look as if the system clock had jumped.
    if (at - this.#readAt >= READING_MS || Math.abs(ahead - this.#ahead) >= SUSPENDED_MS) {
      this.#read = this.#uptimeMs()
      this.#readAt = at
      this.#ahead = ahead
    }
    // The uptime is read in steps of 10 ms.
    this.#last = Math.max(this.#last, this.#read + at - this.#readAt)
    return this.#last
  }
}

const uptimeClock = new UptimeClock()

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => uptimeClock.ms(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return { cancel: () => clearTimeout(timer) }
  },
  every(ms, run) {
    const timer = setInterval(run, ms).unref()
    return { cancel: () => clearInterval(timer) }
  },
}

/** Starts a stopwatch. @returns reads the elapsed ms; for metrics only, never for decisions */
export function stopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

/** The format of every timestamp in output: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
