// The clock interface: the product reads time only through it, so that tests can control it.

import { uptime } from 'node:os'

/** A timer that can be cancelled. */
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

export const systemClock: Clock = {
  now: () => Date.now(),
  // CLOCK_MONOTONIC, and therefore performance.now(), stops while a machine is suspended.
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

/** Starts a stopwatch. @returns reads the elapsed ms; for metrics only, never for decisions */
export function stopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

/** The format of every timestamp in output: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
