// A value of a message to compare, cached per comparator.

import { type Comparator, fold } from './comparators.ts'
import type { WorkMeter } from './meter.ts'

export class SieveValue {
  readonly octets: string
  readonly #folded = new Map<Comparator, string>()

  constructor(octets: string) {
    this.octets = octets
  }

  foldedFor(comparator: Comparator, meter: WorkMeter): string {
    const known = this.#folded.get(comparator)
    if (known !== undefined) return known
    meter.spend(this.octets.length)
    const folded = fold(this.octets, comparator)
    this.#folded.set(comparator, folded)
    return folded
  }
}
