// Long work on the first thread, in slices: other connections get their turn after some milliseconds (imap.md §1, decision 8).

import { stopwatch } from '../base/clock.ts'
import { SLICE_MS } from './limits.ts'

export class TimeSlice {
  #elapsed = stopwatch()

  /** To be awaited after each small piece of work: gives way when the slice is used up. */
  async pause(): Promise<void> {
    if (this.#elapsed() < SLICE_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    this.#elapsed = stopwatch()
  }
}
