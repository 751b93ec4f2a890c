// Counts the work a script does over one mail, so that neither can hold a thread.

import { RunFault } from './fault.ts'

/** Octets that may be looked at, by whatever test. Measured: no script and mail found takes longer than some 50 ms for them. */
export const STEPS_MAX = 20_000_000

export class Meter {
  #left: number

  constructor(steps = STEPS_MAX) {
    this.#left = steps
  }

  /** @throws RunFault when too much was spent */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new RunFault('The script takes too much work over this mail.')
  }
}
