// Long work on the first thread, in slices: other connections get their turn after some milliseconds (docs/design/structure.md §3, decision 8).

import { stopwatch } from '../../base/clock.ts'
import { SLICE_MS } from '../grammar/limits.ts'

export class TimeSlice {
  #elapsed = stopwatch()

  /** The slice is used up: {@link pause} gives way. */
  get isOver(): boolean {
    return this.#elapsed() >= SLICE_MS
  }

  /** To be awaited after each small piece of work: gives way when the slice is used up. */
  async pause(): Promise<void> {
    if (!this.isOver) return
    await new Promise((resolve) => setImmediate(resolve))
    this.#elapsed = stopwatch()
  }
}
