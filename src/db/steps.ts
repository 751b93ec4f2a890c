// Work that is done in steps, so that a long unit of work does not keep the thread from its other code.

import { stopwatch } from '../base/clock.ts'

/** Between two steps, at each `yield`, other code of the thread may run. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Work done in steps gives way after this time, ms. */
const STEPS_MS = 4

/** Runs all steps. @returns the value of the work @throws what the work throws */
export async function runSteps<T>(steps: Steps<T>): Promise<T> {
  for (let elapsed = stopwatch(); ; ) {
    const step = steps.next()
    if (step.done) return step.value
    if (elapsed() < STEPS_MS) continue
    await new Promise(setImmediate)
    elapsed = stopwatch()
  }
}
