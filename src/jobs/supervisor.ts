// Runs the workers in threads under Bree and restarts a thread that dies, with exponential back-off.

import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import Bree from 'bree'
import type { Timer } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { entryFile } from '../base/entry.ts'
import { lendMemory } from '../base/lent-memory.ts'
import type { Service } from '../base/lifecycle.ts'
import { oldGenerationMb } from '../base/machine-memory.ts'
import type { Context } from '../context.ts'
import { THREADS, type WorkerThread, type WorkerThreadData } from './workers.ts'

const FILE = fileURLToPath(entryFile(new URL('./worker-thread.ts', import.meta.url)))
/** MiB. A small young generation limits memory held by garbage. */
const YOUNG_MB = 8
/**
 * MiB. Below 2 GiB V8 collects a heap when it has doubled, else when it has four times the size of what is in use. Less on a small machine,
 * where a heap could otherwise grow beyond the memory before V8 collects it.
 */
const OLD_MB = oldGenerationMb(2000)
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = MINUTE_MS
/** ms. A worker that ran this long resets the back-off. */
const STEADY_MS = MINUTE_MS
/** How often a thread that was not needed is looked at again, ms. */
const NEEDED_EVERY_MS = 10_000

interface WorkerRun {
  startedAt: number
  pauseMs: number
  timer: Timer | undefined
}

export function openSupervisor(app: Context): Service {
  const runs = new Map<string, WorkerRun>()
  let stopping = false
  const bree = openBree(app, () => stopping)
  let unlisten = () => {}

  const run = async (name: string) => {
    const current = runs.get(name) ?? { startedAt: 0, pauseMs: FIRST_PAUSE_MS, timer: undefined }
    current.startedAt = app.clock.now()
    runs.set(name, current)
    await bree.run(name)
  }

  lendToThreads(bree, app)
  bree.on('worker deleted', (name: string) => {
    const current = runs.get(name)
    if (stopping || current === undefined) return
    const steady = app.clock.now() - current.startedAt >= STEADY_MS
    current.pauseMs = steady ? FIRST_PAUSE_MS : Math.min(current.pauseMs * 2, LONGEST_PAUSE_MS)
    app.log.warn({ event: 'worker.restarting', worker: name, pauseMs: current.pauseMs }, 'Restarting worker')
    current.timer = app.clock.after(current.pauseMs, () => {
      run(name).catch((error: unknown) => startFailed(app, name, error))
    })
  })

  return {
    name: 'workers',
    async start() {
      for (const thread of THREADS) if (isNeeded(app, thread)) await run(thread.name)
      const startNeeded = () => {
        for (const thread of THREADS) {
          if (runs.has(thread.name) || stopping || !isNeeded(app, thread)) continue
          run(thread.name).catch((error: unknown) => startFailed(app, thread.name, error))
        }
      }
      const stopListening = app.notifier.listen('remotes', startNeeded)
      // A command in another process does not notify this one.
      const poll = app.clock.every(NEEDED_EVERY_MS, startNeeded)
      unlisten = () => {
        stopListening()
        poll.cancel()
      }
    },
    async stop() {
      stopping = true
      unlisten()
      for (const { timer } of runs.values()) timer?.cancel()
      await bree.stop()
    },
  }
}

/** The threads, not started. */
function openBree(app: Context, isStopping: () => boolean): Bree {
  const silent = { info() {}, warn() {}, error() {} }
  return new Bree({
    root: false,
    logger: silent as never,
    // Bree terminates a thread after it reported `cancelled` and reports that as an error.
    errorHandler: (error, data) => {
      if (!isStopping()) app.log.error({ event: 'worker.died', err: error, worker: data.name }, 'Worker died')
    },
    workerMessageHandler: () => {},
    jobs: THREADS.map(({ name, workers }) => {
      const workerData: WorkerThreadData = { config: app.config, workers, isOpen: app.appliance.isOpen }
      return {
        name,
        path: FILE,
        timeout: 0,
        worker: { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB, maxOldGenerationSizeMb: OLD_MB } },
      }
    }),
  })
}

/** Each thread takes turns of the memory of this one, and gives them back when it dies. */
function lendToThreads(bree: Bree, app: Context): void {
  const ends = new Map<string, () => void>()
  bree.on('worker created', (name: string) => {
    const { port1, port2 } = new MessageChannel()
    bree.workers.get(name)!.postMessage({ memory: port2 }, [port2])
    const failed = (error: unknown) =>
      app.log.error({ event: 'worker.memory_failed', err: error, worker: name }, 'Memory of a worker not released')
    ends.set(name, lendMemory(port1, app.memory, failed))
  })
  bree.on('worker deleted', (name: string) => ends.get(name)?.())
}

function isNeeded(app: Context, thread: WorkerThread): boolean {
  return thread.isNeeded?.(app) ?? true
}

function startFailed(app: Context, worker: string, error: unknown): void {
  app.log.error({ event: 'worker.start_failed', err: error, worker }, 'Worker could not be started')
}
