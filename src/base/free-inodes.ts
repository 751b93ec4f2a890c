// Free inodes on the disk of a folder: without any no file can be created, however much space is free.

import { statfs } from 'node:fs/promises'

/** Below this number readiness and the doctor name how many are left. */
export const INODES_LOW = 1000

/** How many files can be created; infinite where the file system does not count them (Btrfs). */
export async function freeInodes(folder: string): Promise<number> {
  const { files, ffree } = await statfs(folder)
  return files === 0 ? Number.POSITIVE_INFINITY : ffree
}
