// A mail as it is stored: in stretches, each compressed where that pays.

import { constants, zstdCompressSync } from 'node:zlib'
import type { Chunk } from './message.ts'

/** Content of one stored chunk at most, in bytes. */
export const CHUNK_BYTES = 1024 * 1024
/** Measured: below, some 35 µs save less than a page of the database; from here on a page at least, soon two thirds. */
const COMPRESS_FROM_BYTES = 8192
/** A compressed chunk is kept when it has at most this share of its content's size. */
const WORTH = 0.9

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The mail in stretches of CHUNK_BYTES, each compressed where that pays. */
export function chunksOf(bytes: Uint8Array): Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const content = bytes.subarray(start, start + CHUNK_BYTES)
    const packed = content.length < COMPRESS_FROM_BYTES ? content : zstdCompressSync(content, ZSTD)
    const zstd = packed.length <= content.length * WORTH
    // What the library gives lies in memory it shares with others: a copy can be handed to another thread.
    chunks.push({ start, sizeBytes: content.length, zstd, data: zstd ? new Uint8Array(packed) : content })
  }
  return chunks
}
