// The last backup that was whole, as the data folder remembers it: also one that a command made into another folder.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../config/data-folder.ts'

export interface GoodBackup {
  /** When it was begun, ms. */
  at: number
  file: string
}

const fileIn = (dataDir: string) => join(dataDir, 'last-backup.json')

/** Null when none was made, or the note cannot be read: it is an aid, and what is in the folder of backups counts too. */
export async function readLastGood(dataDir: string): Promise<GoodBackup | null> {
  try {
    const { at, file } = JSON.parse(await readFile(fileIn(dataDir), 'utf8')) as Record<string, unknown>
    return typeof at === 'number' && typeof file === 'string' ? { at, file } : null
  } catch {
    return null
  }
}

/** The backup is made whether or not the note can be written. */
export async function noteLastGood(dataDir: string, good: GoodBackup): Promise<void> {
  await replaceFile(fileIn(dataDir), `${JSON.stringify(good)}\n`).catch(() => {})
}
