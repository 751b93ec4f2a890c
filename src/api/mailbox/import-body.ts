// The body of an import, and what becomes of it (decisions §10.15).

import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { BodyReader } from '../../http/body-plan.ts'
import { parseTime, TimeQuery } from '../../http/schema.ts'
import { decodeContent } from '../../mime/compose/attachment-rules.ts'
import { BlobId } from '../schemas/blob-id.ts'
import { record } from '../schemas/record.ts'
import { FolderIds, Keywords, lower } from './message-members.ts'

/** Decisions §1.10. */
export const IMPORT_BODY_LIMIT = 67_108_864

export const NewImport = record(
  'MessageImport',
  'A mail that is to be kept as it is: either its bytes in `raw`, or the `blob_id` of content the mailbox holds.',
  {
    raw: Type.Optional(
      Type.String({
        minLength: 1,
        contentEncoding: 'base64',
        contentMediaType: 'message/rfc822',
        description: 'The mail in base64 with padding, on one line.',
      }),
    ),
    blob_id: Type.Optional(BlobId('An upload, or a mail that is a file in another one.')),
    folder_ids: Type.Optional(FolderIds('All the folders it is to lie in; the Inbox unless given.', 1)),
    keywords: Type.Optional(Keywords('All it is to have; none unless given.')),
    received_at: Type.Optional({
      ...TimeQuery,
      description: 'When it was received; unless given, what its newest Received field says, or now.',
    }),
  },
  {
    raw: 'RnJvbTogYm9iQGN1c3RvbWVyLmV4YW1wbGUNClN1YmplY3Q6IEhlbGxvDQoNCkhlbGxvIEFuYQ0K',
    keywords: ['$seen'],
    received_at: '2020-01-02T03:04:05Z',
  },
)
type NewImport = Static<typeof NewImport>

/** A mail and how it is to be kept. */
export interface ReadImport {
  content: Uint8Array | { blobId: string }
  /** Null: the Inbox. */
  folderIds: string[] | null
  keywords: string[]
  /** ms; null: nobody says. */
  receivedAt: number | null
}

export const reader: BodyReader<ReadImport> = {
  schema: NewImport,
  read: (body) => readImport(body as NewImport),
}

function readImport({ raw, blob_id: blobId, folder_ids, keywords = [], received_at }: NewImport): ReadImport {
  if (raw !== undefined && blobId !== undefined) {
    throw invalid('blob_id', 'forbidden_value', 'A mail comes either in raw or by its blob_id.')
  }
  if (raw === undefined && blobId === undefined) throw invalid('raw', 'required', 'The mail is needed: raw or blob_id.')
  return {
    content: raw === undefined ? { blobId: blobId! } : owned(decodeContent('raw', raw)),
    folderIds: folder_ids ?? null,
    keywords: lower(keywords),
    receivedAt: received_at === undefined ? null : parseTime(received_at, { param: 'received_at' }),
  }
}

/** Node cuts small ones from a pool, all of which would travel along between threads. */
function owned(bytes: Buffer): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
