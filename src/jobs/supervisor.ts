// Keeps the workers alive: each in its thread under Bree, started anew when it dies, with growing pauses.

import { fileURLToPath } from 'node:url'
import Bree from 'bree'
import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { THREADS } from './workers.ts'

const FILE = fileURLToPath(new URL('./worker-thread.ts', import.meta.url))
/** A small young generation keeps garbage from piling up. MiB. */
const YOUNG_MB = 8
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000
/** A worker that lived this long has nothing to do with why the one before it died. ms. */
const STEADY_MS = 60_000

interface Life {
  startedAt: number
  pauseMs: number
  timer: Timer | undefined
}

export function openSupervisor(app: Context): Service {
  const lives = new Map<string, Life>()
  let stopping = false
  const silent = { info() {}, warn() {}, error() {} }
  const bree = new Bree({
    root: false,
    logger: silent as never,
    // Bree ends a thread that was asked to stop by force, once it is done, and takes that for an error.
    errorHandler: (error, data) => {
      if (!stopping) app.log.error({ err: error, worker: data.name }, 'a worker died')
    },
    workerMessageHandler: () => {},
    jobs: THREADS.map(({ name, workers }) => ({
      name,
      path: FILE,
      timeout: 0,
      worker: { workerData: { config: app.config, workers }, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } },
    })),
  })

  const run = async (name: string) => {
    const life = lives.get(name) ?? { startedAt: 0, pauseMs: FIRST_PAUSE_MS, timer: undefined }
    life.startedAt = app.clock.now()
    lives.set(name, life)
    await bree.run(name)
  }

  bree.on('worker deleted', (name: string) => {
    const life = lives.get(name)
    if (stopping || life === undefined) return
    const steady = app.clock.now() - life.startedAt >= STEADY_MS
    life.pauseMs = steady ? FIRST_PAUSE_MS : Math.min(life.pauseMs * 2, LONGEST_PAUSE_MS)
    app.log.warn({ worker: name, pauseMs: life.pauseMs }, 'the worker is started anew')
    life.timer = app.clock.after(life.pauseMs, () => {
      run(name).catch((error: unknown) => app.log.error({ err: error, worker: name }, 'a worker could not be started'))
    })
  })

  return {
    name: 'workers',
    async start() {
      for (const { name } of THREADS) await run(name)
    },
    async stop() {
      stopping = true
      for (const { timer } of lives.values()) timer?.cancel()
      await bree.stop()
    },
  }
}
