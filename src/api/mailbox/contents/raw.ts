// The bytes of a message as they are stored.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { etagOf, strongEtag } from '../../../http/etag.ts'
import { type BytesAnswer, bytes, route } from '../../../http/route.ts'
import { Id } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { RawMessage } from '../../schemas/message.ts'

const RAW_TYPE = 'message/rfc822'

const readRaw = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}/raw',
  docs: {
    operation: 'getRawMessage',
    tag: 'Messages',
    summary: 'Get the raw message, trace headers included',
    description:
      'With `Accept: message/rfc822` the bytes, with ranges and a strong ETag; otherwise JSON with the bytes in base64.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ message_id: Id('message') }),
  reply: { types: ['application/json', RAW_TYPE], schema: RawMessage, etag: true },
  handle({ params: { message_id }, request, principal, app }) {
    const {
      read: { messages },
      blobs,
    } = app.store
    const message = messages.get(accountOf(app, principal), message_id)
    if (message === undefined) throw notFound('message')
    const { id, blobHash, sizeBytes } = message
    const read = (start: number, end: number) => blobs.open(blobHash, start, end)
    if (request.accepts !== RAW_TYPE) return bytes(asJson({ id, hash: blobHash, sizeBytes, read }, request.id))
    return bytes({
      type: RAW_TYPE,
      sizeBytes,
      etag: strongEtag(blobHash),
      headers: { 'Content-Disposition': `attachment; filename="${id}.eml"` },
      read,
    })
  },
})

interface Content {
  id: string
  hash: Uint8Array
  sizeBytes: number
  read(start: number, end: number): Promise<AsyncIterable<Uint8Array>>
}

// A mail of 50 MiB is 67 MiB of JSON: it is written stretch by stretch, never held, and never stops anybody else.
function asJson({ id, hash, sizeBytes, read }: Content, requestId: string): BytesAnswer {
  const facts = { id, size_bytes: sizeBytes, sha256: Buffer.from(hash).toString('hex'), encoding: 'base64' }
  const head = Buffer.from(`{"ok":true,"data":${JSON.stringify(facts).slice(0, -1)},"raw":"`)
  const tail = Buffer.from(`"},"meta":{"request_id":"${requestId}"}}`)
  return {
    type: 'application/json; charset=utf-8',
    sizeBytes: head.length + Math.ceil(sizeBytes / 3) * 4 + tail.length,
    // The digest stands for the bytes, so that they need not be read to know that they are the same.
    etag: etagOf(facts),
    read: async () => framed(head, base64Of(await read(0, sizeBytes)), tail),
  }
}

async function* framed(
  head: Uint8Array,
  content: AsyncIterable<Uint8Array>,
  tail: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* content
  yield tail
}

async function* base64Of(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left: Uint8Array = new Uint8Array(0)
  for await (const piece of content) {
    const joined = Buffer.concat([left, piece])
    // Three bytes make four characters: the rest waits for what follows.
    const whole = joined.length - (joined.length % 3)
    yield Buffer.from(joined.toString('base64', 0, whole), 'latin1')
    left = joined.subarray(whole)
  }
  if (left.length > 0) yield Buffer.from(Buffer.from(left).toString('base64'), 'latin1')
}

export const raw = [readRaw]
