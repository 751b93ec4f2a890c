// An attachment of a message.

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { Attachment as StoredAttachment } from '../../store/rows/records.ts'
import { record } from './record.ts'

export const AttachmentJson = record('Attachment', 'An attachment of a message.', {
  id: Id('attachment'),
  blob_id: Type.String({ pattern: '^blob_[a-z0-9]{24}$', description: 'The same for equal content in one mailbox.' }),
  part_id: Type.String({ description: 'MIME part number, as in IMAP.' }),
  filename: Type.String({ description: 'As in the message; untrusted content.' }),
  content_type: Type.String({ description: 'As in the message; untrusted content.' }),
  size_bytes: Type.Integer({ minimum: 0, description: 'Decoded size in bytes.' }),
  disposition: Words(['attachment', 'inline']),
  content_id: Nullable(Type.String({ description: 'Without angle brackets.' })),
  inline: Type.Boolean({ description: 'Shown inside the HTML body, which refers to it by Content-ID.' }),
})
export type AttachmentJson = Static<typeof AttachmentJson>

/** @param name returns the blob id of content by its SHA-256 */
export const presentAttachment = presenterOf<StoredAttachment, [nameOf: (hash: Uint8Array) => string]>()(
  AttachmentJson,
  { blob_id: ({ sha256 }, nameOf) => nameOf(sha256) },
)
