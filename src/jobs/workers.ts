// The permanent workers: each a loop over the work due in the database.

import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

/** A permanent loop that takes its work from the database. */
export interface Worker extends Service {
  /** Resolves when nothing is due and nothing is in progress. */
  settle(): Promise<void>
}

export const WORKERS = ['deliver', 'webhooks'] as const
export type WorkerName = (typeof WORKERS)[number]

/** The threads and their workers. Both workers mostly wait for remote servers, and each thread costs some 50 MB. */
export const THREADS: readonly { name: string; workers: readonly WorkerName[] }[] = [
  { name: 'deliver', workers: WORKERS },
]

/** Creates a worker in the current thread. */
export function openWorker(app: Context, name: WorkerName): Worker {
  return name === 'deliver' ? app.outbound.runner() : app.eventDispatch.dispatcher()
}
