// PARTIAL (RFC 9394): positions in the result of SEARCH, SORT and UID FETCH, from its start or from its end.

import type { NumberRange } from '../../base/number-ranges.ts'
import { type Cursor, ImapSyntaxError } from './cursor.ts'

/** `first:last`: both positive, or both negative from the end of the result; the one nearer to that side comes first. */
export type PartialRange = readonly [first: number, last: number]

/** `partial-range` of RFC 9394 §4. */
export function readPartialRange(cursor: Cursor): PartialRange {
  const sign = cursor.isAt('-') ? -1 : 1
  const number = () => {
    if (sign < 0) cursor.expect('-')
    return cursor.nzNumber()
  }
  const first = number()
  cursor.expect(':')
  const second = number()
  // 500:400 is 400:500 (RFC 9394 §3.1).
  return [sign * Math.min(first, second), sign * Math.max(first, second)]
}

/** `PARTIAL range`, behind the word. @throws ImapSyntaxError when there was one before */
export function readPartial(cursor: Cursor, known: PartialRange | null): PartialRange {
  if (known !== null) throw new ImapSyntaxError('PARTIAL is allowed once.')
  cursor.space()
  return readPartialRange(cursor)
}

/** The positions of a range in a result of `count` items, from 0, the second one excluded; both are equal where it has none. */
export function positionsOf([first, last]: PartialRange, count: number): [from: number, to: number] {
  const [from, to] = first > 0 ? [first - 1, last] : [count + last, count + first + 1]
  const start = Math.min(Math.max(from, 0), count)
  return [start, Math.max(start, Math.min(to, count))]
}

/** The numbers at these positions in ascending ranges. */
export function partOfRanges(ranges: readonly NumberRange[], partial: PartialRange, count: number): NumberRange[] {
  const [from, to] = positionsOf(partial, count)
  const part: NumberRange[] = []
  let before = 0
  for (const [first, last] of ranges) {
    const start = Math.max(first, first + from - before)
    const end = Math.min(last, first + to - before - 1)
    if (start <= end) part.push([start, end])
    before += last - first + 1
    if (before >= to) break
  }
  return part
}
