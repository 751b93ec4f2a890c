// The messages of a folder as one session knows them: ascending UIDs as runs, sequence numbers by binary search, differences of two views.

import type { NumberRange } from '../../base/number-ranges.ts'

/** Consecutive UIDs. */
export interface UidRun {
  first: number
  count: number
}

/** UIDs in ascending order, immutable: shared by all sessions on the folder. Sequence numbers start at 1. */
export class UidView {
  /** How many messages there are. */
  readonly count: number
  /** First UID of each run. */
  readonly #firsts: Uint32Array
  /** Messages before each run; one more than runs. */
  readonly #before: Float64Array

  /** @param firsts first UID of each run @param before messages before each run, and all of them at the end */
  private constructor(firsts: Uint32Array, before: Float64Array) {
    this.#firsts = firsts
    this.#before = before
    this.count = before.at(-1)!
  }

  static readonly EMPTY = UidView.ofRuns([])

  /** @param runs in ascending order; runs that touch are joined */
  static ofRuns(runs: Iterable<UidRun>): UidView {
    const firsts: number[] = []
    const before: number[] = []
    let [count, next] = [0, -1]
    for (const run of runs) {
      if (run.count === 0) continue
      if (run.first !== next) {
        firsts.push(run.first)
        before.push(count)
      }
      count += run.count
      next = run.first + run.count
    }
    before.push(count)
    return new UidView(Uint32Array.from(firsts), Float64Array.from(before))
  }

  /** As the store has it. @param counts UIDs before each run; one value per run, and no two runs touch */
  static of({ firsts, counts, size }: { firsts: Uint32Array; counts: Uint32Array; size: number }): UidView {
    const before = new Float64Array(counts.length + 1)
    before.set(counts)
    before[counts.length] = size
    return new UidView(firsts, before)
  }

  /** The highest UID; 0 when the folder is empty. */
  get lastUid(): number {
    return this.count === 0 ? 0 : this.uidAt(this.count)
  }

  get runs(): number {
    return this.#firsts.length
  }

  /** The UID of a sequence number in 1…count. */
  uidAt(sequence: number): number {
    const run = lastAtMost(this.#before, this.#firsts.length, sequence - 1)
    return this.#firsts[run]! + (sequence - 1 - this.#before[run]!)
  }

  /** The sequence number of a UID; 0 when there is no such message. */
  sequenceOf(uid: number): number {
    const sequence = this.sequenceUpTo(uid)
    return sequence > 0 && this.uidAt(sequence) === uid ? sequence : 0
  }

  /** How many messages have a UID of at most this one. */
  sequenceUpTo(uid: number): number {
    const run = lastAtMost(this.#firsts, this.#firsts.length, uid)
    if (run < 0) return 0
    return Math.min(this.#before[run]! + (uid - this.#firsts[run]! + 1), this.#before[run + 1]!)
  }

  /** The UIDs that exist, as ascending ranges. */
  ranges(): NumberRange[] {
    return Array.from(this.#firsts, (first, run): NumberRange => [first, this.#lastOf(run)])
  }

  #lastOf(run: number): number {
    return this.#firsts[run]! + this.#length(run) - 1
  }

  #length(run: number): number {
    return this.#before[run + 1]! - this.#before[run]!
  }

  /** The existing UIDs within normalised ranges of UIDs, as ascending ranges. */
  within(ranges: readonly NumberRange[]): NumberRange[] {
    const found: NumberRange[] = []
    for (const [first, last] of ranges) {
      let run = Math.max(lastAtMost(this.#firsts, this.#firsts.length, first), 0)
      for (; run < this.#firsts.length && this.#firsts[run]! <= last; run++) {
        const end = this.#firsts[run]! + this.#length(run) - 1
        if (end >= first) found.push([Math.max(first, this.#firsts[run]!), Math.min(last, end)])
      }
    }
    return found
  }

  /** How many UIDs of normalised ranges exist. */
  countWithin(ranges: readonly NumberRange[]): number {
    return ranges.reduce((sum, [first, last]) => sum + this.sequenceUpTo(last) - this.sequenceUpTo(first - 1), 0)
  }

  /** The UIDs of normalised ranges of sequence numbers, as ascending ranges. Numbers above the count are left out. */
  uidsOf(sequences: readonly NumberRange[]): NumberRange[] {
    const uids: NumberRange[] = []
    for (const [first, last] of sequences) {
      if (first > this.count) break
      uids.push([this.uidAt(first), this.uidAt(Math.min(last, this.count))])
    }
    return this.within(uids)
  }

  /** The sequence numbers of ascending ranges of UIDs that all exist. */
  sequencesOf(uids: readonly NumberRange[]): NumberRange[] {
    const sequences: [number, number][] = []
    let current: [number, number] | undefined
    for (const [first, last] of uids) {
      const from = this.sequenceUpTo(first)
      const to = from + last - first
      if (current !== undefined && from === current[1] + 1) current[1] = to
      else {
        current = [from, to]
        sequences.push(current)
      }
    }
    return sequences
  }

  /** UIDs of this view that the other one lacks, as ascending ranges. */
  minus(other: UidView): NumberRange[] {
    const left: NumberRange[] = []
    let at = 0
    for (let run = 0; other !== this && run < this.runs; run++) {
      const last = this.#lastOf(run)
      let next = this.#firsts[run]!
      while (at < other.runs && other.#lastOf(at) < next) at++
      for (let i = at; i < other.runs && other.#firsts[i]! <= last; i++) {
        if (other.#firsts[i]! > next) left.push([next, other.#firsts[i]! - 1])
        next = Math.max(next, other.#lastOf(i) + 1)
      }
      if (next <= last) left.push([next, last])
    }
    return left
  }

  /** This view without ascending ranges of UIDs. */
  without(uids: readonly NumberRange[]): UidView {
    return UidView.ofRuns(subtractRanges(this.ranges(), uids).map(toRun))
  }

  /** This view with the messages of `next` above its own last UID: what may be announced while nothing may be removed. */
  withTailOf(next: UidView): UidView {
    const own: UidRun[] = this.ranges().map(toRun)
    return UidView.ofRuns([...own, ...next.within([[this.lastUid + 1, 2 ** 32 - 1]]).map(toRun)])
  }
}

/** A range as a run. */
export function toRun([first, last]: NumberRange): UidRun {
  return { first, count: last - first + 1 }
}

/** Ascending ranges without the numbers of other ascending ranges. */
export function subtractRanges(ranges: readonly NumberRange[], others: readonly NumberRange[]): NumberRange[] {
  const rest: NumberRange[] = []
  let at = 0
  for (const [first, last] of ranges) {
    let next = first
    while (at < others.length && others[at]![1] < next) at++
    for (let i = at; i < others.length && others[i]![0] <= last; i++) {
      if (others[i]![0] > next) rest.push([next, others[i]![0] - 1])
      next = Math.max(next, others[i]![1] + 1)
    }
    if (next <= last) rest.push([next, last])
  }
  return rest
}

/** Numbers that are in both of two lists of ascending ranges. */
export function intersectRanges(ranges: readonly NumberRange[], others: readonly NumberRange[]): NumberRange[] {
  return subtractRanges(ranges, subtractRanges(ranges, others))
}

/** The last index whose value is at most `value`, within the first `length`; -1 when there is none. */
function lastAtMost(values: Uint32Array | Float64Array, length: number, value: number): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
