// Asks a file whether it can be written and read now, without changing it.

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

/** More pages than the connection keeps in memory: SQLite has to write them to the log before the transaction ends. */
const PROBE_BYTES = 65_536
const PROBE = `CREATE TABLE write_probe (bytes BLOB); INSERT INTO write_probe VALUES (zeroblob(${PROBE_BYTES}))`
const BUSY_WAIT_MS = 5
const BUSY_TRIES = 1000
const BUSY = 5

/**
 * Writes pages to the log of a file and rolls them back. A transaction of the writing connection would keep them in memory, and a full
 * disk would not be noticed before somebody's message is lost on it.
 * @throws Error of SQLite: the disk is full, the file is damaged or read-only
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
        // A transaction of the appliance is under way.
        if (((error as { errcode?: number }).errcode ?? 0) % 256 !== BUSY || tries >= BUSY_TRIES) throw error
        await pause(BUSY_WAIT_MS)
      }
    }
    try {
      probe.exec(PROBE)
    } finally {
      if (probe.isTransaction) probe.exec('ROLLBACK')
    }
  } finally {
    probe.close()
  }
}
