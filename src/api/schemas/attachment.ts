// A part of a mail that a person may save.

import { type Static, Type } from 'typebox'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { Attachment as StoredAttachment } from '../../store/records.ts'
import { record } from './record.ts'

export const Attachment = record('Attachment', 'A part of a mail that a person may save.', {
  id: Id('attachment'),
  blob_id: Type.String({ pattern: '^blob_[a-z0-9]{24}$', description: 'The same for equal content in one mailbox.' }),
  part_id: Type.String({ description: 'Number of the MIME part, as in IMAP.' }),
  filename: Type.String({ description: 'As the mail states it: foreign text.' }),
  content_type: Type.String({ description: 'As the mail states it: foreign text.' }),
  size_bytes: Type.Integer({ minimum: 0, description: 'Decoded size in bytes.' }),
  disposition: Words(['attachment', 'inline']),
  content_id: Nullable(Type.String({ description: 'Without angle brackets.' })),
  inline: Type.Boolean({ description: 'Shown inside the HTML body, which refers to it by Content-ID.' }),
})
export type Attachment = Static<typeof Attachment>

/** @param name gives the public name of content by its SHA-256 */
export function presentAttachment(attachment: StoredAttachment, name: (hash: Uint8Array) => string): Attachment {
  return {
    id: attachment.id,
    blob_id: name(attachment.sha256),
    part_id: attachment.partId,
    filename: attachment.filename,
    content_type: attachment.contentType,
    size_bytes: attachment.sizeBytes,
    disposition: attachment.disposition,
    content_id: attachment.contentId,
    inline: attachment.inline,
  }
}
