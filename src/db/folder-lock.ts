// One appliance per data folder: the lock is SQLite's own, so that it goes with the process, whatever ends it.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ProductError } from '../base/errors.ts'

const BUSY = 5

/**
 * Takes the folder for this process until it is let go of. Commands of the operator do not take it: they work beside.
 * @returns what lets go of it
 * @throws ProductError conflict when another appliance works on the folder
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'lock.db')
  const lock = new DatabaseSync(file)
  try {
    // Nothing is ever written there; an exclusive transaction that stays open is all it is for.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (((error as { errcode?: number }).errcode ?? 0) % 256 !== BUSY) throw error
    throw new ProductError(
      'conflict',
      `Another Mailstead works on ${folder}: stop it first, or choose another DATA_DIR.`,
    )
  }
  return () => lock.close()
}
