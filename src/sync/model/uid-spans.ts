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
  // An import cuts a folder of many spans page by page: only the two at the ends are new.
  const cut = spans.slice(
    countUntil(spans, ([, to]) => to < first),
    countUntil(spans, ([from]) => from <= last),
  )
  if (cut.length === 0 || first > last) return []
  const [lowest] = cut[0]!
  if (lowest < first) cut[0] = [first, cut[0]![1]]
  const [from, to] = cut.at(-1)!
  if (to > last) cut[cut.length - 1] = [from, last]
  return cut
}

/** How many spans, from the first on, fulfil what all before one that does fulfil too. */
function countUntil(spans: readonly UidSpan[], fulfils: (span: UidSpan) => boolean): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (fulfils(spans[middle]!)) low = middle + 1
    else high = middle
  }
  return low
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

/** All UIDs of spans that are few. */
export function uidsOf(spans: readonly UidSpan[]): number[] {
  return spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))
}
