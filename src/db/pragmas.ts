// Pragmas of connections.

import { isSmallMachine } from '../base/machine-memory.ts'

/** Page caches of a connection, in KiB, and how much of the file it may map, in bytes. */
interface MemoryLimits {
  writeKib: number
  readKib: number
  mapBytes: number
}

/** Lists are read repeatedly: a large cache. After each transaction SQLite goes through the whole table of the cache that writes. */
const AMPLE: MemoryLimits = { writeKib: 8192, readKib: 16_384, mapBytes: 268_435_456 }
/** For threads that read each row once: small caches and no memory map. */
const LEAN: MemoryLimits = { writeKib: 4096, readKib: 2048, mapBytes: 0 }

/** On a small machine, or in a small container: a dozen connections would fill a fifth of it. */
const SMALL: MemoryLimits = { writeKib: 4096, readKib: 4096, mapBytes: 67_108_864 }
const isSmall = isSmallMachine()
const SMALL_LEAN: MemoryLimits = { writeKib: 2048, readKib: 1024, mapBytes: 0 }

function limitsOf(lean: boolean): MemoryLimits {
  if (isSmall) return lean ? SMALL_LEAN : SMALL
  return lean ? LEAN : AMPLE
}

/**
 * COMMIT writes the write-ahead log; it is flushed separately before any caller gets its result (see write-log.ts).
 * @param autoCheckpoint whether SQLite checkpoints the log by itself, every thousand pages
 * @param lean small caches
 */
export const writePragmas = (autoCheckpoint: boolean, lean: boolean): string[] => [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA foreign_keys = ON',
  `PRAGMA cache_size = -${limitsOf(lean).writeKib}`,
  'PRAGMA journal_size_limit = 67108864',
  // Journals of statements and savepoints, which SQLite otherwise writes to temporary files from 64 KiB on: most of what a delivery wrote.
  'PRAGMA temp_store = MEMORY',
  ...(autoCheckpoint ? [] : ['PRAGMA wal_autocheckpoint = 0']),
]

/** @param lean small caches */
export const readPragmas = (lean: boolean): string[] => [
  'PRAGMA query_only = ON',
  `PRAGMA cache_size = -${limitsOf(lean).readKib}`,
  `PRAGMA mmap_size = ${limitsOf(lean).mapBytes}`,
]
