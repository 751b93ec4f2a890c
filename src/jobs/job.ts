// The type of a periodic job. A job takes its work from the database and is idempotent.

import type { Log } from '../base/log.ts'
import type { Context } from '../context.ts'

export interface Job {
  /** Shown in the log as `job`. */
  name: string
  /** Milliseconds from the end of one run to the start of the next. */
  every: number
  /** True for jobs that erase or expire by age: the scheduler skips them while the clock is untrusted. */
  byAge?: true
  /** @returns the number of items processed; 0 is not logged */
  run(deps: { app: Context; log: Log; signal: AbortSignal }): Promise<number>
}

/** Type-checks a job definition. */
export function job(definition: Job): Job {
  return definition
}
