// Checks whether a database file is writable and readable, without changing it.

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

/** Larger than the page cache of the connection: SQLite has to write pages to the log before the transaction ends. */
const PROBE_BYTES = 65_536
const PROBE_SQL = `CREATE TABLE write_probe (bytes BLOB); INSERT INTO write_probe VALUES (zeroblob(${PROBE_BYTES}))`
const BUSY_WAIT_MS = 5
const BUSY_TRIES = 1000
const BUSY = 5

/**
 * Writes pages to the log of a file and rolls them back. The writing connection would keep them in memory, and a full
 * disk would not be noticed until a message cannot be stored.
 * @throws Error of SQLite: disk full, file damaged or read-only
 */
export async function probeWrite(file: string): Promise<void> {
  const probe = new DatabaseSync(file, { timeout: 0 })
  try {
    probe.exec('PRAGMA cache_size = 1')
    for (let tries = 1; ; tries++) {
      try {
        probe.exec('BEGIN IMMEDIATE')
        break
      } catch (error) {
        // The server has an open write transaction.
        if (((error as { errcode?: number }).errcode ?? 0) % 256 !== BUSY || tries >= BUSY_TRIES) throw error
        await pause(BUSY_WAIT_MS)
      }
    }
    try {
      probe.exec(PROBE_SQL)
    } finally {
      if (probe.isTransaction) probe.exec('ROLLBACK')
    }
  } finally {
    probe.close()
  }
}
