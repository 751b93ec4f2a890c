// Rate limit: requests left in this minute for each credential, or each address without one (docs/design/http.md §9).

import type { Clock, Timer } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import type { Limits, RateCount } from '../directory/names/limits.ts'

export const WINDOW_MS = MINUTE_MS
/** Requests per minute from one address without a valid credential. */
export const SOURCE_LIMIT = 120
const FLUSH_MS = 5_000
// Rows of one flush: the rest waits for the next, so that no flush blocks the database.
const FLUSH_MAX = 2_000
// Addresses counted individually; further ones share one count, so that a distributed flood uses bounded memory.
const SOURCES_MAX = 100_000
const OVERFLOW = 'address others'
const SOURCE = 'address '

/** The remaining allowance, as in the response headers. */
export interface Allowance {
  limit: number
  remaining: number
  /** Unix second at which the window ends. */
  reset: number
  /** True when this request exceeds the limit. */
  over: boolean
  /** Seconds until the window ends, at least 1. */
  retryAfter: number
}

export class RateLimit {
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #perCredential: number
  readonly #counts = new Map<string, number>()
  readonly #changed = new Set<string>()
  #sources = 0
  #start = 0
  #timer: Timer | undefined
  #flushing: Promise<void> = Promise.resolve()

  /** @param perCredential requests per minute of one credential */
  constructor(clock: Clock, limits: Limits, perCredential: number) {
    this.#clock = clock
    this.#limits = limits
    this.#perCredential = perCredential
  }

  /** Continues with the counts of the last process within the same minute. */
  start(failed: (error: unknown) => void): void {
    this.#roll()
    for (const { subject, count } of this.#limits.load(this.#start)) this.#add(subject, count)
    this.#changed.clear()
    this.#timer = this.#clock.every(FLUSH_MS, () => void this.flush().catch(failed))
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.flush()
  }

  /** Writes the changed counts, after any write that is still under way. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write())
    return this.#flushing
  }

  async #write(): Promise<void> {
    const rows: RateCount[] = []
    for (const subject of this.#changed) {
      if (rows.length === FLUSH_MAX) break
      rows.push({ subject, windowStart: this.#start, count: this.#counts.get(subject) ?? 0 })
      this.#changed.delete(subject)
    }
    if (rows.length > 0) await this.#limits.save(rows, this.#start)
  }

  /** Counts one request. @param credential id of the key or session; null counts for the address @param limit of the credential */
  take(credential: string | null, source: () => string, limit = this.#perCredential): Allowance {
    this.#roll()
    const subject = credential ?? this.#subjectOf(source())
    const count = this.#add(subject, 1)
    return this.#allowance(count, credential === null ? SOURCE_LIMIT : limit)
  }

  /** The remaining allowance, without counting. */
  peek(credential: string | null, source: () => string, limit = this.#perCredential): Allowance {
    this.#roll()
    const count = this.#counts.get(credential ?? this.#subjectOf(source())) ?? 0
    return this.#allowance(count, credential === null ? SOURCE_LIMIT : limit)
  }

  #subjectOf(source: string): string {
    const subject = SOURCE + source
    return this.#sources >= SOURCES_MAX && !this.#counts.has(subject) ? OVERFLOW : subject
  }

  #add(subject: string, more: number): number {
    const before = this.#counts.get(subject)
    if (before === undefined && subject.startsWith(SOURCE)) this.#sources++
    const count = (before ?? 0) + more
    this.#counts.set(subject, count)
    this.#changed.add(subject)
    return count
  }

  #roll(): void {
    const start = Math.floor(this.#clock.now() / WINDOW_MS) * WINDOW_MS
    if (start === this.#start) return
    this.#start = start
    this.#sources = 0
    this.#counts.clear()
    this.#changed.clear()
  }

  #allowance(count: number, limit: number): Allowance {
    const end = this.#start + WINDOW_MS
    return {
      limit,
      remaining: Math.max(0, limit - count),
      reset: end / 1000,
      over: count > limit,
      retryAfter: Math.max(1, Math.ceil((end - this.#clock.now()) / 1000)),
    }
  }
}
