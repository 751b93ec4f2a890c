// The difference of two texts, word by word: which words only one of them has.

export interface WordRun {
  text: string
  isOnlyHere: boolean
}

/** The words of `text`, marked where `other` does not have them in this order. */
export function markWords(text: string, other: string): WordRun[] {
  const words = text.split(/\s+/).filter(Boolean)
  const common = longestCommon(words, other.split(/\s+/).filter(Boolean))
  return words.map((word, index) => ({ text: word, isOnlyHere: !common.has(index) }))
}

/** Indexes of the words of `left` that are in a longest common subsequence. */
function longestCommon(left: readonly string[], right: readonly string[]): Set<number> {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0))
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        left[i] === right[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  const kept = new Set<number>()
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      kept.add(i)
      i++
      j++
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++
    else j++
  }
  return kept
}
