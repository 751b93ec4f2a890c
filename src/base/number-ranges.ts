// Ranges of numbers, such as the UIDs of a folder: 200,000 of them are a few ranges. Ascending ranges neither overlap nor touch.

/** Both ends are included. */
export type NumberRange = readonly [first: number, last: number]

/** Ranges in any order, also overlapping ones, as ascending ranges. */
export function joinRanges(ranges: readonly NumberRange[]): NumberRange[] {
  const joined: [number, number][] = []
  for (const [first, last] of [...ranges].sort((one, other) => one[0] - other[0])) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

/** Whether ascending ranges hold a number. */
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

/** How many numbers ascending ranges hold. */
export function countOf(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
}
