// Runs the jobs when their time has come, one at a time, so that house-keeping never crowds out mail.

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import type { Job } from './job.ts'
import { jobs } from './jobs.ts'

const LOOK_EVERY_MS = 60 * 1000
// What takes longer than a second says that it is still at it.
const SLOW_MS = 1000

export interface Clockwork extends Service {
  /** Runs what is due now and waits for it. */
  settle(): Promise<void>
}

export function openClockwork(app: Context, list: readonly Job[] = jobs): Clockwork {
  const stop = new AbortController()
  const lastRun = new Map<string, number>()
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()

  const look = () => {
    running = running.then(async () => {
      for (const item of list) {
        const due = (lastRun.get(item.name) ?? Number.NEGATIVE_INFINITY) + item.every
        if (stop.signal.aborted || app.clock.monotonic() < due) continue
        if (item.byAge === true && app.guard.isHeld()) continue
        await runJob(app, item, stop.signal)
        lastRun.set(item.name, app.clock.monotonic())
      }
    })
    return running
  }

  return {
    name: 'clockwork',
    async start() {
      timer = app.clock.every(LOOK_EVERY_MS, look)
      void look()
    },
    async stop() {
      timer?.cancel()
      stop.abort()
      await running
    },
    settle: look,
  }
}

async function runJob(app: Context, item: Job, signal: AbortSignal): Promise<void> {
  const log = app.log.child({ job: item.name })
  const slow = app.clock.after(SLOW_MS, () => log.info('still at it'))
  try {
    const done = await item.run({ app, log, signal })
    if (done > 0) log.info({ done }, 'done')
  } catch (error) {
    log.error({ err: error }, 'the job failed and will be tried again')
  } finally {
    slow.cancel()
  }
}
