// Returns memory to the system while a thread has nothing to do: V8 collects garbage when memory is asked for, so what a start or a burst
// left behind would stay as long as nothing happens.

import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Between two looks at the processor time. ms. */
const LOOK_MS = 10_000
/** A thread that used less of it is idle. */
const IDLE_SHARE = 0.02
/** Looks in a row that find the thread idle before it collects. */
const IDLE_LOOKS = 2

/** What is watched and what is called; replaced in tests. */
interface IdleMemoryDeps {
  /** Processor time of this thread so far, ms. */
  busyMs(): number
  collect(): void
}

/**
 * Collects the garbage of this thread once in every idle period, for as long as the thread lives. It reads the real clock, because the
 * processor time is real.
 */
export function collectWhenIdle(deps: IdleMemoryDeps = ofThisThread()): void {
  let before = deps.busyMs()
  let idle = 0
  setInterval(() => {
    const now = deps.busyMs()
    idle = now - before < LOOK_MS * IDLE_SHARE ? idle + 1 : 0
    if (idle === IDLE_LOOKS) deps.collect()
    // What the collection itself took is not counted.
    before = idle === IDLE_LOOKS ? deps.busyMs() : now
  }, LOOK_MS).unref()
}

function ofThisThread(): IdleMemoryDeps {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // V8 ties compiled code to its flags: what this process leaves in the compile cache would be refused by the next start, and the other way round.
  setFlagsFromString('--no-expose-gc')
  const busyMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  return { busyMs, collect }
}
