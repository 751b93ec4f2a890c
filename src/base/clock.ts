// Time as a part that can be replaced: the product asks the clock, tests move it.

import { uptime } from 'node:os'

/** A timer that can be called off. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Milliseconds since some fixed moment, the sleep of the machine included. Nobody can set it: what passes here has passed. */
  monotonic(): number
  /** Calls `run` once after `ms` milliseconds. Does not keep the process alive. */
  after(ms: number, run: () => void): Timer
  /** Calls `run` every `ms` milliseconds. Does not keep the process alive. */
  every(ms: number, run: () => void): Timer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // CLOCK_MONOTONIC, and with it performance.now(), stands still while a machine is suspended.
  monotonic: () => uptime() * 1000,
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return { cancel: () => clearTimeout(timer) }
  },
  every(ms, run) {
    const timer = setInterval(run, ms).unref()
    return { cancel: () => clearInterval(timer) }
  },
}

/** Begins to measure. @returns tells the ms since then: for what is shown to the operator, never for what is decided */
export function stopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

/** The form of every timestamp that leaves the house: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
