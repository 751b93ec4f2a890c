// Consistent copies of both databases, taken while the server is running.

import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

/** Paths of a database and of its copy, which must not exist yet. */
export interface Copy {
  from: string
  to: string
}

/** Called while a database is copied, with the bytes copied so far and those of the whole. */
export type NoteCopied = (copy: Copy, copiedBytes: number, totalBytes: number) => void

// 1 MiB per step: each step runs in Node's thread pool, and other work of this process continues between steps.
const PAGES_AT_ONCE = 256
const BUSY_WAIT_MS = 2
const BUSY_TRIES = 5000

/**
 * Copies `mail` and `blobs` as of one moment. Content is written to blobs.db before the row of mail.db that references it, and deleted only
 * when no row references it: at any one moment everything mail.db references is in blobs.db, at two different moments it need not be. If mail.db were copied
 * first, the content of a message destroyed meanwhile could be deleted before blobs.db is copied; if blobs.db were copied first, it would
 * lack content added meanwhile. So both read snapshots are taken while blobs.db is locked for writing, which is short, and both are held
 * until the copies are complete: the server continues to write, and its write-ahead logs grow meanwhile.
 * (Without a held snapshot, SQLite restarts a backup with every write, and under steady load would never finish.)
 * @throws Error of SQLite: a file that cannot be read, a disk that is full
 */
export async function copyTogether(mail: Copy, blobs: Copy, note: NoteCopied = () => {}): Promise<void> {
  const connections = [new DatabaseSync(mail.from, READER), new DatabaseSync(blobs.from, READER)]
  try {
    await whileLocked(blobs.from, () => connections.forEach(hold))
    for (const [index, copy] of [mail, blobs].entries()) {
      const connection = connections[index]!
      const sql = 'SELECT page_size, page_count FROM pragma_page_size, pragma_page_count'
      const { page_size: size, page_count: pages } = connection.prepare(sql).get() as Record<string, number>
      // SQLite reports nothing of a file that is copied in one step.
      note(copy, 0, size! * pages!)
      const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
        note(copy, (totalPages - remainingPages) * size!, totalPages * size!)
      await backup(connection, copy.to, { rate: PAGES_AT_ONCE, progress })
    }
  } finally {
    for (const connection of connections) connection.close()
  }
}

const READER = { readOnly: true, timeout: 0 }

/** Runs `work` while the file is locked for writing. Waiting for the lock does not block the thread. */
async function whileLocked(file: string, work: () => void): Promise<void> {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    for (let tries = 0; ; tries++) {
      try {
        lock.exec('BEGIN IMMEDIATE')
        return work()
      } catch (error) {
        // There is an open write transaction, or the server is starting or stopping and checkpoints its log.
        if (!isBusy(error) || tries >= BUSY_TRIES) throw error
        end(lock)
        await pause(BUSY_WAIT_MS)
      }
    }
  } finally {
    lock.close()
  }
}

/** Starts a read transaction, so that the connection sees the current snapshot. BEGIN alone takes no snapshot. */
function hold(connection: DatabaseSync): void {
  end(connection)
  connection.exec('BEGIN')
  connection.prepare('SELECT count(*) FROM sqlite_schema').get()
}

function end(connection: DatabaseSync): void {
  if (connection.isTransaction) connection.exec('ROLLBACK')
}

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 5
}
