// A file with its own id: a part of a message, or an upload.

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { BlobNamer } from '../../store/content/blob-names.ts'
import type { StoredFile } from '../../store/mailbox/contents.ts'
import { BlobId } from './blob-id.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

export const AttachmentFile = record(
  'AttachmentFile',
  'A file of the mailbox: a part of a message, or an upload. The sender chose the name and type of a part.',
  {
    id: Id('attachment'),
    blob_id: BlobId('The same for equal content in one mailbox.'),
    message_id: Nullable({ ...Id('message'), description: 'The message it is a part of; null for an upload.' }),
    part_id: Nullable(Type.String({ description: 'MIME part number, as in IMAP; null for an upload.' })),
    filename: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer({ minimum: 0, description: 'Decoded size in bytes.' }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the decoded bytes.' }),
    disposition: Words(['attachment', 'inline']),
    content_id: Nullable(Type.String({ description: 'Without angle brackets.' })),
    inline: Type.Boolean({ description: 'Shown inside the HTML body, which refers to it by Content-ID.' }),
    created_at: TimeOf('When it was received or uploaded.'),
    expires_at: TimeOrNull('When an unused upload is deleted; null for everything else.'),
  },
)
export type AttachmentFile = Static<typeof AttachmentFile>

/** @param nameOf returns the blob id of content by its SHA-256 */
export const presentFile = presenterOf<StoredFile, [nameOf: BlobNamer]>()(AttachmentFile, {
  blob_id: ({ sha256 }, nameOf) => nameOf(sha256),
  sha256: ({ sha256 }) => Buffer.from(sha256).toString('hex'),
})
