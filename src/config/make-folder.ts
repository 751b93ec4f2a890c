// A folder with its parents: made one by one, because Node's own way never ends where a parent is there and takes no folder (/proc).

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * @param path absolute
 * @param mode of the folders that are made
 * @throws Error of Node with the path that cannot be made; ENOTDIR or EEXIST where a file is in the way
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await make(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    await makeFolder(parent, mode)
    // What is still not there cannot be made there.
    await make(path, mode)
  }
}

async function make(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (error) {
    // On a read-only file system a folder that is there is EROFS or EACCES for some; it is enough that it is one.
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory() !== true) throw error
  }
}
