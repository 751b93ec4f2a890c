// Limits the CPU work of applying style sheets to one message.

/** Steps of matching selectors and reading values: about a second, on a slow machine. */
export const WORK_MAX = 5_000_000

/** Thrown when the step limit is reached. */
export class WorkSpent extends Error {}

/** Counts steps. The same message always takes the same number of them. */
export class Work {
  steps = 0

  /** @throws WorkSpent when there were too many */
  take(steps: number): void {
    this.steps += steps
    if (this.steps > WORK_MAX) throw new WorkSpent('Too many steps')
  }

  get isSpent(): boolean {
    return this.steps > WORK_MAX
  }
}
