// Creates a folder and its parents one by one: Node's recursive mkdir never returns when a parent rejects new folders (/proc).

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * @param path absolute
 * @param mode of the created folders
 * @throws Error of Node with the path that cannot be created; ENOTDIR or EEXIST when a file has that name
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await make(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    await makeFolder(parent, mode)
    // A second ENOENT is final.
    await make(path, mode)
  }
}

async function make(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (error) {
    // On a read-only file system, mkdir of an existing folder may fail with EROFS or EACCES.
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory() !== true) throw error
  }
}
