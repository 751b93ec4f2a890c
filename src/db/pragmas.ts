// How connections are set up.

/** What a connection may keep in memory, in KiB, and how much of the file it may map, in bytes. */
interface Room {
  writeKib: number
  readKib: number
  mapBytes: number
}

/** Lists are read again and again: much is kept. */
const AMPLE: Room = { writeKib: 32_768, readKib: 16_384, mapBytes: 268_435_456 }
/** Of a thread that reads a row once: little is kept, and nothing is mapped a second time. */
const LEAN: Room = { writeKib: 4096, readKib: 2048, mapBytes: 0 }

const roomOf = (lean: boolean): Room => (lean ? LEAN : AMPLE)

/**
 * The log is written by COMMIT and flushed by us before anybody is answered (see write-log.ts).
 * @param bringHome whether SQLite brings the log home by itself, every thousand pages
 * @param lean keeps little in memory
 */
export const writePragmas = (bringHome: boolean, lean: boolean): string[] => [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA foreign_keys = ON',
  `PRAGMA cache_size = -${roomOf(lean).writeKib}`,
  'PRAGMA journal_size_limit = 67108864',
  ...(bringHome ? [] : ['PRAGMA wal_autocheckpoint = 0']),
]

/** @param lean keeps little in memory */
export const readPragmas = (lean: boolean): string[] => [
  'PRAGMA query_only = ON',
  `PRAGMA cache_size = -${roomOf(lean).readKib}`,
  `PRAGMA mmap_size = ${roomOf(lean).mapBytes}`,
]
