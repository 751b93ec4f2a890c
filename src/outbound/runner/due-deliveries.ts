// Reads due deliveries page by page and adds the messages that the limits allow to those in flight.

import type { Queue, QueuedDelivery, QueuePosition } from '../queue/queue.ts'
import { QueueCursor, type RangeRead, type SkipKey, START } from '../queue/queue-cursor.ts'
import type { InFlight } from './in-flight.ts'

/** Queue rows per query. */
const PAGE = 100

interface DueDeliveriesDeps {
  queue: Pick<Queue, 'due'>
  inFlight: InFlight
  /** Whether messages wait for a slot of a recipient domain. */
  hasWaiting(domain: string): boolean
  /** Those of some messages that wait for a time which has not come, although the clock in doubt says so. */
  scheduledLater(emails: readonly number[]): ReadonlySet<number>
}

/** What one page brought. */
export interface DuePage {
  /** Keys of messages that were added to those in flight: to be claimed. */
  emails: number[]
  /** True when nothing more is due that may be taken. */
  isLast: boolean
}

export class DueDeliveries {
  readonly #deps: DueDeliveriesDeps
  readonly #cursor = new QueueCursor()

  constructor(deps: DueDeliveriesDeps) {
    this.#deps = deps
  }

  /** Reads the queue from a time (ms) on again; from its beginning without one. */
  restart(from?: number): void {
    this.#cursor.restart(from)
  }

  /** Whether a page may bring more than the last one did, but for what became due since. */
  mayHaveMore(now: number): boolean {
    const { inFlight, hasWaiting } = this.#deps
    return !inFlight.isFull && this.#cursor.mayHaveMore(inFlight.excludedBy(inFlight.exclusions(now, hasWaiting)))
  }

  /** Reads the next page. What may not be taken is not read again until it may be. */
  next(now: number): DuePage {
    const { queue, inFlight, hasWaiting } = this.#deps
    const exclusions = inFlight.exclusions(now, hasWaiting)
    const excluded = inFlight.excludedBy(exclusions)
    const range = this.#cursor.range(excluded)
    const page = queue.due(now, PAGE, exclusions, range)
    const { emails, refused, end } = this.#add(page, range.after)
    // Deliveries may still become due in this millisecond.
    const last = { dueAt: now - 1, delivery: Number.MAX_SAFE_INTEGER }
    this.#cursor.note({ range, excluded, refused, end, last })
    return { emails, isLast: inFlight.isFull || (range.upTo === null && page.length < PAGE) }
  }

  /** Whether any due delivery may be taken. */
  isAnyDue(now: number): boolean {
    const { queue, inFlight, hasWaiting, scheduledLater } = this.#deps
    const exclusions = inFlight.exclusions(now, hasWaiting)
    for (let after = START; ; ) {
      const page = queue.due(now, PAGE, exclusions, { after, upTo: null })
      const later = scheduledLater(emailsOf(page))
      if (page.some(({ email }) => !later.has(email))) return true
      if (page.length < PAGE) return false
      after = page.at(-1)!
    }
  }

  /** Skips the lane of a delivery while its domain has a waiting list. @returns its key; null when too many are skipped already */
  skipLane(delivery: QueuedDelivery): SkipKey | null {
    return this.#deps.inFlight.skipLane(delivery)
  }

  /** Skips the origin of a delivery until then (ms). @returns its key; null when too many are skipped already */
  skipOrigin(delivery: QueuedDelivery, until: number): SkipKey | null {
    return this.#deps.inFlight.skipOrigin(delivery, until)
  }

  /** Notes that a delivery is in the queue again at its earlier time, where `key` skips it. */
  noteReturned(delivery: QueuedDelivery, key: SkipKey): void {
    this.#cursor.skip(key, before(delivery))
  }

  #add(
    page: readonly QueuedDelivery[],
    after: QueuePosition,
  ): Pick<RangeRead, 'refused' | 'end'> & { emails: number[] } {
    const { inFlight, scheduledLater } = this.#deps
    const later = scheduledLater(emailsOf(page))
    const emails = new Set<number>()
    const refused: RangeRead['refused'][number][] = []
    for (const [index, delivery] of page.entries()) {
      // A claim takes all due deliveries of a message.
      if (emails.has(delivery.email) || later.has(delivery.email)) continue
      if (inFlight.isFull) return { emails: [...emails], refused, end: page[index - 1] ?? after }
      const key = inFlight.refusal(delivery)
      if (key !== null) {
        refused.push({ key, after: before(delivery) })
        continue
      }
      inFlight.add(delivery)
      emails.add(delivery.email)
    }
    return { emails: [...emails], refused, end: page.length < PAGE ? null : page.at(-1)! }
  }
}

function emailsOf(page: readonly QueuedDelivery[]): number[] {
  return page.map(({ email }) => email)
}

/** The position that a delivery is directly behind. */
function before({ dueAt, delivery }: QueuedDelivery): QueuePosition {
  return { dueAt, delivery: delivery - 1 }
}
