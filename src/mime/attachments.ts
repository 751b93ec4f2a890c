// The attachments of a mail: named, measured and hashed.

import { hash } from 'node:crypto'
import libmime from 'libmime'
import { decodeEntities } from '../html/entities.ts'
import { decodeBody } from './decode.ts'
import { fileName } from './file-name.ts'
import type { AttachmentPart, Part } from './message.ts'

/** Content-IDs an HTML body shows; more are not looked at. */
const CIDS_MAX = 1000
const CID = /\bcid:([^"'\s<>()]{1,998})/gi

/** Describes the parts; `html` is the HTML body's text, which says what is shown inside it. */
export function describeAttachments(bytes: Uint8Array, parts: readonly Part[], html: string): AttachmentPart[] {
  const shown = shownContentIds(html)
  return parts.map((part) => {
    const content = decodeBody(bytes.subarray(part.bodyStart, part.bodyEnd), part.encoding)
    const inline = part.contentId !== null && shown.has(part.contentId)
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

/** The Content-IDs of the "cid:" addresses in the HTML (RFC 2392). */
function shownContentIds(html: string): Set<string> {
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
