// Entry point of a worker thread: opens the same data folder and runs its workers until Bree cancels them.

import { parentPort, workerData } from 'node:worker_threads'
import { MINUTE_MS } from '../base/durations.ts'
import { collectWhenIdle } from '../base/idle-memory.ts'
import { closeAll } from '../base/lifecycle.ts'
import { collectUnderPressure } from '../base/memory-pressure.ts'
import { openContext } from '../context.ts'
import { threadJobs } from './jobs.ts'
import { openScheduler } from './scheduler.ts'
import { openWorker, type WorkerThreadData } from './workers.ts'

const REFRESH_MS = MINUTE_MS

const { config, workers: names, isOpen } = workerData as WorkerThreadData
const app = await openContext(config, { lean: true })
app.appliance.follow(isOpen)
const workers = [...(await Promise.all(names.map((name) => openWorker(app, name)))), openScheduler(app, threadJobs)]
for (const worker of workers) await worker.start()
collectWhenIdle()
collectUnderPressure()

// The main thread decides when an untrusted clock is trusted again.
const refresh = app.clock.every(REFRESH_MS, () => {
  try {
    app.appliance.refresh()
  } catch (error) {
    app.log.warn({ event: 'appliance.refresh_failed', err: error, workers: names }, 'Last-seen time not read')
  }
})

// Bree's protocol: "cancel" requests the stop, "cancelled" confirms it.
parentPort!.once('message', async (message: unknown) => {
  if (message !== 'cancel') return
  refresh.cancel()
  try {
    await closeAll([...workers.map((worker) => () => worker.stop()), () => app.close()])
  } catch (error) {
    app.log.error({ event: 'worker.stop_failed', err: error, workers: names }, 'Workers did not stop cleanly')
  }
  parentPort!.postMessage('cancelled')
})

// A failing disk ends the whole process; the main thread logs it.
void Promise.race([app.db.broken, app.blobsDb.broken]).then((cause) => {
  throw cause
})
