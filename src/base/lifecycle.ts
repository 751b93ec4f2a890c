// What lives long: a part that is started, works, and is stopped again.

/** A long-lived part of the house. `stop` finishes what was begun before it resolves. */
export interface Service {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Takes every step, one after another, also behind one that failed: what is left open would keep the process alive.
 * @throws the first failure
 */
export async function closeAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
