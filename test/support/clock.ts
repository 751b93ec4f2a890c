// A clock that does not advance until a test advances it.

import type { Clock, Timer } from '../../src/base/clock.ts'

interface Alarm {
  at: number
  /** 0 for a one-shot timer. */
  every: number
  run: () => void
}

/** Rounds of one timer that one advance of the clock runs. */
const ROUNDS_MAX = 1000

/** When a repeated timer runs next. */
function nextRound({ at, every }: Alarm, end: number): number {
  const rounds = Math.floor((end - at) / every)
  return rounds > ROUNDS_MAX ? at + rounds * every : at + every
}

export class ManualClock implements Clock {
  #now: number
  #monotonic = 0
  readonly #alarms = new Set<Alarm>()

  /** @param start ms; 2026-01-01T00:00:00Z unless given */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** Sets the clock as an operator or a time server does: no time passes. */
  set(now: number): void {
    const step = now - this.#now
    this.#now = now
    // Real timers count elapsed time, not the time of the clock.
    for (const alarm of this.#alarms) alarm.at += step
  }

  after(ms: number, run: () => void): Timer {
    return this.#set({ at: this.#now + ms, every: 0, run })
  }

  every(ms: number, run: () => void): Timer {
    return this.#set({ at: this.#now + ms, every: ms, run })
  }

  /**
   * Advances time, and runs every timer at its own time. A repeated timer with very many rounds runs in the first and the last of them: no other
   * work happens between rounds that this method runs one after the other.
   */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#pass(Math.max(0, next.at - this.#now))
      if (next.every > 0) next.at = nextRound(next, end)
      else this.#alarms.delete(next)
      next.run()
    }
    this.#pass(end - this.#now)
  }

  /** Advances time as for a machine that slept: every due timer runs once, at the end. For long times. */
  leap(ms: number): void {
    this.#pass(ms)
    const due = [...this.#alarms].filter(({ at }) => at <= this.#now)
    for (const alarm of due) {
      if (alarm.every > 0) alarm.at = this.#now + alarm.every
      else this.#alarms.delete(alarm)
    }
    for (const { run } of due) run()
  }

  #pass(ms: number): void {
    this.#now += ms
    this.#monotonic += ms
  }

  #set(alarm: Alarm): Timer {
    this.#alarms.add(alarm)
    return { cancel: () => this.#alarms.delete(alarm) }
  }

  #next(end: number): Alarm | undefined {
    let first: Alarm | undefined
    for (const alarm of this.#alarms) if (alarm.at <= end && (first === undefined || alarm.at < first.at)) first = alarm
    return first
  }
}
