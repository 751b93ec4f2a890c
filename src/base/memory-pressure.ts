// Collects the garbage of a thread while the process has little memory left: V8 sees its own heap, but neither those of the other threads nor
// the memory of the machine or container, and would let each thread keep some 64 MiB of buffers that nothing uses.

import { readFileSync } from 'node:fs'
import process from 'node:process'
import { memoryBytes } from './machine-memory.ts'

/** Between two looks. ms. */
const LOOK_MS = 2000
/** Of the memory: below it, V8 decides alone. */
const PRESSURE_SHARE = 0.55
/** Looks from one collection to the next: one takes some 50 ms. */
const PAUSE_LOOKS = 5
/** Of the memory: above it, a thread collects at each look that finds something. */
const URGENT_SHARE = 0.75
/** A thread that has allocated less outside its heap and in it since the last collection has little to give back, bytes. */
const GROWTH_BYTES = 8 * 1024 * 1024

const PAGE_BYTES = 4096

/** What is watched and what is called; replaced in tests. */
export interface MemoryPressureDeps {
  /** Memory of the process that is no mapped file, and of this thread, bytes. */
  usage(): { process: number; thread: number }
  /** Of the machine or container, bytes. */
  memory: number
  /** Undefined where the process was started without `--expose-gc`. */
  collect: (() => void) | undefined
}

/** For as long as the thread lives. It reads the real clock, because the memory is real. */
export function collectUnderPressure(deps: MemoryPressureDeps = ofThisThread()): void {
  const { usage, memory, collect } = deps
  if (collect === undefined) return
  let pause = 0
  let kept = 0
  setInterval(() => {
    if (--pause > 0) return
    const now = usage()
    kept = Math.min(kept, now.thread)
    if (now.process < memory * PRESSURE_SHARE || now.thread - kept < GROWTH_BYTES) return
    collect()
    kept = usage().thread
    pause = now.process < memory * URGENT_SHARE ? PAUSE_LOOKS : 1
  }, LOOK_MS).unref()
}

function ofThisThread(): MemoryPressureDeps {
  const usage = () => {
    const { rss, heapTotal, external } = process.memoryUsage()
    return { process: rss - mappedBytes(), thread: heapTotal + external }
  }
  return {
    usage,
    memory: memoryBytes(),
    collect: globalThis.gc === undefined ? undefined : () => void globalThis.gc?.(),
  }
}

/** Pages of files that are mapped: the kernel takes them back when it needs memory. 0 where it does not tell. */
function mappedBytes(): number {
  try {
    // proc(5): size, resident, shared, … in pages.
    const [, , shared] = readFileSync('/proc/self/statm', 'latin1').split(' ')
    return Number(shared) * PAGE_BYTES
  } catch {
    return 0
  }
}
