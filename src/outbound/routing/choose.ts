// The order in which accounts are tried. Pure functions.

import type { GroupStrategy } from '../providers/groups.ts'

/** An account that could carry the message. */
export interface Candidate {
  id: string
  /** Its share of the traffic; null means the mean of the others. */
  weight: number | null
  position: number
}

/**
 * The order in which candidates are tried.
 * @param turn counter for round_robin
 * @param random returns a new number from 0 to 1 on each call
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

/** A weighted random order. Candidates of weight 0 are excluded, unless all have weight 0. */
function drawn<C extends Candidate>(candidates: readonly C[], random: () => number): C[] {
  const known = candidates.flatMap(({ weight }) => (weight === null ? [] : [weight]))
  const mean = known.reduce((sum, weight) => sum + weight, 0) / known.length
  // If no weight is given, or all given weights are 0, any common value works.
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
