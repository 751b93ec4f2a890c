// Counts the work a script does over one mail, so that neither can hold a thread.

import { RunFault } from './errors.ts'

/** Octets that may be looked at, by whatever test. Measured: no script and mail found takes longer than some 50 ms for them. */
export const STEPS_MAX = 20_000_000

export class Meter {
  spent = 0
  readonly #most: number

  constructor(most = STEPS_MAX) {
    this.#most = most
  }

  /** @throws RunFault when too much was spent */
  spend(steps: number): void {
    this.spent += steps
    if (this.spent > this.#most) throw new RunFault('The script takes too much work over this mail.')
  }
}
