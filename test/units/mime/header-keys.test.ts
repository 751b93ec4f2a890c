// Keys of headers: what SORT, THREAD and searches in subjects compare is the same as in the fields themselves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sortValues } from '../../../src/imap/search/sort.ts'
import { envelopeFields } from '../../../src/mime/envelope.ts'
import { headerKeys, ID_DIGEST_LENGTH, NO_ID, THREAD_REFERENCES_MAX } from '../../../src/mime/header-keys.ts'
import { readHeaders } from '../../../src/mime/headers.ts'

const keysOf = (...lines: string[]) =>
  headerKeys(readHeaders(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')).fields)
const digests = (text: string) => text.match(new RegExp(`.{${ID_DIGEST_LENGTH}}`, 'g'))!

test('sorting by a key is sorting by the field', () => {
  const headers = [
    [
      'From: Zoe <Zoe@x.test>',
      'To: a@b.test, c@d.test',
      'Subject: Re: [list] Tea (fwd)',
      'Date: 3 Jan 2024 10:00 +0100',
    ],
    [
      'From: =?utf-8?q?=C3=84nne?= <"a b"@x.test>',
      'Cc: group: c@d.test;',
      'Subject: =?utf-8?q?=C3=84pfel?= und Birnen',
    ],
    ['Subject: \xd4\xc5\xd3\xd4', 'Content-Type: text/plain; charset=koi8-r', 'Date: nonsense'],
    ['To: undisclosed-recipients:;', 'From:'],
    [],
  ]
  for (const lines of headers) {
    const { fields } = readHeaders(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
    const keys = headerKeys(fields)
    const message = { receivedAt: 7, sizeBytes: 1, fields: envelopeFields(fields) }
    const named = (['subject', 'from', 'to', 'cc', 'date'] as const).map((key) => ({ key, isReverse: false }))
    assert.deepEqual(
      [keys.subject.key, keys.from, keys.to, keys.cc, keys.sentAt ?? 7],
      sortValues(named, message),
      lines.join(),
    )
  }
})

test('the text of subjects is decoded and folded, a line for each field; a very long one is not kept', () => {
  assert.equal(keysOf('Subject: Re: =?utf-8?q?=C3=84pfel?=', 'Subject: Two').subjectText, 're: äpfel\ntwo')
  assert.equal(keysOf('From: a@b.test').subjectText, '')
  assert.equal(keysOf(`Subject: ${'a'.repeat(20_000)}`).subjectText, null)
  assert.ok(keysOf(`Subject: ${'a'.repeat(20_000)}`).subject.key.length < 20_000)
})

test('messages are named by digests: its own, then those above it', () => {
  const [own, ...above] = digests(keysOf('Message-ID: <c@x>', 'References: <a@x>\r\n <b@x> <a@x>').threadIds)
  const idOf = (id: string) => keysOf(`Message-ID: <${id}>`).threadIds
  assert.deepEqual([own, ...above], [idOf('c@x'), idOf('a@x'), idOf('b@x'), idOf('a@x')])
  assert.equal(idOf('"c"@x'), own, 'a quoted local part is the same without quotes')
  assert.equal(keysOf('In-Reply-To: <a@x> <b@x>').threadIds, NO_ID + idOf('a@x'))
  assert.equal(keysOf('Subject: x').threadIds, NO_ID)
  const many = Array.from({ length: 2 * THREAD_REFERENCES_MAX }, (_, at) => `<${at}@x>`)
  assert.equal(digests(keysOf(`References: ${many.join(' ')}`).threadIds).length, 1 + THREAD_REFERENCES_MAX)
})
