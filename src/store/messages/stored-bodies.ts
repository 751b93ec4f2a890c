// The text and HTML body of a message as stored, to be decoded in a worker.

import type { Part } from '../../mime/message.ts'
import { findPart } from '../../mime/structure.ts'
import { BODY_BYTES_MAX } from '../../mime/view.ts'
import type { BodyBytes } from '../../workers/clean-task.ts'
import type { Blobs } from '../content/blobs.ts'
import type { StoredStructure } from './detail.ts'

export interface StoredBodies {
  text: BodyBytes | null
  html: BodyBytes | null
  /** At least one body is longer than what was read. */
  incomplete: boolean
}

/** Reads at most BODY_BYTES_MAX of each. */
export async function storedBodies(blobs: Blobs, structure: StoredStructure): Promise<StoredBodies> {
  const { blob, root } = structure
  const parts = [structure.textPart, structure.htmlPart].map(
    (id) => (root && id !== null && findPart(root, id)) || null,
  )
  const [text, html] = await Promise.all(parts.map((part) => part && readBody(blobs, blob, part)))
  const incomplete = parts.some((part) => part !== null && part.bodyEnd - part.bodyStart > BODY_BYTES_MAX)
  return { text: text ?? null, html: html ?? null, incomplete }
}

async function readBody(blobs: Blobs, blob: Uint8Array, part: Part): Promise<BodyBytes> {
  const end = Math.min(part.bodyEnd, part.bodyStart + BODY_BYTES_MAX)
  const { encoding, charset } = part
  return { bytes: await blobs.bytes(blob, part.bodyStart, end), encoding, charset }
}
