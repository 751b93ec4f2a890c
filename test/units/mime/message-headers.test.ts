// Kept header fields: which, the packed form, its bounds, and the frozen dictionary.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { constants, zstdCompressSync } from 'node:zlib'
import { HEADER_DICTIONARY } from '../../../src/mime/header-dictionary.ts'
import { readHeaders } from '../../../src/mime/headers.ts'
import {
  FieldFinder,
  KEPT_FIELDS,
  KEPT_HEADERS_MAX,
  packHeaders,
  unpackHeaders,
} from '../../../src/mime/message-headers.ts'
import { mailOf } from '../../support/mail.ts'
import { Random } from '../../support/random.ts'

function packed(bytes: Uint8Array): Uint8Array {
  return packHeaders(bytes, readHeaders(bytes).fields)
}

const LISTED = [
  ...['From: Ann <ann@a.test>', 'To: b@b.test,', '\tc@c.test', 'SUBJECT:one', ' two', 'Message-ID: <1@a.test>'],
  ...['References: <2@a.test>', ' <3@a.test>', 'List-Id: <l.a.test>', 'Content-Type: text/plain; charset=utf-8'],
]

test('the kept fields come back as written, in their order; others are left out', () => {
  const bytes = mailOf('Received: from x', '\tby y', ...LISTED, 'DKIM-Signature: v=1', 'cc: d@d.test', '', 'x')
  const { bytes: kept, fields, isCut } = unpackHeaders(packed(bytes))
  assert.equal(Buffer.from(kept).toString(), `${[...LISTED, 'cc: d@d.test'].join('\r\n')}\r\n`)
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['from', 'to', 'subject', 'message-id', 'references', 'list-id', 'content-type', 'cc'],
  )
  assert.equal(isCut, false)
  assert.equal(KEPT_FIELDS.size, 47)
})

test('short headers are stored as they are, long ones compressed', () => {
  assert.equal(packed(mailOf('To: a@a.test', '', ''))[0], 1)
  const long = mailOf(...LISTED, `To: ${'ben@example.com, '.repeat(60)}x@example.com`, '', '')
  const bytes = packed(long)
  assert.equal(bytes[0], 2)
  assert.ok(bytes.length < 300, `${bytes.length} bytes`)
  // A view of zlib's pool would take the whole pool along to another thread.
  assert.equal(bytes.buffer.byteLength, bytes.length)
})

test('no field at all and a header without an end', () => {
  assert.deepEqual(unpackHeaders(packed(mailOf('X: y', '', 'x'))).fields, [])
  const { bytes } = unpackHeaders(packed(Buffer.from('Subject: a')))
  assert.equal(Buffer.from(bytes).toString(), 'Subject: a')
})

test('a field that does not fit is left out whole, with a mark; those behind it are kept', () => {
  const bytes = mailOf('Subject: a', `To: ${'a@a.test, '.repeat(2000)}b@b.test`, 'Date: today', '', 'x')
  const { fields, isCut } = unpackHeaders(packed(bytes))
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['subject', 'date'],
  )
  assert.equal(isCut, true)
  // "To:" and two line ends leave exactly this much.
  const full = mailOf(`To:${'x'.repeat(KEPT_HEADERS_MAX - 5)}`, '', 'x')
  assert.equal(unpackHeaders(packed(full)).bytes.length, KEPT_HEADERS_MAX)
  assert.equal(unpackHeaders(packed(full)).isCut, false)
})

test('fields are found by name as reading all fields finds them', () => {
  const random = new Random(20261122)
  const lines = [
    ...[
      'From: Ann <ann@a.test>',
      'fROM : b',
      'from:',
      'To: a,\rFrom: c',
      'From no field',
      '>From x',
      'X-From: d',
      'Subject: \xe9\x00',
    ],
    ...[
      ' folded',
      '\tFrom: folded',
      ' ',
      'Reply-To: e',
      'To:\x0bf',
      'From\x85: g',
      '\u2028From: h',
      'List-Id: i',
      'References:',
      '\r',
    ],
  ]
  const names = ['from', 'to', 'subject', 'list-id', 'reply-to']
  let found = 0
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 1 + random.below(8) }, () => random.pick(lines)).join(random.pick(['\r\n', '\n']))
    const headers = unpackHeaders(
      packed(Buffer.from(`${text}${random.pick(['', '\n', '\r\n\r\nFrom: body'])}`, 'latin1')),
    )
    const wanted = new Set(random.some(names, 0.5))
    if (wanted.size === 0) continue
    const expected = headers.fields.filter(({ name }) => wanted.has(name))
    const written = expected.map(({ start, end }) => headers.bytes.toString('latin1', start, end))
    const finder = new FieldFinder(wanted)
    assert.deepEqual(finder.find(headers), written, JSON.stringify(text))
    const { bytes, fields, isCut } = headers
    assert.deepEqual(finder.find({ bytes, fields, isCut }), written)
    found += written.length
  }
  assert.ok(found > 500)
})

test('unpacking is bounded and refuses what is damaged', () => {
  const dictionary = Buffer.from(HEADER_DICTIONARY, 'base64')
  const bomb = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024), { dictionary })
  assert.ok(bomb.length < KEPT_HEADERS_MAX)
  assert.throws(() => unpackHeaders(Buffer.concat([Buffer.of(2), bomb])), { code: 'ERR_BUFFER_TOO_LARGE' })
  assert.throws(() => unpackHeaders(Buffer.alloc(KEPT_HEADERS_MAX + 2, 1)), /too long/)
  for (const bytes of [[], [0], [3, 1], [0x83]]) assert.throws(() => unpackHeaders(Uint8Array.from(bytes)), /unknown/)
  assert.throws(() => unpackHeaders(Uint8Array.of(2, 1, 2, 3)))
})

test('the dictionary is frozen: what was packed with it stays readable', () => {
  const dictionary = Buffer.from(HEADER_DICTIONARY, 'base64')
  assert.equal(dictionary.length, 16_384)
  assert.equal(
    createHash('sha256').update(dictionary).digest('hex'),
    'd16f5b19fdf77ba7067d63f206d1fa915989bb4cd250b127a13b339f56881702',
  )
  const stored = Buffer.from(
    'Aii1L/1jO4/aGkwB3QUAo4cWGxwp4DK+m+1Kp4zwvZduFiLZC4OyIZLNqBdd3mBQpIxtNqG6jOWPiSKNuO6OCN97Rzd8WqFPv7Gp' +
      '8Wgdzt1sjL++ad1Wt9VOQUm96EYinYVBkbIJRFqhuu4KIvy5cTjwgKScWuUPpHyL5Uj3cDvGtHFXOmfBgJigKprc4GyKC+xl0puq' +
      'Mqcw4Fjvcg8rs14yy8itMFGUPwckZjgRWysbsrox0S0W1VBWJk8UyQUBcsBvjLqosCrHBg==',
    'base64',
  )
  assert.equal(Buffer.from(unpackHeaders(stored).bytes).toString(), STORED_FIELDS)
})

test('the dictionary halves a common header', () => {
  const bytes = Buffer.from(STORED_FIELDS)
  const params = { [constants.ZSTD_c_compressionLevel]: 1 }
  assert.ok(packed(bytes).length < zstdCompressSync(bytes, { params }).length * 0.75)
})

const STORED_FIELDS = [
  ...['MIME-Version: 1.0', 'From: Ann Writer <ann@example.com>', 'Date: Mon, 6 May 2024 10:00:00 +0200'],
  ...['Message-ID: <CAFb1c2=abcDEF_xyz@mail.gmail.com>', 'In-Reply-To: <1714982400.12345.1714982400000@example.org>'],
  ...[
    'References: <1714982400.12345.1714982400000@example.org>',
    'Subject: Re: [project] Report for the meeting tomorrow',
  ],
  ...['To: Ben Reader <ben@example.org>, Carla <carla@example.net>', 'Cc: users@lists.example.org'],
  ...['Content-Type: multipart/alternative; boundary="0000000000001234567890abcdef"', 'Precedence: list'],
  ...['List-Id: users <users.lists.example.org>', 'List-Post: <mailto:users@lists.example.org>', ''],
].join('\r\n')
