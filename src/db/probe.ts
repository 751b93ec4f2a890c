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
 * Reads a row of every table and index, then writes pages to the log of a file and rolls them back. The connections at
 * work would use the pages they have in memory, and damage or a full disk would not be noticed until a message cannot be
 * stored.
 * @throws Error of SQLite: disk full, file damaged or read-only
 */
export async function probeWrite(file: string): Promise<void> {
  const probe = new DatabaseSync(file, { timeout: 0 })
  try {
    probe.exec('PRAGMA cache_size = 1')
    readTrees(probe)
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

interface Tree {
  name: string
  table: string
  isIndex: number
  sql: string | null
}

/** A damaged page of any of them makes deliveries or requests fail. */
function readTrees(probe: DatabaseSync): void {
  const trees = probe
    .prepare(
      `SELECT name, tbl_name AS "table", type = 'index' AS isIndex, sql FROM sqlite_schema
       WHERE type IN ('table', 'index') AND rootpage > 0`,
    )
    .all() as unknown as Tree[]
  for (const tree of trees) probe.prepare(readOne(tree)).get()
}

function readOne({ name, table, isIndex, sql }: Tree): string {
  if (isIndex === 0) {
    // All columns of a table by its primary key: an index would be read instead of it.
    if (/WITHOUT ROWID/i.test(sql ?? '')) return `SELECT * FROM "${name}" LIMIT 1`
    return `SELECT 1 FROM "${name}" NOT INDEXED ORDER BY rowid DESC LIMIT 1`
  }
  // A partial index can only be read with its own condition.
  const condition = /\)\s*(WHERE\s[\s\S]*)$/i.exec(sql ?? '')?.[1] ?? ''
  return `SELECT 1 FROM "${table}" INDEXED BY "${name}" ${condition} LIMIT 1`
}
