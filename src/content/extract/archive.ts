// Lists the entries of archives without extracting them.

import { basename } from 'node:path/posix'
import {
  ENTRIES_MAX,
  type ExtractedContent,
  extractedContent,
  short,
  UNPACKED_MAX,
  UnpacksTooLarge,
} from './extracted-content.ts'
import { isTar, TarLister } from './tar.ts'
import { gunzip, UnpackAllowance } from './unpack.ts'
import type { Zip } from './zip.ts'

const PATH_MAX = 1000

export function listZip({ members, count }: Zip): ExtractedContent {
  const files = members.filter(({ isFolder }) => !isFolder)
  return extractedContent('archive', {
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

export function listTar(bytes: Uint8Array): ExtractedContent {
  const lister = new TarLister()
  lister.push(bytes)
  return listed(lister, 'tar', lister.isBroken)
}

/** Lists a compressed tar archive, or a single gzip file. */
export function listGzip(bytes: Uint8Array, filename: string): ExtractedContent {
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
    gunzip(bytes, new UnpackAllowance(UNPACKED_MAX), take)
  } catch (error) {
    // Entries listed so far remain valid; the size of a single file would be unknown.
    if (!(error instanceof UnpacksTooLarge) || isArchive !== true) throw error
    more = true
  }
  if (isArchive === true) return listed(lister, 'tar.gz', more || lister.isBroken)
  const path = short(basename(filename).replace(/\.gz$/i, ''), PATH_MAX) || 'content'
  return extractedContent('archive', {
    entries: [{ path, sizeBytes: size }],
    metadata: { format: 'gzip', files: 1, total_size_bytes: size, encrypted: false },
  })
}

function listed({ entries, count }: TarLister, format: string, more: boolean): ExtractedContent {
  return extractedContent('archive', {
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
