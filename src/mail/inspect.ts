// One pass over an arriving mail: judged, marked, read, hashed and cut into what is stored.

import { createHash } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import type { Resolver } from '../base/resolver.ts'
import { authenticate } from './authenticate.ts'
import type { Arrival, Chunk, Inspection } from './mail.ts'
import { parseMail } from './parse.ts'
import { addTrace } from './trace.ts'
import { mailTraits } from './traits.ts'

/** Content of one stored chunk at most, in bytes. */
export const CHUNK_BYTES = 1024 * 1024
/** Smaller chunks are kept as they are: what compressing saves is less than a page of the database. */
const COMPRESS_FROM_BYTES = 4096
/** A compressed chunk is kept when it has at most this share of its content's size. */
const WORTH = 0.9

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Never throws for what a mail holds: a mail that cannot be read is kept raw and says so. */
export async function inspect(bytes: Uint8Array, arrival: Arrival, resolver: Resolver): Promise<Inspection> {
  const { verdict, resultsHeader } = await authenticate(bytes, arrival, resolver)
  const stored = addTrace(bytes, arrival, resultsHeader)
  // Read as it is stored, so that offsets fit.
  const mail = parseMail(stored)
  return {
    verdict,
    mail,
    traits: mailTraits(stored, mail, arrival.receivedAt),
    hash: sha256(stored),
    sizeBytes: stored.length,
    chunks: chunksOf(stored),
    arrivedHash: sha256(bytes),
  }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

/** The mail in stretches of CHUNK_BYTES, each compressed where that pays. */
export function chunksOf(bytes: Uint8Array): Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const content = bytes.subarray(start, start + CHUNK_BYTES)
    const packed = content.length < COMPRESS_FROM_BYTES ? content : zstdCompressSync(content, ZSTD)
    const zstd = packed.length <= content.length * WORTH
    chunks.push({ start, sizeBytes: content.length, zstd, data: zstd ? packed : content })
  }
  return chunks
}
