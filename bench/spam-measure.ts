// What a classifier is worth: the share of wrong pairs, and the spam caught at a stated loss of good messages.

/** Scores and labels of messages in their order; a higher score is more like spam. */
export interface Verdicts {
  scores: number[]
  labels: boolean[]
}

export interface Worth {
  /** Share of pairs of a good message and spam in the wrong order, in percent: 1-AUC. */
  wrongPairs: number
  /** Spam above the score that 0.1 % and 0.5 % of the good messages exceed, in percent. */
  caught: [number, number]
}

const HAM_LOSSES = [0.001, 0.005] as const

export function worthOf({ scores, labels }: Verdicts): Worth {
  const order = scores.map((_, index) => index).sort((a, b) => scores[b]! - scores[a]!)
  const spam = labels.filter(Boolean).length
  const good = labels.length - spam
  let [goodAbove, wrong] = [0, 0]
  for (const index of order) {
    if (labels[index]) wrong += goodAbove
    else goodAbove++
  }
  const caught = HAM_LOSSES.map((loss) => {
    // Good messages with the score of the last one that may be lost are lost too: only higher scores are caught.
    const limits = order.filter((index) => !labels[index])
    const limit = scores[limits[Math.floor(good * loss)]!]!
    return (100 * scores.filter((score, index) => labels[index] && score > limit).length) / spam
  })
  return { wrongPairs: (100 * wrong) / (good * spam), caught: caught as [number, number] }
}

export function secondHalf({ scores, labels }: Verdicts): Verdicts {
  const from = scores.length >> 1
  return { scores: scores.slice(from), labels: labels.slice(from) }
}
