// Which account comes next: decided from values alone.

import type { GroupStrategy } from '../groups.ts'

/** An account that could carry the mail. */
export interface Candidate {
  id: string
  /** Its share of the traffic; null for the mean of the others. */
  weight: number | null
  position: number
}

/**
 * The order in which candidates are tried.
 * @param turn whose turn it is, for round_robin
 * @param random 0 to 1, drawn anew for each call
 */
export function orderOf<C extends Candidate>(
  candidates: readonly C[],
  strategy: GroupStrategy,
  turn: number,
  random: () => number,
): C[] {
  const sorted = candidates.toSorted((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
  if (strategy === 'failover' || sorted.length < 2) return sorted
  if (strategy === 'round_robin') {
    const first = turn % sorted.length
    return [...sorted.slice(first), ...sorted.slice(0, first)]
  }
  return drawn(sorted, random)
}

/** Draws one after another by weight. Weight 0 takes no traffic, unless nobody has another one. */
function drawn<C extends Candidate>(candidates: readonly C[], random: () => number): C[] {
  const known = candidates.flatMap(({ weight }) => (weight === null ? [] : [weight]))
  const mean = known.reduce((sum, weight) => sum + weight, 0) / known.length
  // Where nobody says anything, or all others say 0, one share is as good as another.
  const weighed = candidates.map((candidate) => ({ candidate, weight: candidate.weight ?? (mean || 1) }))
  const some = weighed.filter(({ weight }) => weight > 0)
  const left = some.length > 0 ? some : weighed.map(({ candidate }) => ({ candidate, weight: 1 }))
  const order: C[] = []
  while (left.length > 0) {
    const sum = left.reduce((total, { weight }) => total + weight, 0)
    let point = random() * sum
    const index = left.findIndex(({ weight }) => {
      point -= weight
      return point < 0
    })
    const [next] = left.splice(index === -1 ? left.length - 1 : index, 1)
    order.push(next!.candidate)
  }
  return order
}
