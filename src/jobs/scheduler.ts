// Worker: runs due jobs one at a time, in a thread of its own, so that maintenance does not compete with mail.

import type { Timer } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import type { Job } from './job.ts'
import { jobs } from './jobs.ts'

const CHECK_EVERY_MS = MINUTE_MS
// A job that runs longer than this is logged while it runs.
const SLOW_MS = 1000

export interface Scheduler extends Service {
  /** Runs the jobs that are due now; resolves when they are done. */
  settle(): Promise<void>
}

export function openScheduler(app: Context, list: readonly Job[] = jobs): Scheduler {
  const stop = new AbortController()
  const lastRun = new Map<string, number>()
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()

  const runDue = () => {
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
    name: 'scheduler',
    async start() {
      timer = app.clock.every(CHECK_EVERY_MS, runDue)
      void runDue()
    },
    async stop() {
      timer?.cancel()
      stop.abort()
      await running
    },
    settle: runDue,
  }
}

async function runJob(app: Context, item: Job, signal: AbortSignal): Promise<void> {
  const log = app.log.child({ job: item.name })
  const slow = app.clock.after(SLOW_MS, () => log.info({ event: 'job.running_long' }, 'Job still running'))
  try {
    const done = await item.run({ app, log, signal })
    if (done > 0) log.info({ event: 'job.done', done }, 'Job done')
  } catch (error) {
    log.error({ event: 'job.failed', err: error }, 'Job failed; will retry')
  } finally {
    slow.cancel()
  }
}
