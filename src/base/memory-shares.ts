// The memory for large messages of the whole process: a number of bytes that is shared fairly among the sources of the messages.

import type { Clock } from './clock.ts'
import { MINUTE_MS } from './durations.ts'
import { ProductError } from './errors.ts'
import { type MemoryShare, shareBytes } from './machine-memory.ts'

const MIB = 1024 * 1024

/** Smaller messages need no turn: they are bounded in number where they arrive, and pass while large ones wait. */
export const LARGE_FROM_BYTES = MIB
/**
 * Bytes of memory for each byte of a large message: as received, as stored, and its compressed chunks. Measured: 2.0 for an arriving message
 * of 39 MiB, 2.6 for a composed one.
 */
const COPIES = 2.5
/** One message of the largest size always fits; on a machine with 2 GiB ten do. */
const SHARE: MemoryShare = { share: 0.5, least: 96 * MIB, most: 1280 * MIB }

/** A turn that has not come by then is given up: clients of SMTP wait ten minutes for the reply (RFC 5321 §4.5.3.2.6). */
const WAIT_MS = 4 * MINUTE_MS
/** Callers of one source that may wait, and of all. */
const WAITING_OF_SOURCE_MAX = 50
const WAITING_MAX = 1000

interface Waiter {
  amount: number
  /** In the order of arrival. */
  number: number
  go(): void
}

interface Source {
  held: number
  waiting: Waiter[]
  /** When it was last given memory, as a number of turns; of a new one, when it came: newer ones do not overtake it for ever. */
  servedAt: number
}

/** What other budgets than the one for large messages differ in. */
export interface ShareLimits {
  /** Smaller messages need no turn. */
  from?: number
  /** Bytes that one source may hold; all, unless given. */
  each?: number
  /** A turn that has not come by then is given up, ms; {@link WAIT_MS} unless given. */
  waitMs?: number
}

/** No turn came in time, or too many wait for one. */
export class MemoryExhausted extends ProductError {
  constructor() {
    super('service_unavailable', 'Too many large messages are in progress. Try again in a minute.', { retryAfter: 60 })
  }
}

/**
 * Bytes for large messages. The next turn is given to the source that holds least, and among equals to the one that has waited longest for
 * one: a source that sends many large messages delays its own, and those of others by one message at most.
 */
export class MemoryShares {
  readonly total: number
  readonly #clock: Pick<Clock, 'after'>
  readonly #copies: number
  readonly #from: number
  readonly #each: number
  readonly #waitMs: number
  /** Only sources that hold memory or wait for it. */
  readonly #sources = new Map<string, Source>()
  #free: number
  #turns = 0
  #arrivals = 0

  constructor(
    clock: Pick<Clock, 'after'>,
    total = shareBytes(SHARE),
    copies = COPIES,
    { from = LARGE_FROM_BYTES, each = total, waitMs = WAIT_MS }: ShareLimits = {},
  ) {
    this.#clock = clock
    this.#from = from
    this.#each = each
    this.#waitMs = waitMs
    this.#copies = copies
    this.total = total
    this.#free = total
  }

  /** How many callers wait. */
  get waiting(): number {
    let count = 0
    for (const { waiting } of this.#sources.values()) count += waiting.length
    return count
  }

  /** Free bytes. */
  get free(): number {
    return this.#free
  }

  /**
   * Runs the work on a message while it holds the memory for it; a small one needs none. The work must not ask for memory of this budget
   * again: two that wait for each other would wait for ever.
   * @param source whose share it is: an address, a mailbox, a team
   * @throws MemoryExhausted
   */
  async during<T>(sizeBytes: number, source: string, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(sizeBytes, source)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** The memory for a message of this size. @returns releases it @throws MemoryExhausted */
  async acquire(sizeBytes: number, source: string): Promise<() => void> {
    if (sizeBytes < this.#from) return () => {}
    if (this.waiting >= WAITING_MAX || this.#waitingOf(source) >= WAITING_OF_SOURCE_MAX) throw new MemoryExhausted()
    const amount = Math.min(Math.ceil(sizeBytes * this.#copies), this.#each)
    const own = this.#sources.get(source) ?? { held: 0, waiting: [], servedAt: this.#turns }
    this.#sources.set(source, own)
    await new Promise<void>((resolve, reject) => {
      const timer = this.#clock.after(this.#waitMs, () => {
        own.waiting.splice(own.waiting.indexOf(waiter), 1)
        this.#forget(source, own)
        reject(new MemoryExhausted())
        // It may have been the one that the others waited for.
        this.#serve()
      })
      const go = () => {
        timer.cancel()
        resolve()
      }
      const waiter: Waiter = { amount, number: ++this.#arrivals, go }
      own.waiting.push(waiter)
      this.#serve()
    })
    return this.#releaseOf(source, own, amount)
  }

  #releaseOf(name: string, source: Source, amount: number): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      source.held -= amount
      this.#free += amount
      this.#forget(name, source)
      this.#serve()
    }
  }

  #waitingOf(name: string): number {
    return this.#sources.get(name)?.waiting.length ?? 0
  }

  #forget(name: string, source: Source): void {
    if (source.held === 0 && source.waiting.length === 0 && this.#sources.get(name) === source)
      this.#sources.delete(name)
  }

  /** Gives turns as long as the next one fits: what is larger than the free memory is not overtaken, or it would wait for ever. */
  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [waiter] = next.waiting as [Waiter]
      if (waiter.amount > this.#free) return
      next.waiting.shift()
      next.held += waiter.amount
      next.servedAt = ++this.#turns
      this.#free -= waiter.amount
      waiter.go()
    }
  }

  #next(): Source | undefined {
    let best: Source | undefined
    for (const source of this.#sources.values()) {
      if (this.#isNext(source) && (best === undefined || isBefore(source, best))) best = source
    }
    return best
  }

  #isNext({ waiting: [first], held }: Source): boolean {
    return first !== undefined && held + first.amount <= this.#each
  }
}

function isBefore(a: Source, b: Source): boolean {
  if (a.held !== b.held) return a.held < b.held
  if (a.servedAt !== b.servedAt) return a.servedAt < b.servedAt
  return a.waiting[0]!.number < b.waiting[0]!.number
}
