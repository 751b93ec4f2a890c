// Returns memory to the system while a thread has nothing to do: V8 collects garbage when memory is asked for, so what a start or a burst
// left behind would stay as long as nothing happens.

import process from 'node:process'

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
  /** Undefined where the process was started without `--expose-gc`: V8 then collects when it sees fit. */
  collect: (() => void) | undefined
}

/**
 * Collects the garbage of this thread once in every idle period, for as long as the thread lives. It reads the real clock, because the
 * processor time is real.
 */
export function collectWhenIdle({ busyMs, collect }: IdleMemoryDeps = ofThisThread()): void {
  if (collect === undefined) return
  let before = busyMs()
  let idle = 0
  setInterval(() => {
    const now = busyMs()
    idle = now - before < LOOK_MS * IDLE_SHARE ? idle + 1 : 0
    if (idle === IDLE_LOOKS) collect()
    // What the collection itself took is not counted.
    before = idle === IDLE_LOOKS ? busyMs() : now
  }, LOOK_MS).unref()
}

/**
 * The flag is set at the start of the process (scripts/run.js, Dockerfile) and nowhere else: flags of V8 are of the process, so that threads
 * that set and reset one while they start undo each other; and code in the compile cache is bound to the flags it was compiled with.
 */
function ofThisThread(): IdleMemoryDeps {
  const busyMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  return { busyMs, collect: globalThis.gc === undefined ? undefined : () => void globalThis.gc?.() }
}
