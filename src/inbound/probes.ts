// Counts attempts to guess recipients: the first per source and minute get a row each in the inbound log, the rest one sum.

import { MINUTE_MS } from '../base/durations.ts'

/** Rows per source and minute (docs/design/receiving.md §2). */
export const PROBES_PER_MINUTE = 20
/** Sources with a count of their own; sources beyond this limit share one. */
export const MAX_SOURCES = 10_000

/** One attempt, and the team whose log it belongs to. */
export interface Probe {
  address: string
  domain: string
  teamId: string
}

/** Number of attempts of the same source, domain and team without a row of their own. */
export interface ProbeCount {
  probe: Probe
  more: number
}

export class Probes {
  #minute = 0
  /** Attempts of this minute by source. */
  #bySource = new Map<string, number>()
  /** Attempts without a row, by source and domain. */
  #counted = new Map<string, ProbeCount>()
  #finished: ProbeCount[] = []

  /** @returns true when the attempt gets its own row */
  admit(probe: Probe, now: number): boolean {
    this.#turn(now)
    const isFull = this.#bySource.size >= MAX_SOURCES && !this.#bySource.has(probe.address)
    const source = isFull ? '' : probe.address
    const tries = (this.#bySource.get(source) ?? 0) + 1
    this.#bySource.set(source, tries)
    if (tries <= PROBES_PER_MINUTE) return true
    const key = `${source} ${probe.domain}`
    const count = this.#counted.get(key)
    if (count) count.more++
    else this.#counted.set(key, { probe, more: 1 })
    return false
  }

  /** Counts of minutes that have ended; each is returned once. */
  takeFinished(now: number): ProbeCount[] {
    this.#turn(now)
    return this.#finished.splice(0)
  }

  /** All counts, including the current minute. */
  takeAll(): ProbeCount[] {
    this.#close()
    return this.#finished.splice(0)
  }

  #turn(now: number): void {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute === this.#minute) return
    this.#close()
    this.#minute = minute
  }

  #close(): void {
    this.#finished.push(...this.#counted.values())
    this.#counted = new Map()
    this.#bySource = new Map()
  }
}
