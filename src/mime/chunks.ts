// Splits a message into the chunks in which it is stored, each compressed where that saves space.

import { hash } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import type { Chunk } from './message.ts'

/** Content of one stored chunk at most, in bytes. */
export const CHUNK_BYTES = 1024 * 1024
/** Measured: below, compression (35 µs) saves less than a database page; from here on at least a page. */
const COMPRESS_FROM_BYTES = 8192
/** A chunk is stored compressed when that has at most this share of its size. */
const WORTH = 0.9

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The message in chunks of CHUNK_BYTES, each compressed where that saves space. */
export function chunksOf(bytes: Uint8Array): Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const content = bytes.subarray(start, start + CHUNK_BYTES)
    const packed = content.length < COMPRESS_FROM_BYTES ? content : zstdCompressSync(content, ZSTD)
    const zstd = packed.length <= content.length * WORTH
    // zlib returns a slice of a shared buffer pool: only a copy can be transferred to another thread.
    const chunk: Chunk = { start, sizeBytes: content.length, zstd, data: zstd ? new Uint8Array(packed) : content }
    chunks.push(bytes.length > CHUNK_BYTES ? { ...chunk, digest: digestOf(content) } : chunk)
  }
  return chunks
}

/** The SHA-256 of a chunk, in memory of its own. */
export function digestOf(content: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', content, 'buffer'))
}
