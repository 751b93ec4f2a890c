// Lock of the data folder: one server per folder. It is a lock of SQLite, so that it is released however the process ends.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ProductError } from '../base/errors.ts'

const BUSY = 5

/**
 * Locks the folder for this process. Commands of the CLI do not take the lock: they work while the server is running.
 * @returns releases the lock
 * @throws ProductError conflict when another server has locked the folder
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'lock.db')
  const lock = new DatabaseSync(file)
  try {
    // Nothing is ever written; the lock is an exclusive transaction that stays open.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (((error as { errcode?: number }).errcode ?? 0) % 256 !== BUSY) throw error
    throw new ProductError(
      'conflict',
      `Another Mailstead is running on ${folder}. Stop it first, or choose another DATA_DIR.`,
    )
  }
  return () => lock.close()
}
