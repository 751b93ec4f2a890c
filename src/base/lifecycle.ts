// The interface of long-lived services, and orderly shutdown.

/** A long-lived service. `stop` resolves after all work in progress has finished. */
export interface Service {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Runs all steps one after another, even after a failure: a resource left open would keep the process alive.
 * @throws the first failure
 */
export async function closeAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
