// Limits the CPU work of applying style sheets to one message.

/** Steps of selector matching and value parsing: about one second on a slow machine. */
export const WORK_MAX = 5_000_000

/** Thrown when the step limit is reached. */
export class WorkSpent extends Error {}

/** Counts steps. The same message always takes the same number of them. */
export class Work {
  steps = 0

  /** @throws WorkSpent above the limit */
  take(steps: number): void {
    this.steps += steps
    if (this.steps > WORK_MAX) throw new WorkSpent('Too many steps')
  }

  get isSpent(): boolean {
    return this.steps > WORK_MAX
  }
}
