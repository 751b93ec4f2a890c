// The memory of the machine or container, and how much of it the heap of a thread may take.

import { totalmem } from 'node:os'
import process from 'node:process'

/** Of the memory; the rest is for the other threads, and for what is not in the heap of V8: buffers, SQLite and its pages. */
const HEAP_SHARE = 1 / 2

/** Bytes. A container may have less than its machine. */
function memoryBytes(): number {
  // Without a bound it is 0, or a number above the memory of any machine.
  const bound = process.constrainedMemory()
  return bound > 0 ? Math.min(bound, totalmem()) : totalmem()
}

/**
 * A bound for the old generation of a thread, MiB. V8 collects early only when a heap comes near its bound: with one above the memory of the
 * machine it would let the heap grow until the kernel ends the process, with all threads.
 * @param most on a machine with enough memory
 */
export function oldGenerationMb(most: number, memory = memoryBytes()): number {
  return Math.min(most, Math.floor((memory * HEAP_SHARE) / (1024 * 1024)))
}
