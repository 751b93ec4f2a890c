// Splits a message into the chunks in which it is stored, each compressed where that saves space.

import { hash } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import { freeBytes } from '../base/free-bytes.ts'
import type { Chunk } from './message.ts'

/** Content of one stored chunk at most, in bytes. */
export const CHUNK_BYTES = 1024 * 1024
/** Measured: below, compression (35 µs) saves less than a database page; from here on at least a page. */
const COMPRESS_FROM_BYTES = 8192
/** A chunk is stored compressed when that has at most this share of its size. */
const WORTH = 0.9

/** What compressed bytes of a chunk may have more than its content, and more (ZSTD_compressBound). */
const GROWTH_BYTES = CHUNK_BYTES / 64
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** One buffer for all compressed bytes: the default makes 64 of 16 KiB for a chunk, and joins them. */
const WHOLE = { ...ZSTD, chunkSize: CHUNK_BYTES + GROWTH_BYTES }

/**
 * The message in chunks of CHUNK_BYTES, each compressed where that saves space. The chunks of a message of several have memory of their own, so
 * that they do not keep that of the whole message.
 */
export function chunksOf(bytes: Uint8Array): Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const content = bytes.subarray(start, start + CHUNK_BYTES)
    const options = content.length === CHUNK_BYTES ? WHOLE : ZSTD
    const packed = content.length < COMPRESS_FROM_BYTES ? content : zstdCompressSync(content, options)
    const zstd = packed.length <= content.length * WORTH
    // zlib returns a slice of a shared buffer pool, or of a larger buffer: only a copy can be transferred to another thread.
    const data = zstd || bytes.length > CHUNK_BYTES ? new Uint8Array(zstd ? packed : content) : content
    const chunk: Chunk = { start, sizeBytes: content.length, zstd, data }
    chunks.push(bytes.length > CHUNK_BYTES ? { ...chunk, digest: digestOf(content) } : chunk)
    if (packed !== content) freeBytes([packed])
  }
  return chunks
}

/** The SHA-256 of a chunk, in memory of its own. */
export function digestOf(content: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', content, 'buffer'))
}

/** The bytes of all chunks of contents. */
export function bytesOf(...contents: readonly { chunks: readonly Chunk[] }[]): Uint8Array[] {
  return contents.flatMap(({ chunks }) => chunks.map(({ data }) => data))
}
