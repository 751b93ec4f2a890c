// The bytes of a message as they are stored.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { strongEtag } from '../../http/etag.ts'
import { bytes, route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { RawMessage } from '../schemas/message.ts'
import { accountOf } from './account.ts'

const RAW_TYPE = 'message/rfc822'

const readRaw = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}/raw',
  operation: 'getRawMessage',
  tag: 'Messages',
  summary: 'Gives the whole mail as it is stored, trace headers included.',
  description:
    'With `Accept: message/rfc822` the bytes themselves, with ranges and a strong ETag; otherwise JSON with the bytes in ' +
    'base64.',
  as: 'mailbox',
  permission: 'mailbox.read',
  params: Type.Object({ message_id: Id('message') }),
  produces: ['application/json', RAW_TYPE],
  reply: RawMessage,
  etag: true,
  async handle({ params: { message_id }, request, principal, app }) {
    const { messages, blobs } = app.store
    const message = await messages.get(await accountOf(app, principal), message_id)
    if (message === undefined) throw notFound('message')
    const { id, blobHash, sizeBytes } = message
    if (request.accepts === RAW_TYPE) {
      return bytes({
        type: RAW_TYPE,
        sizeBytes,
        etag: strongEtag(blobHash),
        headers: { 'Content-Disposition': `attachment; filename="${id}.eml"` },
        read: (start, end) => blobs.read(blobHash, start, end),
      })
    }
    const content = await blobs.bytes(blobHash, 0, sizeBytes)
    return {
      id,
      size_bytes: sizeBytes,
      sha256: Buffer.from(blobHash).toString('hex'),
      encoding: 'base64',
      raw: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64'),
    }
  },
})

export const raw = [readRaw]
