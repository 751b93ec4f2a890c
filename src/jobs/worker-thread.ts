// The workers of one thread: opens the house on the same data folder, runs them until they are told to stop.

import { parentPort, workerData } from 'node:worker_threads'
import { closeAll } from '../base/lifecycle.ts'
import type { Config } from '../config/config.ts'

import { openContext } from '../context.ts'
import { openWorker, type WorkerName } from './workers.ts'

const REFRESH_MS = 60_000

const { config, workers: names } = workerData as { config: Config; workers: readonly WorkerName[] }
const app = await openContext(config, { lean: true })
const workers = names.map((name) => openWorker(app, name))
for (const worker of workers) await worker.start()

// The first thread says when a clock that was in doubt is right again.
const refresh = app.clock.every(REFRESH_MS, () => {
  app.appliance.refresh().catch((error: unknown) => {
    app.log.warn({ event: 'appliance.refresh_failed', err: error, workers: names }, 'Last-seen time not read')
  })
})

// The words of Bree: "cancel" asks for the end, "cancelled" tells that it is there.
parentPort!.once('message', async (message: unknown) => {
  if (message !== 'cancel') return
  refresh.cancel()
  try {
    await closeAll([...workers.map((worker) => () => worker.stop()), () => app.close()])
  } catch (error) {
    app.log.error({ err: error, workers: names }, 'workers did not end cleanly')
  }
  parentPort!.postMessage('cancelled')
})

// A disk that fails ends the whole house; the first thread says so.
void Promise.race([app.db.broken, app.blobsDb.broken]).then((cause) => {
  throw cause
})
