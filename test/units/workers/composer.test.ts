// Mails composed here and in the thread: the same bytes, the same refusals, and what is kept of them.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { sha256 } from '../../../src/base/secrets.ts'
import { CHUNK_BYTES } from '../../../src/mime/chunks.ts'
import { compose } from '../../../src/mime/compose/compose.ts'
import {
  composeContent,
  contentBytes,
  type EncodedAttachment,
  RAW_MAX,
  type UncheckedDraft,
} from '../../../src/mime/compose/outgoing-content.ts'
import type { Chunk } from '../../../src/mime/message.ts'
import { Composer } from '../../../src/workers/composer.ts'
import { failure } from '../../support/directory.ts'
import { person } from '../../support/mailbox.ts'

const composer = new Composer()
after(() => composer.close())

function draft(more: Partial<UncheckedDraft> = {}): UncheckedDraft {
  return {
    ...{ from: person('ana@shop.test', 'Ana'), to: [person('ben@shop.test')], cc: [], bcc: [], replyTo: [] },
    ...{ subject: 'Hello', textBody: 'Hello Ben', htmlBody: null, headers: [], attachments: [] },
    ...{ messageId: 'eml_1@shop.test', date: 0, inReplyTo: null, references: [], ...more },
  }
}

function file(content: Uint8Array, encoding: string | null = null, sizeBytes = content.length): EncodedAttachment {
  return { filename: 'a.zip', type: null, content, sizeBytes, encoding, disposition: 'attachment', contentId: null }
}

const bytesOf = (chunks: readonly Chunk[]) =>
  Buffer.concat(chunks.map(({ zstd, data }) => (zstd ? zstdDecompressSync(data) : data)))

/** Bytes without a pattern. */
const noise = (length: number) =>
  Buffer.concat(Array.from({ length: Math.ceil(length / 32) }, (_, i) => sha256(String(i)))).subarray(0, length)

describe('a large mail', () => {
  test('is the same as if it had been composed here', async () => {
    const content = noise(3 * CHUNK_BYTES + 5)
    const { attachments: _, textBody: __, htmlBody: ___, ...rest } = draft()
    const plain = { ...rest, textBody: 'Grüße', htmlBody: null, attachments: [{ ...file(content) }] }
    const { bytes } = compose(plain)
    const long = draft({ textBody: new TextEncoder().encode('Grüße'), attachments: [file(new Uint8Array(content))] })
    const written = await composer.compose(long, true)
    assert.deepEqual(bytesOf(written.chunks), bytes)
    assert.deepEqual([Buffer.from(written.hash), written.sizeBytes], [sha256(bytes), bytes.length])
    assert.deepEqual([written.message!.subject, written.message!.searchText.trim()], ['Hello', 'Grüße'])
    assert.equal(long.attachments[0]!.content.length, 0, 'its content was handed over, not copied')
  })

  test('is refused as a small one is', async () => {
    const empty = { textBody: '', htmlBody: null, attachments: [file(new Uint8Array(300_000))] }
    await assert.rejects(
      composer.compose(draft(empty), false),
      failure('missing_parameter', { field: 'html_body', code: 'required' }),
    )
    await assert.rejects(composer.compose(draft({ textBody: '' }), false), failure('missing_parameter'))
  })

  test('has a size at most, whether that is seen before or after composing', async () => {
    const most = new Uint8Array((RAW_MAX / 4) * 3)
    await assert.rejects(composer.compose(draft({ attachments: [file(most)] }), false), failure('payload_too_large'))
    // Four bytes of base64 for each of these, and line ends.
    const wide = '世'.repeat(10_400_000)
    assert.ok(contentBytes(draft({ textBody: wide })) < RAW_MAX)
    await assert.rejects(composer.compose(draft({ textBody: wide }), false), failure('payload_too_large'))
  })
})

test('a file may still be encoded as it was received', () => {
  const content = noise(1000)
  const lines = Buffer.from(content.toString('base64').replace(/.{76}/g, '$&\r\n'))
  const one = composeContent(draft({ attachments: [file(lines, 'base64', content.length)] }), true)
  const [attachment] = one.message!.attachments
  assert.deepEqual([attachment!.sizeBytes, Buffer.from(attachment!.sha256)], [content.length, sha256(content)])
})

test('nobody reads what is not kept to be shown', () => {
  assert.equal(composeContent(draft(), false).message, null)
})

test('a closed composer says so', async () => {
  const closed = new Composer()
  await closed.close()
  const large = draft({ attachments: [file(new Uint8Array(300_000))] })
  await assert.rejects(closed.compose(large, false), failure('service_unavailable'))
})
