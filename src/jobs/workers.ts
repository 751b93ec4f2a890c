// The permanent workers: each a loop over the work due in the database.

import type { Service } from '../base/lifecycle.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { openScheduler } from './scheduler.ts'

/** A permanent loop that takes its work from the database. */
export interface Worker extends Service {
  /** Resolves when nothing is due and nothing is in progress. */
  settle(): Promise<void>
}

const OPEN = {
  scheduler: (app) => openScheduler(app),
  deliver: (app) => app.outbound.runner(),
  webhooks: (app) => app.eventDispatch.dispatcher(),
} satisfies Record<string, (app: Context) => Worker>

export type WorkerName = keyof typeof OPEN
/** In the order of their work: jobs queue messages and events. */
export const WORKERS = Object.keys(OPEN) as readonly WorkerName[]

/**
 * The threads and their workers. `deliver` and `webhooks` mostly wait for remote servers, so they share a thread; what erases and counts
 * has another one, so that it delays neither them nor the listeners.
 */
export const THREADS: readonly { name: string; workers: readonly WorkerName[] }[] = [
  { name: 'deliver', workers: ['deliver', 'webhooks'] },
  { name: 'scheduler', workers: ['scheduler'] },
]

/** What the first thread gives a worker thread. */
export interface WorkerThreadData {
  config: Config
  workers: readonly WorkerName[]
  /** See `DataFolderIdentity.follow`. */
  isOpen: boolean
}

/** Creates a worker in the current thread. */
export function openWorker(app: Context, name: WorkerName): Worker {
  return OPEN[name](app)
}
