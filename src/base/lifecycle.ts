// The interface of long-lived services, and orderly shutdown.

/**
 * Time that connections and sessions have to end by themselves when the appliance stops, ms; those that remain are cut. One for all
 * listeners, which stop at the same time.
 */
export const CLOSING_MS = 6000
/** Time that work behind a connection that was cut has to end, ms: the stop waits no longer for it. */
export const CUT_MS = 1000
/** From the signal to the end of the process, ms: the next version can listen on the same ports within ten seconds. */
export const STOP_LIMIT_MS = 9500

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

/**
 * Stops services at the same time, so that all of them together take no longer than the slowest.
 * @throws the first failure, when all have ended
 */
export async function stopTogether(services: readonly Service[]): Promise<void> {
  const results = await Promise.allSettled(services.map((service) => service.stop()))
  const failure = results.find((result) => result.status === 'rejected')
  if (failure !== undefined) throw failure.reason
}
