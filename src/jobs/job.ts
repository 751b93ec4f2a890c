// What the clock does: one object per job, which takes its work from the database and may run twice without harm.

import type { Log } from '../base/log.ts'
import type { Context } from '../context.ts'

export interface Job {
  /** One noun, shown in the log. */
  name: string
  /** Milliseconds from the end of one run to the start of the next. */
  every: number
  /** True for what erases or expires by age: it waits while the clock is in doubt. */
  byAge?: true
  /** @returns how many things were done; 0 is not logged */
  run(part: { app: Context; log: Log; signal: AbortSignal }): Promise<number>
}

/** Gives a job its types. */
export function job(definition: Job): Job {
  return definition
}
