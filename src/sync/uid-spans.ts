// Sets of UIDs as spans in ascending order without overlaps: a folder of 200,000 messages is a few of them.

import type { UidSpan } from './server.ts'

/** Distinct UIDs in any order as spans. */
export function spansOf(uids: readonly number[]): UidSpan[] {
  const spans: [number, number][] = []
  for (const uid of [...uids].sort((a, b) => a - b)) {
    const last = spans.at(-1)
    if (last !== undefined && uid <= last[1] + 1) last[1] = Math.max(last[1], uid)
    else spans.push([uid, uid])
  }
  return spans
}

/** Spans in any order, also overlapping ones, in ascending order and merged. */
export function merged(spans: readonly UidSpan[]): UidSpan[] {
  const result: [number, number][] = []
  for (const [first, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && first <= last[1] + 1) last[1] = Math.max(last[1], end)
    else result.push([first, end])
  }
  return result
}

/** What is in `a` and not in `b`. */
export function without(a: readonly UidSpan[], b: readonly UidSpan[]): UidSpan[] {
  const result: UidSpan[] = []
  let at = 0
  for (const [first, last] of a) {
    let from = first
    while (at < b.length && b[at]![1] < from) at++
    for (let next = at; next < b.length && b[next]![0] <= last; next++) {
      const [start, end] = b[next]!
      if (start > from) result.push([from, start - 1])
      from = Math.max(from, end + 1)
    }
    if (from <= last) result.push([from, last])
  }
  return result
}

/** What is from `first` to `last`, both included. */
export function within(spans: readonly UidSpan[], first: number, last: number): UidSpan[] {
  return spans.flatMap(([from, to]): UidSpan[] => {
    const [start, end] = [Math.max(from, first), Math.min(to, last)]
    return start <= end ? [[start, end]] : []
  })
}

export function countOf(spans: readonly UidSpan[]): number {
  return spans.reduce((sum, [first, last]) => sum + last - first + 1, 0)
}

/** The highest UIDs, at most `count`, as spans in ascending order. */
export function highest(spans: readonly UidSpan[], count: number): UidSpan[] {
  const result: UidSpan[] = []
  let left = count
  for (let at = spans.length - 1; at >= 0 && left > 0; at--) {
    const [first, last] = spans[at]!
    const from = Math.max(first, last - left + 1)
    result.unshift([from, last])
    left -= last - from + 1
  }
  return result
}

/** The spans in pieces of at most `count` UIDs, ascending. */
export function* pieces(spans: readonly UidSpan[], count: number): Generator<UidSpan[]> {
  let piece: UidSpan[] = []
  let left = count
  for (const span of spans) {
    let [first] = span
    const [, last] = span
    while (first <= last) {
      const end = Math.min(last, first + left - 1)
      piece.push([first, end])
      left -= end - first + 1
      first = end + 1
      if (left > 0) continue
      yield piece
      piece = []
      left = count
    }
  }
  if (piece.length > 0) yield piece
}

/** All UIDs of spans that are few. */
export function uidsOf(spans: readonly UidSpan[]): number[] {
  return spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))
}
