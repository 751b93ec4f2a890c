// Content that comes piece by piece, made ready to be kept: hashed, cut and packed as it comes, never in one piece.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { CHUNK_BYTES } from '../mime/chunks.ts'
import type { Chunk } from '../mime/message.ts'
import type { StoredContent } from './blobs.ts'

const compress = promisify(zstdCompress)
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** A packed chunk is kept when it has at most this share of its content's size. */
const WORTH = 0.9

/** Packing goes on beside everything else; what is held meanwhile is the packed form and one chunk. */
export async function gatherContent(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredContent> {
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
  const zstd = packed.length <= content.length * WORTH
  return { start, sizeBytes: content.length, zstd, data: zstd ? packed : content }
}

/** The same as it is, in one piece: for contents known to be small enough. */
export async function gatherBytes(pieces: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes)
  let filled = 0
  for await (const piece of pieces) {
    bytes.set(piece, filled)
    filled += piece.length
  }
  return bytes
}
