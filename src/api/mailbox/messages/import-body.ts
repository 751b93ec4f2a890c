// Reads the body of an import (docs/design/mailbox.md §15).

import { type Static, Type } from 'typebox'
import { invalid } from '../../../base/errors.ts'
import type { BodyReader } from '../../../http/body-plan.ts'
import { parseTime, TimeQuery } from '../../../http/schema.ts'
import { decodeContent } from '../../../mime/compose/attachment-rules.ts'
import { FolderIds, Keywords, lower } from '../../rules/message-members.ts'
import { BlobId } from '../../schemas/blob-id.ts'
import { record } from '../../schemas/record.ts'

/** docs/design/http.md §10. */
export const IMPORT_BODY_LIMIT = 67_108_864

export const NewImport = record(
  'MessageImport',
  'A message to import unchanged: either its bytes in `raw`, or the `blob_id` of content of the mailbox.',
  {
    raw: Type.Optional(
      Type.String({
        minLength: 1,
        contentEncoding: 'base64',
        contentMediaType: 'message/rfc822',
        description: 'The message in base64 with padding, on one line.',
      }),
    ),
    blob_id: Type.Optional(BlobId('An upload, or a message attached to another one.')),
    folder_ids: Type.Optional(FolderIds('All folders of the message; the Inbox by default.', 1)),
    keywords: Type.Optional(Keywords('All keywords of the message; none by default.')),
    received_at: Type.Optional({
      ...TimeQuery,
      description: 'When it was received. Default: the time in its newest Received field, or now.',
    }),
  },
  {
    raw: 'RnJvbTogYm9iQGN1c3RvbWVyLmV4YW1wbGUNClN1YmplY3Q6IEhlbGxvDQoNCkhlbGxvIEFuYQ0K',
    keywords: ['$seen'],
    received_at: '2020-01-02T03:04:05Z',
  },
)
type NewImport = Static<typeof NewImport>

/** A message and the properties it is stored with. */
export interface ReadImport {
  content: Uint8Array | { blobId: string }
  /** Null: the Inbox. */
  folderIds: string[] | null
  keywords: string[]
  /** ms; null: not given. */
  receivedAt: number | null
}

export const reader: BodyReader<ReadImport> = {
  schema: NewImport,
  read: (body) => readImport(body as NewImport),
}

function readImport({ raw, blob_id: blobId, folder_ids, keywords = [], received_at }: NewImport): ReadImport {
  if (raw !== undefined && blobId !== undefined) {
    throw invalid('blob_id', 'forbidden_value', 'A message comes either in raw or by blob_id. Send only one of them.')
  }
  if (raw === undefined && blobId === undefined)
    throw invalid('raw', 'required', 'The message is missing. Send raw or blob_id.')
  return {
    content: raw === undefined ? { blobId: blobId! } : owned(decodeContent('raw', raw)),
    folderIds: folder_ids ?? null,
    keywords: lower(keywords),
    receivedAt: received_at === undefined ? null : parseTime(received_at, { param: 'received_at' }),
  }
}

/** Node cuts small buffers from a pool, and posting one to another thread would copy the whole pool. */
function owned(bytes: Buffer): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
