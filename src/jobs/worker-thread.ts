// Entry point of a worker thread: opens the same data folder and runs its workers until Bree cancels them.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { MINUTE_MS } from '../base/durations.ts'
import { collectWhenIdle } from '../base/idle-memory.ts'
import { FarMemory } from '../base/lent-memory.ts'
import { closeAll } from '../base/lifecycle.ts'
import { collectUnderPressure } from '../base/memory-pressure.ts'
import { openContext } from '../context.ts'
import { threadJobs } from './jobs.ts'
import { openScheduler } from './scheduler.ts'
import { openWorker, type WorkerThreadData } from './workers.ts'

const REFRESH_MS = MINUTE_MS

const { config, workers: names, isOpen } = workerData as WorkerThreadData
const { promise: lent, resolve: lend } = Promise.withResolvers<MessagePort>()
const { promise: canceled, resolve: cancel } = Promise.withResolvers<void>()
// First the port of the memory; at the end "cancel" of Bree's protocol requests the stop, which "cancelled" confirms.
parentPort!.on('message', (message: 'cancel' | { memory: MessagePort }) => {
  if (message === 'cancel') cancel()
  else lend(message.memory)
})
const app = await openContext(config, { lean: true, memory: new FarMemory(await lent) })
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

void canceled.then(async () => {
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
