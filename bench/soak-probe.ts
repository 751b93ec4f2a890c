// Loaded into every thread of the appliance that the soak watches (`--import`): writes the memory of the thread to a file, and heap snapshots on request.

import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { writeHeapSnapshot } from 'node:v8'
import { isMainThread, threadId } from 'node:worker_threads'

/** Memory of one thread, bytes. */
export interface ThreadMemory {
  heapUsed: number
  heapTotal: number
  external: number
  arrayBuffers: number
  /** When it was written, ms. */
  at: number
}

/** Names the folder of the files; without it nothing is done. */
export const PROBE_FOLDER = 'SOAK_PROBE_FOLDER'
/** A file of this name asks every thread for a heap snapshot, once. */
export const SNAPSHOT_REQUEST = 'snapshot'
export const PROBE_EVERY_MS = 5000

const folder = process.env[PROBE_FOLDER]
// Not in the programs that the appliance starts.
if (folder !== undefined && (!isMainThread || process.argv[2] === 'serve')) {
  const name = isMainThread ? 'first' : `thread-${threadId}`
  let hasSnapshot = false
  setInterval(() => {
    const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage()
    const path = join(folder, `${name}.json`)
    const memory: ThreadMemory = { heapUsed, heapTotal, external, arrayBuffers, at: Date.now() }
    writeFileSync(`${path}.new`, JSON.stringify(memory))
    renameSync(`${path}.new`, path)
    const isAsked = existsSync(join(folder, SNAPSHOT_REQUEST))
    if (isAsked && !hasSnapshot) writeHeapSnapshot(join(folder, `${name}-${Date.now()}.heapsnapshot`))
    hasSnapshot = isAsked
  }, PROBE_EVERY_MS).unref()
}
