// Strangers who try unknown recipients: the first of each minute are told one by one, the rest is counted.

/** Rows per source and minute (decisions §6.4). */
export const PROBES_PER_MINUTE = 20
/** Sources whose counts are kept apart; those beyond share one. */
export const MAX_SOURCES = 10_000

const MINUTE_MS = 60_000

/** One try, and whose log it belongs to. */
export interface Probe {
  address: string
  domain: string
  teamId: string
}

/** How many tries of the same kind came beyond those told. */
export interface ProbeCount {
  probe: Probe
  more: number
}

export class Probes {
  #minute = 0
  /** Tries of this minute by source. */
  #bySource = new Map<string, number>()
  /** What was counted only, by source and domain. */
  #counted = new Map<string, ProbeCount>()
  #finished: ProbeCount[] = []

  /** @returns true when the try is told by its own row */
  admit(probe: Probe, now: number): boolean {
    this.#turn(now)
    const crowded = this.#bySource.size >= MAX_SOURCES && !this.#bySource.has(probe.address)
    const source = crowded ? '' : probe.address
    const tries = (this.#bySource.get(source) ?? 0) + 1
    this.#bySource.set(source, tries)
    if (tries <= PROBES_PER_MINUTE) return true
    const key = `${source} ${probe.domain}`
    const count = this.#counted.get(key)
    if (count) count.more++
    else this.#counted.set(key, { probe, more: 1 })
    return false
  }

  /** The counts of minutes that are over. Each is given out once. */
  take(now: number): ProbeCount[] {
    this.#turn(now)
    return this.#finished.splice(0)
  }

  /** All counts, that of the minute under way too. */
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
