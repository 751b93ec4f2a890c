// Writes the archive of a backup from copies that change no more.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import type { StepProgress } from '../progress.ts'
import { type KeptPath, MANIFEST, type Manifest, type ManifestFile, sizeOf } from './manifest.ts'
import { END, headerOf, paddingOf } from './tar.ts'

// Damage of the archive is found where it is, not at its end.
const ZSTD = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }

/** How large a copy is and what is in it, for the manifest. */
export async function describe(folder: string, path: KeptPath, progress: StepProgress): Promise<ManifestFile> {
  const file = join(folder, path)
  const hash = createHash('sha256')
  const { size } = await stat(file)
  progress.begin(`Reading ${path}`, 'bytes', size)
  for await (const piece of createReadStream(file)) {
    hash.update(piece)
    progress.add(piece.length)
  }
  return { path, size_bytes: size, sha256: hash.digest('hex') }
}

/**
 * Writes the files the manifest names from `folder` into a new archive; resolves when it is on the disk.
 * @param now ms, the time its members bear
 */
export async function pack(
  folder: string,
  manifest: Manifest,
  archive: string,
  now: number,
  progress: StepProgress,
): Promise<void> {
  const handle = await open(archive, 'wx', 0o600)
  progress.begin('Writing the archive', 'bytes', sizeOf(manifest))
  const sink = handle.createWriteStream({ flush: true })
  await pipeline(Readable.from(archiveBytes(folder, manifest, now, progress)), createZstdCompress(ZSTD), sink)
}

async function* archiveBytes(
  folder: string,
  manifest: Manifest,
  now: number,
  progress: StepProgress,
): AsyncGenerator<Buffer> {
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  yield headerOf({ path: MANIFEST, sizeBytes: text.length }, now)
  yield text
  yield paddingOf(text.length)
  for (const { path, size_bytes: sizeBytes } of manifest.files) {
    yield headerOf({ path, sizeBytes }, now)
    for await (const piece of createReadStream(join(folder, path))) {
      yield piece
      progress.add(piece.length)
    }
    yield paddingOf(sizeBytes)
  }
  yield END
}
