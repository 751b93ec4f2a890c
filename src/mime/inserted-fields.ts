// Adds header fields to a message that has been parsed: in front of our Received field, without parsing it again.

import { hash } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import { CHUNK_BYTES, chunksOf } from './chunks.ts'
import { readHeaders } from './headers.ts'
import type { Chunk, ParsedMessage, Part } from './message.ts'

/** A message as it is stored. */
interface StoredContent {
  message: ParsedMessage
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
}

/** Bytes of the header that are read to find the place; our trace fields are at its beginning. */
const TRACE_BYTES_MAX = 16 * 1024

/**
 * The same message with the fields in it, with its hash and the offsets of its parts.
 * @param fields whole lines of ASCII
 * @returns null for a message of several chunks, and for one without a Received field
 */
export function withFields<C extends StoredContent>(content: C, fields: string): C | null {
  const [chunk] = content.chunks
  if (chunk === undefined || content.chunks.length > 1 || content.sizeBytes + fields.length > CHUNK_BYTES) return null
  const bytes = chunk.zstd ? zstdDecompressSync(chunk.data) : chunk.data
  const { fields: present } = readHeaders(bytes.subarray(0, TRACE_BYTES_MAX))
  // In front of it: what the sender wrote may continue its last line.
  const at = present.find(({ name }) => name === 'received')?.start
  if (at === undefined) return null
  const changed = new Uint8Array(bytes.length + fields.length)
  changed.set(bytes.subarray(0, at))
  changed.set(Buffer.from(fields, 'latin1'), at)
  changed.set(bytes.subarray(at), at + fields.length)
  const { structure } = content.message
  const message = { ...content.message, structure: structure && moved(structure, fields.length) }
  return {
    ...content,
    ...{ message, hash: hash('sha256', changed, 'buffer'), sizeBytes: changed.length, chunks: chunksOf(changed) },
  }
}

/** The header of the whole message still begins at its first byte. */
function moved(part: Part, by: number): Part {
  return {
    ...part,
    headerStart: part.headerStart === 0 ? 0 : part.headerStart + by,
    bodyStart: part.bodyStart + by,
    bodyEnd: part.bodyEnd + by,
    parts: part.parts.map((inner) => moved(inner, by)),
  }
}
