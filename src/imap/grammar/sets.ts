// Sequence sets of RFC 9051 §9: numbers, ranges and `*`; resolved against the highest number in use.

import { joinRanges, type NumberRange } from '../../base/number-ranges.ts'
import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { SET_RANGES } from './limits.ts'

/** `*`: the largest number in use. Greater than every number of 32 bits. */
export const STAR = 2 ** 32

/** The set of a command: ranges as written (their ends may be in any order, or {@link STAR}), or `$`, the saved search result (RFC 9051 §6.4.4.1). */
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
  const ordered = ranges.map(([a, b]): NumberRange => {
    const [one, other] = [a === STAR ? highest : a, b === STAR ? highest : b]
    return [Math.max(Math.min(one, other), 1), Math.max(one, other)]
  })
  return joinRanges(ordered.filter(([, last]) => last > 0))
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
