// Reads an archive into a folder, and believes nothing of it before its size and hash are those of the manifest.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createZstdDecompress } from 'node:zlib'
import { ProductError } from '../../base/errors.ts'
import type { StepProgress } from '../progress.ts'
import { MANIFEST, MANIFEST_BYTES_MAX, type Manifest, type ManifestFile, readManifest, sizeOf } from './manifest.ts'
import { type ReadMember, readTar, TarError } from './tar.ts'

/**
 * Writes the files of `archive` into `folder`, which is there and empty; resolves when all are on the disk.
 * @throws ProductError with a sentence when it is no backup, not whole, changed, or of a newer program. What was written till then
 * stays, and is not to be used.
 */
export function unpack(archive: string, folder: string, progress: StepProgress): Promise<Manifest> {
  return withMembers(archive, (members) => readMembers(members, archive, folder, progress))
}

/**
 * What a backup says of itself; the rest of it is not read.
 * @throws ProductError with a sentence when it is no backup, damaged at its begin, or of a newer program
 */
export function readArchiveManifest(archive: string): Promise<Manifest> {
  return withMembers(archive, (members) => takeManifest(members, archive))
}

async function withMembers(
  archive: string,
  read: (members: AsyncGenerator<ReadMember>) => Promise<Manifest>,
): Promise<Manifest> {
  const packed = createReadStream(archive)
  const plain = createZstdDecompress()
  packed.on('error', (error) => plain.destroy(error))
  packed.pipe(plain)
  try {
    return await read(readTar(plain))
  } catch (error) {
    throw explained(error, archive)
  } finally {
    packed.destroy()
    plain.destroy()
  }
}

/** The first member shows whether it is a backup of Mailstead at all. */
async function takeManifest(members: AsyncGenerator<ReadMember>, archive: string): Promise<Manifest> {
  const { value: first } = await members.next()
  if (first?.path !== MANIFEST || first.sizeBytes > MANIFEST_BYTES_MAX) {
    throw new ProductError('invalid_parameter', `${archive} is not a Mailstead backup.`)
  }
  return readManifest(Buffer.concat(await Array.fromAsync(first.content)).toString('utf8'), archive)
}

async function readMembers(
  members: AsyncGenerator<ReadMember>,
  archive: string,
  folder: string,
  progress: StepProgress,
): Promise<Manifest> {
  const manifest = await takeManifest(members, archive)
  progress.begin('Unpacking the archive', 'bytes', sizeOf(manifest))
  for (const file of manifest.files) {
    const { value: member } = await members.next()
    if (member?.path !== file.path || member.sizeBytes !== file.size_bytes) {
      throw new TarError(`${file.path} is missing or of another size`)
    }
    await write(member, file, folder, progress)
  }
  if ((await members.next()).done !== true) throw new TarError('more than the manifest names')
  return manifest
}

async function write(
  { content }: ReadMember,
  { path, sha256 }: ManifestFile,
  folder: string,
  progress: StepProgress,
): Promise<void> {
  // The path is one of a few the manifest may name: none leads out of the folder.
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  const handle = await open(file, 'wx', 0o600)
  try {
    for await (const piece of content) {
      hash.update(piece)
      await handle.writeFile(piece)
      progress.add(piece.length)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  if (hash.digest('hex') !== sha256) throw new TarError(`${path} is not what was written`)
}

/** What a reader makes of it: damage of the archive in one sentence, everything else as it is. */
function explained(error: unknown, archive: string): unknown {
  if (error instanceof ProductError) return error
  const { code } = error as NodeJS.ErrnoException
  const isDamage = error instanceof TarError || /^(?:ZSTD|Z_)/.test(code ?? '')
  if (code === 'ENOENT') return new ProductError('not_found', `There is no file ${archive}.`, { cause: error })
  if (code === 'EISDIR') return new ProductError('invalid_parameter', `${archive} is a folder.`, { cause: error })
  if (!isDamage) return error
  const sentence = `${archive} is damaged, truncated or not a Mailstead backup. Nothing was restored.`
  return new ProductError('invalid_parameter', sentence, { cause: error })
}
