// Counts the work of a script for one message, so that neither can block a thread.

import { SieveRuntimeError } from './errors.ts'

/** Octets that all tests may examine. Measured: at most about 50 ms for the worst scripts and messages found. */
export const STEPS_MAX = 20_000_000

export class WorkMeter {
  spent = 0
  readonly #most: number

  constructor(most = STEPS_MAX) {
    this.#most = most
  }

  /** @throws SieveRuntimeError when the limit is exceeded */
  spend(steps: number): void {
    this.spent += steps
    if (this.spent > this.#most) throw new SieveRuntimeError('The script takes too much work for this message.')
  }
}
