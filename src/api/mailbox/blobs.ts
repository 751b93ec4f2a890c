// Content by its public name: who names it, and copies of it in another mailbox.

import { type Static, Type } from 'typebox'
import { conflict } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, Words } from '../../http/schema.ts'
import type { FoundContent } from '../../store/contents.ts'
import { gatherContent } from '../../store/gather.ts'
import { type NewUpload, PENDING_BYTES_MAX } from '../../store/uploads.ts'
import { BlobId } from '../schemas/blob-id.ts'
import { record } from '../schemas/record.ts'
import { accountOf, writableAccountOf, writableMailbox } from './account.ts'
import { requireRoom } from './attachments.ts'
import { sourceAccountOf } from './source-mailbox.ts'

const BLOBS_MAX = 100
const TYPES = ['messages', 'threads', 'folders'] as const

const blobIds = Type.Array(BlobId('A mail of the mailbox, a file in one, or an upload.'), {
  minItems: 1,
  maxItems: BLOBS_MAX,
  uniqueItems: true,
  description: 'Names of contents, each once.',
})

const BlobMatch = record('BlobMatch', 'What names a content.', {
  blob_id: BlobId('As it was asked for.'),
  found: Type.Boolean({ description: 'The mailbox holds it: in a message, or as an upload.' }),
  matched: record('BlobMatches', 'Ids of what names it; only the types that were asked for are filled.', {
    messages: Type.Array(Id('message'), { description: 'The newest first, at most 100.' }),
    threads: Type.Array(Id('thread')),
    folders: Type.Array(Id('folder')),
  }),
})

const lookUpBlobs = route({
  method: 'POST',
  path: '/mailbox/blobs/lookup',
  operation: 'lookUpBlobs',
  tag: 'Messages',
  summary: 'Tells which messages, threads and folders hold contents.',
  as: 'mailbox',
  permission: 'mailbox.read',
  body: record(
    'BlobLookup',
    'Contents that are looked for.',
    {
      blob_ids: blobIds,
      types: Default(
        Type.Array(Words(TYPES), {
          minItems: 1,
          maxItems: TYPES.length,
          uniqueItems: true,
          description: 'What to tell.',
        }),
        ['messages'],
      ),
    },
    { blob_ids: ['blob_a1b2c3d4e5f6g7h8i9j0k1l2'], types: ['messages'] },
  ),
  reply: Type.Array(BlobMatch),
  async handle({ body, principal, app }): Promise<Static<typeof BlobMatch>[]> {
    const account = await accountOf(app, principal)
    const wants = (type: (typeof TYPES)[number], ids: string[]) => (body.types.includes(type) ? ids : [])
    const matches = []
    for (const id of body.blob_ids) {
      const { found, messages, threads, folders } = await app.store.contents.lookUp(account, id)
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
  operation: 'copyBlobs',
  tag: 'Messages',
  summary: 'Copies contents of another mailbox of the team into uploads of this one.',
  description:
    'A credential is for one mailbox: that of the source comes in `X-Source-Authorization` and needs `mailbox.read`. The copies go ' +
    'after 24 hours unless something names them. 409 when the mailbox is full, or the copies do not fit into 100 MiB of uploads.',
  as: 'mailbox',
  permission: 'mailbox.write',
  idempotent: true,
  fromMailbox: true,
  body: record(
    'BlobCopy',
    'What is copied from where.',
    {
      source_mailbox_id: { ...Id('mailbox'), description: 'The mailbox that holds them.' },
      blob_ids: blobIds,
    },
    { source_mailbox_id: 'mbx_a1b2c3d4e5f6g7h8i9j0k1l2', blob_ids: ['blob_a1b2c3d4e5f6g7h8i9j0k1l2'] },
  ),
  reply: record('CopiedBlobs', 'What became of them.', {
    copied: Type.Record(Type.String(), BlobId('Its name here.'), {
      description: 'By their name in the source mailbox.',
    }),
    not_found: Type.Array(BlobId('The source mailbox holds no such content.')),
  }),
  async handle({ body, principal, app, request }) {
    const account = await writableAccountOf(app, principal)
    const { source_mailbox_id: sourceId, blob_ids: ids } = body
    const source = await sourceAccountOf(app, principal, request.sourceSecret, sourceId, ['mailbox.read'])
    const held = await Promise.all(ids.map(async (id) => ({ id, content: await app.store.contents.find(source, id) })))
    const there = held.flatMap(({ id, content }) => (content === undefined ? [] : [{ id, content }]))
    const bytes = there.reduce((sum, { content }) => sum + content.sizeBytes, 0)
    if (bytes > PENDING_BYTES_MAX) throw conflict(`Copies of ${bytes} bytes do not fit into the room for uploads.`)
    await requireRoom(app, account, bytes)
    const uploads: { id: string; upload: NewUpload }[] = []
    for (const { id, content } of there) uploads.push({ id, upload: await copied(app, content) })
    return app.db.write(async (tx) => {
      await writableMailbox(tx, app, account)
      const names: [string, string][] = []
      for (const { id, upload } of uploads) names.push([id, (await app.store.uploads.add(tx, account, upload)).blobId])
      const data = {
        copied: Object.fromEntries(names),
        not_found: held.filter(({ content }) => content === undefined).map(({ id }) => id),
      }
      await request.keep(tx, { data })
      return answer({ data })
    })
  },
})

/** The content in the content store, decoded and by itself; it may be there already. */
async function copied(app: Context, { place, sizeBytes, type, filename }: FoundContent): Promise<NewUpload> {
  const content = await gatherContent(app.store.contents.read(place, 0, sizeBytes))
  await app.store.blobs.putAll([content])
  return { filename, contentType: type, sizeBytes: content.sizeBytes, sha256: content.hash }
}

export const blobs = [lookUpBlobs, copyBlobs]
