// How far the queue of due deliveries has been read: deliveries that may not be taken yet are not read again until they may be.

import type { QueuePosition } from './queue.ts'

/** What keeps deliveries from being taken: a team, origin or lane, or the number of a message in flight. */
export type SkipKey = string | number

/** The part of the queue to read next: behind a position, up to another one or to the end. */
export interface QueueRange {
  after: QueuePosition
  upTo: QueuePosition | null
}

/** What is kept out of the queries now. */
export interface ExcludedKeys {
  /** What the query skips; messages in flight are not among them. */
  readonly names: Iterable<SkipKey>
  has(key: SkipKey): boolean
}

/** What a query has read of a range. */
export interface RangeRead {
  range: QueueRange
  excluded: ExcludedKeys
  /** The positions before deliveries that it returned and that were not taken, and why they were not. */
  refused: readonly { key: SkipKey; after: QueuePosition }[]
  /** Up to where the range has been read; null: to its end. */
  end: QueuePosition | null
  /** The end of what was due. */
  last: QueuePosition
}

/** Before all deliveries. */
export const START: QueuePosition = { dueAt: -1, delivery: 0 }

/**
 * Every due delivery up to the front is leased, or is skipped by a key whose position is not behind it. New deliveries that are due
 * before the front are found after {@link restart} only.
 */
export class QueueCursor {
  #front = START
  /** True when nothing was due behind the front that is not leased or skipped. */
  #isAtEnd = false
  /** The position behind which the first delivery may be that the key kept from being taken. */
  readonly #skipped = new Map<SkipKey, QueuePosition>()

  /** Reads everything again from a time (ms) on. */
  restart(from = -1): void {
    if (from < this.#front.dueAt) this.#front = { dueAt: from, delivery: 0 }
    this.#isAtEnd = false
    if (from < 0) this.#skipped.clear()
  }

  /** Whether more may be taken than at the last read, but for what became due since. */
  mayHaveMore(excluded: ExcludedKeys): boolean {
    if (!this.#isAtEnd) return true
    for (const key of this.#skipped.keys()) if (!excluded.has(key)) return true
    return false
  }

  /** The range to read next: what was skipped and no longer is, else what is behind the front. */
  range(excluded: ExcludedKeys): QueueRange {
    const freed = [...this.#skipped].filter(([key]) => !excluded.has(key)).map(([, at]) => at)
    if (freed.length === 0) return { after: this.#front, upTo: null }
    return { after: freed.reduce(earlier), upTo: this.#front }
  }

  /** Notes what was read of the range that {@link range} gave for the same exclusions. */
  note({ range: { after, upTo }, excluded, refused, end, last }: RangeRead): void {
    if (upTo === null) {
      this.#front = end ?? last
      this.#isAtEnd = end === null
    } else this.#forgetRead(excluded, end)
    for (const key of excluded.names) this.skip(key, after)
    for (const one of refused) this.skip(one.key, one.after)
  }

  /** Notes that a delivery behind a position stays in the queue because of the key. */
  skip(key: SkipKey, at: QueuePosition): void {
    const known = this.#skipped.get(key)
    this.#skipped.set(key, known === undefined ? at : earlier(known, at))
  }

  /** Nothing is left before `end` (null: before the front) that only keys which are no longer excluded kept from being taken. */
  #forgetRead(excluded: ExcludedKeys, end: QueuePosition | null): void {
    for (const [key, at] of this.#skipped) {
      if (excluded.has(key)) continue
      if (end === null) this.#skipped.delete(key)
      else if (isBefore(at, end)) this.#skipped.set(key, end)
    }
  }
}

function isBefore(one: QueuePosition, other: QueuePosition): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.delivery < other.delivery)
}

function earlier(one: QueuePosition, other: QueuePosition): QueuePosition {
  return isBefore(other, one) ? other : one
}
