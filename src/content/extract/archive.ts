// What archives list: nothing in them is unpacked to be looked at.

import { basename } from 'node:path/posix'
import { ENTRIES_MAX, type Found, found, short, UNPACKED_MAX, UnpacksTooLarge } from './extracted.ts'
import { isTar, TarLister } from './tar.ts'
import { Allowance, gunzip } from './unpack.ts'
import type { Zip } from './zip.ts'

const PATH_MAX = 1000

export function listZip({ members, count }: Zip): Found {
  const files = members.filter(({ isFolder }) => !isFolder)
  return found('archive', {
    entries: files.slice(0, ENTRIES_MAX).map(({ path, sizeBytes }) => ({ path: short(path, PATH_MAX), sizeBytes })),
    metadata: {
      format: 'zip',
      files: files.length,
      total_size_bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      encrypted: members.some(({ encrypted }) => encrypted),
    },
    more: files.length > ENTRIES_MAX || count > members.length,
  })
}

export function listTar(bytes: Uint8Array): Found {
  const lister = new TarLister()
  lister.push(bytes)
  return listed(lister, 'tar', lister.isBroken)
}

/** A packed tar archive, or one packed file. */
export function listGzip(bytes: Uint8Array, filename: string): Found {
  const lister = new TarLister()
  let size = 0
  let isArchive: boolean | null = null
  let more = false
  let first: Uint8Array = new Uint8Array(0)
  const take = (piece: Uint8Array) => {
    size += piece.length
    if (isArchive === null) {
      first = Buffer.concat([first, piece])
      if (first.length < 512) return
      isArchive = isTar(first)
      if (isArchive) lister.push(first)
    } else if (isArchive) lister.push(piece)
  }
  try {
    gunzip(bytes, new Allowance(UNPACKED_MAX), take)
  } catch (error) {
    // What was listed before is true all the same; of a single file only the size is not known.
    if (!(error instanceof UnpacksTooLarge) || isArchive !== true) throw error
    more = true
  }
  if (isArchive === true) return listed(lister, 'tar.gz', more || lister.isBroken)
  const path = short(basename(filename).replace(/\.gz$/i, ''), PATH_MAX) || 'content'
  return found('archive', {
    entries: [{ path, sizeBytes: size }],
    metadata: { format: 'gzip', files: 1, total_size_bytes: size, encrypted: false },
  })
}

function listed({ entries, count }: TarLister, format: string, more: boolean): Found {
  return found('archive', {
    entries: entries.map(({ path, sizeBytes }) => ({ path: short(path, PATH_MAX), sizeBytes })),
    metadata: {
      format,
      files: count,
      total_size_bytes: entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      encrypted: false,
    },
    more: more || count > entries.length,
  })
}
