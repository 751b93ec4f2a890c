// The bodies of a message as they are stored, not yet decoded: for whoever decodes them elsewhere.

import type { Part } from '../../mime/message.ts'
import { findPart } from '../../mime/structure.ts'
import { BODY_BYTES_MAX } from '../../mime/view.ts'
import type { BodyBytes } from '../../workers/clean-task.ts'
import type { Blobs } from '../blobs.ts'
import type { KeptStructure } from './detail.ts'

export interface StoredBodies {
  text: BodyBytes | null
  html: BodyBytes | null
  /** At least one goes on behind what was read. */
  incomplete: boolean
}

/** At most BODY_BYTES_MAX of each. */
export async function storedBodies(blobs: Blobs, kept: KeptStructure): Promise<StoredBodies> {
  const parts = [kept.textPart, kept.htmlPart].map(
    (id) => (kept.root && id !== null && findPart(kept.root, id)) || null,
  )
  const [text, html] = await Promise.all(parts.map((part) => part && read(blobs, kept.blob, part)))
  const incomplete = parts.some((part) => part !== null && part.bodyEnd - part.bodyStart > BODY_BYTES_MAX)
  return { text: text ?? null, html: html ?? null, incomplete }
}

async function read(blobs: Blobs, blob: Uint8Array, part: Part): Promise<BodyBytes> {
  const end = Math.min(part.bodyEnd, part.bodyStart + BODY_BYTES_MAX)
  const { encoding, charset } = part
  return { bytes: await blobs.bytes(blob, part.bodyStart, end), encoding, charset }
}
