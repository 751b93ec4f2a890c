// What BODYSTRUCTURE needs of each part: parameters as written, texts, envelopes, decoded sizes, bare LF; and its bounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Part } from '../../../src/mime/message.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { DETAIL_MAX, DETAILS_TOTAL_MAX, PAIR_TEXT_MAX, PAIRS_MAX } from '../../../src/mime/part-details.ts'
import { findPart, readStructure } from '../../../src/mime/structure.ts'
import { mailOf, soundMail } from '../../support/mail.ts'
import { Random } from '../../support/random.ts'

function root(...lines: string[]): Part {
  return readStructure(mailOf(...lines)).root
}

test('parameters are kept as written: capitals, RFC 2231 pieces, quoted pairs removed', () => {
  const { params, dispositionParams, subtypeWritten, dispositionWritten } = root(
    ...['Content-Type: Application/PDF; NAME="a \\"b\\".pdf"; Charset=UTF-8', 'Content-Disposition: Form-Data;'],
    ...[" filename*0*=utf-8''a%20; filename*1=b.pdf; name=x", '', 'x'],
  )
  assert.deepEqual(params, [
    ['NAME', 'a "b".pdf'],
    ['Charset', 'UTF-8'],
  ])
  assert.deepEqual(dispositionParams, [
    ['filename*0*', "utf-8''a%20"],
    ['filename*1', 'b.pdf'],
    ['name', 'x'],
  ])
  assert.deepEqual([subtypeWritten, dispositionWritten], ['PDF', 'Form-Data'])
})

test('details are absent where the header has none, so that most parts cost nothing', () => {
  const part = JSON.parse(JSON.stringify(root('Content-Type: text/plain', 'Content-Disposition: inline', '', 'x')))
  assert.deepEqual(Object.keys(part).slice(12), ['hasNul'])
  assert.equal(part.hasNul, false)
})

test('description, MD5, language and location are text on one line; raw 8-bit text is decoded', () => {
  const { description, md5, language, location } = root(
    ...['Content-Description: =?utf-8?Q?a?= \xc3\xa4', '\tb', 'Content-MD5: Q2hlY2s=', 'Content-Language: en,', ' de'],
    ...['Content-Location: http://a.test/b', '', 'x'],
  )
  assert.deepEqual([description, md5], ['=?utf-8?Q?a?= ä\tb', 'Q2hlY2s='])
  assert.deepEqual([language, location], ['en, de', 'http://a.test/b'])
})

test('a message in a message has its envelope: all addresses of repeated fields, the first of others', () => {
  const part = root(
    ...['Content-Type: message/rfc822', '', 'From: Ann <ann@a.test>', 'To: b@b.test', 'TO: c@c.test', 'Subject: one'],
    ...['Subject: two', 'Reply-To: g: a@a.test;', 'In-Reply-To: <1@x>', 'Message-ID: <2@x>', 'X: y', '', 'x'],
  )
  assert.deepEqual(part.envelope, {
    from: 'Ann <ann@a.test>',
    to: 'b@b.test, c@c.test',
    subject: 'one',
    replyTo: 'g: a@a.test;',
    inReplyTo: '<1@x>',
    messageId: '<2@x>',
  })
  assert.equal(part.parts[0]!.envelope, undefined)
  assert.equal(root('From: Ann <ann@a.test>', '', 'x').envelope, undefined)
})

test('bare LF and NUL are counted where they are', () => {
  const bytes = Buffer.from(
    'A: 1\nContent-Type: multipart/mixed; boundary=x\n\r\npre\n--x\r\nB: 2\n\none\ntwo\r\n\n--x\n\nthr\0ee\n\n--x--\nend\n',
  )
  const { structure } = soundMail(bytes)
  const [one, two] = structure!.parts
  assert.deepEqual([structure!.headerLf, structure!.bodyLf, structure!.hasNul], [2, 11, true])
  assert.deepEqual([one!.headerLf, one!.bodyLf, one!.lines], [2, 1, 2])
  assert.deepEqual([two!.headerLf, two!.bodyLf], [1, 1])
  assert.deepEqual([one!.hasNul, two!.hasNul], [undefined, undefined])
})

test('decoded sizes are those of the body as it is served: with CRLF, but in binary bodies', () => {
  const cases: [string, string, number | null][] = [
    ['7bit', 'a\nb\r\n', 6],
    ['8bit', 'a\nb\r\n', 6],
    ['binary', 'a\nb\r\n', 5],
    ['quoted-printable', 'a=\nb=20 \nc=3D\r\n', 9],
    ['base64', 'YWJj\nZGU=\nZg==\n', 6],
    ['x-uuencode', 'begin', null],
    ['base64\r\nContent-Disposition: attachment', 'YWJj\r\n', 3],
    ['x-uuencode\r\nContent-Disposition: attachment', 'begin', null],
    ['', 'abc', 3],
  ]
  for (const [encoding, body, size] of cases) {
    const mail = parseMessage(Buffer.from(`Content-Transfer-Encoding: ${encoding}\r\n\r\n${body}`))
    assert.equal(mail.structure!.decodedBytes, size, encoding)
  }
  assert.equal(parseMessage(mailOf('Content-Type: multipart/mixed', '', 'x')).structure!.decodedBytes, undefined)
})

test('sizes, bare LF and kept fields of random bytes agree with a plain count', () => {
  const random = new Random(11)
  const pieces = [
    ...[
      '\n',
      '\r\n',
      '\r',
      '=',
      '=\r\n',
      '=\n',
      '=41',
      ' ',
      'A',
      'QUJD',
      'Zg==',
      '\0',
      '--x',
      '--x--',
      '\r\n\r\n',
      '\n\n',
    ],
    ...['Content-Type: multipart/mixed; boundary=x\r\n', 'Content-Transfer-Encoding: base64\r\n', 'Subject: a\n b\r\n'],
    ...['Content-Transfer-Encoding: quoted-printable\n', 'Content-Type: message/rfc822\r\n', 'To: a@b\r\n', '-', ':'],
  ]
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: random.below(40) }, () => random.pick(pieces)).join('')
    const bytes = Buffer.from(text, 'latin1')
    assert.doesNotThrow(() => soundMail(bytes), `${JSON.stringify(text)}`)
  }
})

test('bounds: parameters, their length, texts, and all details of a message together', () => {
  const many = Array.from({ length: 200 }, (_, at) => `p${at}=v`).join('; ')
  assert.equal(root(`Content-Type: text/plain; ${many}`, '', 'x').params!.length, PAIRS_MAX)
  const long = root(
    `Content-Type: text/plain; a=${'v'.repeat(5000)}`,
    `Content-Description: ${'d'.repeat(5000)}`,
    '',
    'x',
  )
  assert.equal(long.params![0]![1].length, PAIR_TEXT_MAX)
  assert.equal(long.description!.length, DETAIL_MAX)
  const part = [
    '--x',
    `Content-Type: text/plain; a=${'v'.repeat(1000)}`,
    `Content-Description: ${'d'.repeat(1000)}`,
    '',
  ]
  const inner = ['--x', 'Content-Type: message/rfc822', '', `Subject: ${'s'.repeat(15_000)}`, '', '']
  const parts = [...Array.from({ length: 100 }, () => part), ...Array.from({ length: 100 }, () => inner)].flat()
  const whole = root('Content-Type: multipart/mixed; boundary=x', '', ...parts, '--x--')
  assert.equal(whole.parts.length, 200)
  const details = whole.parts.map(({ params, description, envelope }) => [params, description, envelope])
  const length = JSON.stringify(details).length
  assert.ok(length > DETAILS_TOTAL_MAX / 2 && length < DETAILS_TOTAL_MAX * 1.1, `${length}`)
  assert.ok(findPart(whole, '200')!.envelope === undefined)
})
