// One value of a mail as a script compares it: octets, and what each comparator makes of them.

import { type Comparator, fold } from './comparators.ts'
import type { Meter } from './meter.ts'

export class Value {
  readonly octets: string
  readonly #folded = new Map<Comparator, string>()

  constructor(octets: string) {
    this.octets = octets
  }

  under(comparator: Comparator, meter: Meter): string {
    const known = this.#folded.get(comparator)
    if (known !== undefined) return known
    meter.spend(this.octets.length)
    const folded = fold(this.octets, comparator)
    this.#folded.set(comparator, folded)
    return folded
  }
}
