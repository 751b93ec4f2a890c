// How connections are set up.

/**
 * The log is written by COMMIT and flushed by us before anybody is answered (see write-log.ts).
 * @param bringHome whether SQLite brings the log home by itself, every thousand pages
 */
export const writePragmas = (bringHome: boolean): string[] => [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA cache_size = -32768',
  'PRAGMA journal_size_limit = 67108864',
  ...(bringHome ? [] : ['PRAGMA wal_autocheckpoint = 0']),
]

export const READ_PRAGMAS = ['PRAGMA query_only = ON', 'PRAGMA cache_size = -16384', 'PRAGMA mmap_size = 268435456']
