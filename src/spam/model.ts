// A linear model over hashed features: logistic regression that learns one message at a time (AdaGrad).

/** Step of the first update of a weight; measured in docs/design/spam.md §5. */
const RATE = 0.3
/** Keeps the first step of a weight finite. */
const EPSILON = 1e-3

/** Features of one message in groups; each group counts alike, however many features it has. */
export type FeatureViews = readonly Uint32Array[]

/** The sum of the weights of each view, divided by the square root of its size. */
export function logOddsOf(weights: ArrayLike<number>, views: FeatureViews): number {
  const mask = weights.length - 1
  let total = 0
  for (const features of views) {
    let sum = 0
    for (let at = 0; at < features.length; at++) sum += weights[features[at]! & mask]!
    total += sum / Math.sqrt(features.length + 1)
  }
  return total
}

export function probability(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

/** Weights of 2^bits slots; features share a slot when their hashes end alike. */
export class SpamModel {
  readonly bits: number
  readonly #weights: Float32Array
  readonly #squares: Float32Array

  constructor(bits: number) {
    this.bits = bits
    this.#weights = new Float32Array(2 ** bits)
    this.#squares = new Float32Array(2 ** bits)
  }

  get weights(): Float32Array {
    return this.#weights
  }

  /** Log-odds that the message is spam, by this model alone. */
  logOdds(views: FeatureViews): number {
    return logOddsOf(this.#weights, views)
  }

  /**
   * One step toward the label.
   * @param prior log-odds that other models add: this model learns what they miss
   * @param share weight of the example, 1 for a whole one
   */
  learn(views: FeatureViews, isSpam: boolean, { prior = 0, share = 1 } = {}): void {
    const error = (Number(isSpam) - probability(prior + this.logOdds(views))) * share
    const mask = this.#weights.length - 1
    for (const features of views) {
      const gradient = error / Math.sqrt(features.length + 1)
      const square = gradient * gradient
      for (let at = 0; at < features.length; at++) {
        const slot = features[at]! & mask
        const sum = this.#squares[slot]! + square
        this.#squares[slot] = sum
        this.#weights[slot]! += (RATE * gradient) / (EPSILON + Math.sqrt(sum))
      }
    }
  }
}
