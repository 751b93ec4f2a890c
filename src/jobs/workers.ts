// The workers that always run: each a loop of its own over what the database says is to be done.

import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

/** A loop that can be waited for. */
export interface Worker extends Service {
  /** Resolves when nothing is due and nothing is in hand. */
  settle(): Promise<void>
}

export const WORKERS = ['deliver', 'webhooks'] as const
export type WorkerName = (typeof WORKERS)[number]

/** The threads and who works in each: both wait for others most of the time, and a thread of its own costs some 50 MB. */
export const THREADS: readonly { name: string; workers: readonly WorkerName[] }[] = [
  { name: 'deliver', workers: WORKERS },
]

/** Makes a worker on an open house, in whatever thread that is. */
export function openWorker(app: Context, name: WorkerName): Worker {
  return name === 'deliver' ? app.outbound.runner() : app.telling.dispatcher()
}
