// Fields that are added to a parsed message: the result is that of parsing the changed bytes.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { CHUNK_BYTES, chunksOf } from '../../../src/mime/chunks.ts'
import { withFields } from '../../../src/mime/inserted-fields.ts'
import { parseMessage } from '../../../src/mime/parse.ts'

const FIELDS = 'X-Spam-Score: 7.3\r\nX-Spam-Reasons: words=5,\r\n dmarc_fail=2\r\n'
const TOP = 'Return-Path: <a@b.test>\r\n'
const RECEIVED = 'Received: by mx.test with ESMTP id 1;\r\n Sat, 28 Nov 2026 13:00:00 +0000\r\n'
const TRACE = TOP + RECEIVED

function contentOf(text: string) {
  const bytes = new Uint8Array(Buffer.from(text, 'latin1'))
  const message = parseMessage(bytes)
  return { message, hash: hash('sha256', bytes, 'buffer'), sizeBytes: bytes.length, chunks: chunksOf(bytes) }
}

const part = (type: string, body: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
const inner = 'From: c@d.test\r\nSubject: Inside\r\n\r\nforwarded\r\n'
const MESSAGES = {
  plain: 'From: a@b.test\r\nSubject: Hello\r\n\r\nHow are you\r\n',
  'with parts': `From: a@b.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${part('text/plain', 'one')}${part('text/html', '<p>two</p>')}${part('message/rfc822', inner)}--b--\r\n`,
  'long and compressed': `From: a@b.test\r\n\r\n${'the same line again\r\n'.repeat(2000)}`,
  'whose first line continues ours': ' folded\r\nFrom: a@b.test\r\n\r\nbody\r\n',
  'without a header': '\r\nbody\r\n',
  'with bare line feeds': 'From: a@b.test\nSubject: x\n\nbody\nbody\n',
}

for (const [name, text] of Object.entries(MESSAGES)) {
  test(`a message ${name} is the one that the changed bytes are`, () => {
    const expected = contentOf(TOP + FIELDS + RECEIVED + text)
    assert.deepEqual(withFields(contentOf(TRACE + text), FIELDS), expected)
  })
}

test('a message of several chunks stays as it is', () => {
  const long = `${TRACE}From: a@b.test\r\n\r\n${'x'.repeat(76)}\r\n`.padEnd(CHUNK_BYTES + 1, 'y')
  assert.equal(withFields(contentOf(long), FIELDS), null)
  assert.equal(withFields(contentOf(long.slice(0, CHUNK_BYTES - 10)), FIELDS), null)
})
