// Describes the attachments of a message: file name, size, hash, and whether the HTML body shows them inline.

import { hash } from 'node:crypto'
import libmime from 'libmime'
import { decodeEntities } from '../html/entities.ts'
import { decodeBody } from './decode.ts'
import { fileName } from './file-name.ts'
import type { AttachmentPart, Part } from './message.ts'

/** Content-IDs of an HTML body that are read; more are ignored. */
const CIDS_MAX = 1000
const CID = /\bcid:([^"'\s<>()]{1,998})/gi

/** Describes the parts; `html` is the HTML body, whose `cid:` URLs mark inline parts. */
export function describeAttachments(bytes: Uint8Array, parts: readonly Part[], html: string): AttachmentPart[] {
  const referenced = referencedContentIds(html)
  return parts.map((part) => {
    const content = decodeBody(bytes.subarray(part.bodyStart, part.bodyEnd), part.encoding)
    const inline = part.contentId !== null && referenced.has(part.contentId)
    return {
      partId: part.id,
      filename: part.filename ?? fileName(`attachment-${part.id}.${libmime.detectExtension(part.type)}`)!,
      contentType: part.type,
      sizeBytes: content.length,
      sha256: hash('sha256', content, 'buffer'),
      disposition: part.disposition ?? (inline ? 'inline' : 'attachment'),
      contentId: part.contentId,
      inline,
    }
  })
}

/** The Content-IDs of the `cid:` URLs in the HTML (RFC 2392). */
function referencedContentIds(html: string): Set<string> {
  const ids = new Set<string>()
  for (const [, raw] of html.matchAll(CID)) {
    const id = decodeEntities(raw!)
    ids.add(id).add(percentDecoded(id))
    if (ids.size >= CIDS_MAX) break
  }
  return ids
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
