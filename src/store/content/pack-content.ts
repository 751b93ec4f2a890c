// Prepares streamed content for the blob store: hashes it, splits it into chunks and compresses them.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { CHUNK_BYTES, digestOf } from '../../mime/chunks.ts'
import type { Chunk } from '../../mime/message.ts'
import type { StoredContent } from './blobs.ts'

const compress = promisify(zstdCompress)
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** A chunk is stored compressed if it shrinks to at most this ratio. */
const RATIO_MAX = 0.9

/** Holds the compressed content and one uncompressed chunk in memory. Compression runs in the thread pool. */
export async function packContent(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredContent> {
  const digest = createHash('sha256')
  const chunks: Chunk[] = []
  let sizeBytes = 0
  let buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let filled = 0
  const finish = async () => {
    chunks.push(await chunkOf(buffer.subarray(0, filled), sizeBytes - filled))
    buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    filled = 0
  }
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + CHUNK_BYTES - filled)
      digest.update(part)
      buffer.set(part, filled)
      filled += part.length
      sizeBytes += part.length
      from += part.length
      if (filled === CHUNK_BYTES) await finish()
    }
  }
  if (filled > 0) await finish()
  return { hash: digest.digest(), sizeBytes, chunks }
}

async function chunkOf(content: Buffer, start: number): Promise<Chunk> {
  const packed = await compress(content, ZSTD)
  const zstd = packed.length <= content.length * RATIO_MAX
  const chunk: Chunk = { start, sizeBytes: content.length, zstd, data: zstd ? packed : content }
  // A shorter chunk at the start is the only one.
  return start === 0 && content.length < CHUNK_BYTES ? chunk : { ...chunk, digest: digestOf(content) }
}

/** Reads a stream into memory. @param sizeBytes its exact size, known to be small enough */
export async function readFully(pieces: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes)
  let filled = 0
  for await (const piece of pieces) {
    bytes.set(piece, filled)
    filled += piece.length
  }
  return bytes
}
