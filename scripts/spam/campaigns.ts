// Divides messages by campaign: near-duplicates belong together, so that what trains a model never measures it.

/** The smallest hashes of a message that represent it, and how many two messages of a campaign share. */
const SKETCH = 32
const SHARED_MIN = 10
/** A hash in more messages than this says nothing about a campaign. */
const COMMON_MAX = 400

/** @param features hashed words of each message. @returns the number of each message's campaign */
export function campaignsOf(features: readonly Uint32Array[]): number[] {
  const parents = features.map((_, index) => index)
  const rootOf = (index: number): number => {
    let at = index
    while (parents[at] !== at) at = parents[at] = parents[parents[at]!]!
    return at
  }
  const sketches = features.map((list) => list.toSorted().subarray(0, SKETCH))
  const holders = new Map<number, number[]>()
  for (const [index, sketch] of sketches.entries()) {
    const shared = new Map<number, number>()
    for (const hash of sketch) {
      const list = holders.get(hash)
      if (list === undefined) holders.set(hash, [index])
      else if (list.length < COMMON_MAX) {
        for (const earlier of list) shared.set(earlier, (shared.get(earlier) ?? 0) + 1)
        list.push(index)
      }
    }
    for (const [earlier, count] of shared) if (count >= SHARED_MIN) parents[rootOf(index)] = rootOf(earlier)
  }
  return parents.map((_, index) => rootOf(index))
}

/** The half, 0 or 1, that a campaign belongs to. */
export function halfOf(campaign: number): 0 | 1 {
  return (Math.imul(campaign + 7, 0x9e3779b1) >>> 31) as 0 | 1
}
