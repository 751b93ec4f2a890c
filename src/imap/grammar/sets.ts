// Sequence sets of RFC 9051 §9: numbers, ranges and `*`; resolved against the highest number in use.

import { SET_RANGES } from '../limits.ts'
import { type Cursor, ImapSyntaxError } from './cursor.ts'

/** `*`: the largest number in use. Greater than every number of 32 bits. */
export const STAR = 2 ** 32

/** A range of numbers, both ends included. As written the ends may be in any order, or {@link STAR}. */
export type NumberRange = readonly [first: number, last: number]

/** The set of a command: ranges as written, or `$`, the saved search result (RFC 9051 §6.4.4.1). */
export type SequenceSet = readonly NumberRange[] | '$'

/** `sequence-set`, with `$`. */
export function readSequenceSet(cursor: Cursor): SequenceSet {
  if (cursor.skip('$')) return '$'
  return readRanges(cursor)
}

/** `sequence-set` without `$`. */
function readRanges(cursor: Cursor): NumberRange[] {
  const ranges: NumberRange[] = []
  do {
    if (ranges.length === SET_RANGES) throw new ImapSyntaxError('The set has too many ranges.')
    const first = readSetNumber(cursor)
    ranges.push(cursor.skip(':') ? [first, readSetNumber(cursor)] : [first, first])
  } while (cursor.skip(','))
  return ranges
}

/** UID sets of QRESYNC parameters: numbers and ranges without `*` (RFC 7162 §7), normalised. */
export function readKnownUids(cursor: Cursor): NumberRange[] {
  const ranges = readRanges(cursor)
  if (ranges.some((range) => range.includes(STAR))) throw new ImapSyntaxError('The set must not contain *.')
  return normalizeRanges(ranges, 0)
}

function readSetNumber(cursor: Cursor): number {
  return cursor.skip('*') ? STAR : cursor.nzNumber()
}

/**
 * Ranges in ascending order that neither overlap nor touch.
 * @param highest what `*` stands for; ranges of `*` alone are dropped when it is 0
 */
export function normalizeRanges(ranges: readonly NumberRange[], highest: number): NumberRange[] {
  const sorted = ranges
    .map(([a, b]): [number, number] => {
      const [first, last] = [a === STAR ? highest : a, b === STAR ? highest : b]
      return first <= last ? [first, last] : [last, first]
    })
    .filter(([, last]) => last > 0)
    .sort((a, b) => a[0] - b[0])
  const merged: [number, number][] = []
  for (const [first, last] of sorted) {
    const previous = merged.at(-1)
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last)
    else merged.push([Math.max(first, 1), last])
  }
  return merged
}

/** A set as it is written in answers, such as `1:3,7`; of normalised ranges. */
export function formatRanges(ranges: readonly NumberRange[]): string {
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}:${last}`)).join(',')
}

/** Ascending numbers as ranges. */
export function rangesOf(numbers: Iterable<number>): NumberRange[] {
  const ranges: [number, number][] = []
  let current: [number, number] | undefined
  for (const number of numbers) {
    if (current !== undefined && number === current[1] + 1) current[1] = number
    else {
      current = [number, number]
      ranges.push(current)
    }
  }
  return ranges
}

/** Whether normalised ranges hold a number. */
export function rangesInclude(ranges: readonly NumberRange[], number: number): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]![1] < number) low = middle + 1
    else high = middle
  }
  return low < ranges.length && ranges[low]![0] <= number
}

/** Ascending ranges in pieces that hold at most `most` numbers each; ranges are cut where that is needed. */
export function* piecesOfRanges(ranges: readonly NumberRange[], most: number): Generator<NumberRange[]> {
  let piece: NumberRange[] = []
  let free = most
  for (const [first, last] of ranges) {
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from + free - 1)
      piece.push([from, to])
      free -= to - from + 1
      from = to + 1
      if (free > 0) continue
      yield piece
      piece = []
      free = most
    }
  }
  if (piece.length > 0) yield piece
}

/** How many numbers normalised ranges hold. */
export function countOf(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
}
