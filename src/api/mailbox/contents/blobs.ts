// Blobs: the objects that use them, and copies of them in another mailbox.

import { type Static, Type } from 'typebox'
import { conflict } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { answer, route } from '../../../http/route.ts'
import { Default, Id, Words } from '../../../http/schema.ts'
import { orDamaged } from '../../../store/content/damaged-content.ts'
import { packContent } from '../../../store/content/pack-content.ts'
import { type NewUpload, PENDING_BYTES_MAX } from '../../../store/content/uploads.ts'
import type { FoundContent } from '../../../store/mailbox/contents.ts'
import { accountOf, writableAccountOf, writableMailbox } from '../../rules/account.ts'
import { sourceAccountOf } from '../../rules/source-mailbox.ts'
import { BlobId } from '../../schemas/blob-id.ts'
import { record } from '../../schemas/record.ts'
import { requireRoom } from './attachments.ts'

const BLOBS_MAX = 100
const TYPES = ['messages', 'threads', 'folders'] as const

const blobIds = Type.Array(BlobId('A message of the mailbox, a file in one, or an upload.'), {
  minItems: 1,
  maxItems: BLOBS_MAX,
  uniqueItems: true,
  description: 'Blob ids, each once.',
})

const BlobMatch = record('BlobMatch', 'Types of objects that use a blob.', {
  blob_id: BlobId('As requested.'),
  found: Type.Boolean({ description: 'The mailbox has this blob: in a message, or as an upload.' }),
  matched: record('BlobMatches', 'Ids of the objects that use it; only the requested types are filled.', {
    messages: Type.Array(Id('message'), { description: 'Newest first, at most 100.' }),
    threads: Type.Array(Id('thread')),
    folders: Type.Array(Id('folder')),
  }),
})

const lookupBlobs = route({
  method: 'POST',
  path: '/mailbox/blobs/lookup',
  docs: {
    operation: 'lookupBlobs',
    tag: 'Messages',
    summary: 'Find the messages, threads and folders that use blobs',
    description: 'One entry for each id, with the ids of the types that were asked for.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read', gate: 'blob_lookup' },
  body: {
    schema: record(
      'BlobLookup',
      'The blobs to look up.',
      {
        blob_ids: blobIds,
        types: Default(
          Type.Array(Words(TYPES), {
            minItems: 1,
            maxItems: TYPES.length,
            uniqueItems: true,
            description: 'Types to return.',
          }),
          ['messages'],
        ),
      },
      { blob_ids: ['blob_a1b2c3d4e5f6g7h8i9j0k1l2'], types: ['messages'] },
    ),
  },
  reply: { schema: Type.Array(BlobMatch) },
  async handle({ body, principal, app }): Promise<Static<typeof BlobMatch>[]> {
    const account = accountOf(app, principal)
    const wants = (type: (typeof TYPES)[number], ids: string[]) => (body.types.includes(type) ? ids : [])
    const matches = []
    for (const id of body.blob_ids) {
      const { found, messages, threads, folders } = await app.store.read.contents.references(account, id)
      const matched = {
        messages: wants('messages', messages),
        threads: wants('threads', threads),
        folders: wants('folders', folders),
      }
      matches.push({ blob_id: id, found, matched })
    }
    return matches
  },
})

const copyBlobs = route({
  method: 'POST',
  path: '/mailbox/blobs/copy',
  docs: {
    operation: 'copyBlobs',
    tag: 'Messages',
    summary: 'Copy blobs of another mailbox of the team as uploads of this one',
    description:
      'A credential belongs to one mailbox: the credential of the source mailbox is sent in `X-Source-Authorization` and needs ' +
      '`mailbox.read`. The copies are deleted after 24 hours unless they are used. 409 when the mailbox is full, or the copies ' +
      'exceed the 100 MiB for uploads.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', fromMailbox: true, gate: 'blob_copy' },
  idempotent: true,
  body: {
    schema: record(
      'BlobCopy',
      'The blobs to copy, and their mailbox.',
      {
        source_mailbox_id: { ...Id('mailbox'), description: 'The mailbox to copy from.' },
        blob_ids: blobIds,
      },
      { source_mailbox_id: 'mbx_a1b2c3d4e5f6g7h8i9j0k1l2', blob_ids: ['blob_a1b2c3d4e5f6g7h8i9j0k1l2'] },
    ),
  },
  reply: {
    schema: record('CopiedBlobs', 'The result of the copy.', {
      copied: Type.Record(Type.String(), BlobId('Blob id in this mailbox.'), {
        description: 'By blob id in the source mailbox.',
      }),
      not_found: Type.Array(BlobId('Blob ids the source mailbox does not have.')),
      damaged: Type.Array(BlobId('Blobs whose stored bytes are damaged or missing: they are not copied.')),
    }),
  },
  async handle({ body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const { source_mailbox_id: sourceId, blob_ids: ids } = body
    const source = sourceAccountOf(app, principal, request.sourceSecret, sourceId, ['mailbox.read'])
    const sources = await Promise.all(
      ids.map(async (id) => ({ id, content: await app.store.read.contents.find(source, id) })),
    )
    const there = sources.flatMap(({ id, content }) => (content === undefined ? [] : [{ id, content }]))
    const bytes = there.reduce((sum, { content }) => sum + content.sizeBytes, 0)
    if (bytes > PENDING_BYTES_MAX)
      throw conflict(`Copies of ${bytes} bytes exceed the space for uploads. Copy fewer blobs at once.`)
    requireRoom(app, account, bytes)
    const uploads: { id: string; upload: NewUpload }[] = []
    const damaged: string[] = []
    for (const { id, content } of there) {
      const upload = await orDamaged(copied(app, content))
      if (upload === 'damaged') damaged.push(id)
      else uploads.push({ id, upload })
    }
    return app.db.write((tx) => {
      writableMailbox(tx, app, account)
      const names: [string, string][] = []
      for (const { id, upload } of uploads) names.push([id, app.store.edit.uploads.add(tx, account, upload).blobId])
      const data = {
        copied: Object.fromEntries(names),
        not_found: sources.filter(({ content }) => content === undefined).map(({ id }) => id),
        damaged,
      }
      request.keep(tx, { data })
      return answer({ data })
    })
  },
})

/** Stores the decoded content as a blob of its own, if it is not there already. */
async function copied(app: Context, { range, sizeBytes, type, filename }: FoundContent): Promise<NewUpload> {
  const content = await packContent(app.store.read.contents.read(range, 0, sizeBytes))
  await app.store.blobs.putAll([content])
  return { filename, contentType: type, sizeBytes: content.sizeBytes, sha256: content.hash }
}

export const blobs = [lookupBlobs, copyBlobs]
