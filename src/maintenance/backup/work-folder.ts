// A private working folder: locked by one process, emptied before use and removed afterwards.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ProductError } from '../../base/errors.ts'
import { lockFolder } from '../../db/folder-lock.ts'

/** The folder that exists beside a backup while it is made. */
export function workFolderOf(file: string): string {
  return `${file}.part`
}

/**
 * Makes the folder, or takes over one a killed process left, and empties it.
 * @returns what lets go of it
 * @throws ProductError conflict with the sentence `busy` while another process holds it
 */
export async function openWorkFolder(path: string, busy: string): Promise<() => void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const free = hold(path, busy)
  try {
    for (const name of await readdir(path)) {
      if (!name.startsWith('lock.db')) await rm(join(path, name), { recursive: true })
    }
  } catch (error) {
    free()
    throw error
  }
  return free
}

function hold(path: string, busy: string): () => void {
  try {
    return lockFolder(path)
  } catch (error) {
    throw error instanceof ProductError ? new ProductError('conflict', busy, { cause: error }) : error
  }
}
