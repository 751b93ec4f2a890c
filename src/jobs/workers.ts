// The permanent workers: each a loop over the work due in the database.

import type { Service } from '../base/lifecycle.ts'
import { isSmallMachine } from '../base/machine-memory.ts'
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
  sync: (app) => app.sync.worker(app.inspector),
} satisfies Record<string, (app: Context) => Worker | Promise<Worker>>

export type WorkerName = keyof typeof OPEN
/** In the order of their work: jobs queue messages and events. */
export const WORKERS = Object.keys(OPEN) as readonly WorkerName[]

/** A thread and its workers. */
export interface WorkerThread {
  name: string
  workers: readonly WorkerName[]
  /** Whether there is anything for it to do; without it there always is. It is asked again with each notification of `remotes`. */
  isNeeded?(app: Context): boolean
}

/**
 * The threads and their workers. `deliver` and `webhooks` mostly wait for remote servers, so they share a thread; what erases and counts
 * has another one, so that it delays neither them nor the listeners; on a small machine they share one, which saves 30 MB. Outside accounts
 * have one as soon as there is one.
 */
export const THREADS: readonly WorkerThread[] = [
  ...(isSmallMachine()
    ? ([{ name: 'deliver', workers: ['deliver', 'webhooks', 'scheduler'] }] as const)
    : ([
        { name: 'deliver', workers: ['deliver', 'webhooks'] },
        { name: 'scheduler', workers: ['scheduler'] },
      ] as const)),
  { name: 'sync', workers: ['sync'], isNeeded: (app) => app.sync.accounts.any() },
]

/** What the first thread gives a worker thread. */
export interface WorkerThreadData {
  config: Config
  workers: readonly WorkerName[]
  /** See `DataFolderIdentity.follow`. */
  isOpen: boolean
}

/** Creates a worker in the current thread. */
export async function openWorker(app: Context, name: WorkerName): Promise<Worker> {
  return await OPEN[name](app)
}
