// One worker in a thread of its own: opens the house on the same data folder, runs until it is told to stop.

import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../config/config.ts'
import { openContext } from '../context.ts'
import { openWorker, type WorkerName } from './workers.ts'

const { config, worker: name } = workerData as { config: Config; worker: WorkerName }
const app = await openContext(config)
const worker = openWorker(app, name)
await worker.start()

// The words of Bree: "cancel" asks for the end, "cancelled" tells that it is there.
parentPort!.once('message', async (message: unknown) => {
  if (message !== 'cancel') return
  try {
    await worker.stop()
    await app.close()
  } catch (error) {
    app.log.error({ err: error, worker: name }, 'a worker did not end cleanly')
  }
  parentPort!.postMessage('cancelled')
})

// A disk that fails ends the whole house; the first thread says so.
void Promise.race([app.db.broken, app.blobsDb.broken]).then((cause) => {
  throw cause
})
