// ENVELOPE: RFC 9051 §7.5.2, and what sessions without UTF-8 get (RFC 6858).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EnvelopeFormatter } from '../../../../src/imap/fetch/envelope.ts'
import { asciiText } from '../../../../src/imap/fetch/response-parts.ts'
import { decodeHeader } from '../../../../src/mime/decode.ts'
import { type EnvelopeFields, envelopeFields, keptEnvelope } from '../../../../src/mime/envelope.ts'
import { readHeaders } from '../../../../src/mime/headers.ts'
import { packHeaders, unpackHeaders } from '../../../../src/mime/message-headers.ts'
import { bytesOf, stringFormat } from '../../../support/imap-strings.ts'
import { mailOf } from '../../../support/mail.ts'
import { Random } from '../../../support/random.ts'

function envelope(fields: EnvelopeFields, isUtf8 = false): string {
  return bytesOf(new EnvelopeFormatter(stringFormat(isUtf8)).format(fields)).toString()
}

test('all members in their order; Sender and Reply-To are those of From where they are missing or empty', () => {
  const { fields } = readHeaders(
    mailOf(
      ...['Message-ID: <m@x>', 'In-Reply-To: <r@x>', 'Date: Thu, 15 Feb 2007 01:02:03 +0200', 'Subject: a "b"', '\tc'],
      ...['From: F <f@x>', 'Sender:', 'To: g: a@x, b@x;, (none)', 'Cc: <@r:c@x>', 'Bcc: b@x (B)', '', ''],
    ),
  )
  assert.equal(
    envelope(envelopeFields(fields)),
    '("Thu, 15 Feb 2007 01:02:03 +0200" "a \\"b\\"\tc" (("F" NIL "f" "x")) (("F" NIL "f" "x")) (("F" NIL "f" "x")) ' +
      '((NIL NIL "g" NIL)(NIL NIL "a" "x")(NIL NIL "b" "x")(NIL NIL NIL NIL)) ((NIL "@r" "c" "x")) (("B" NIL "b" "x")) ' +
      '"<r@x>" "<m@x>")',
  )
  assert.equal(envelope({}), '(NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)')
  assert.equal(envelope({ subject: '', replyTo: 'r@x' }), '(NIL "" NIL NIL ((NIL NIL "r" "x")) NIL NIL NIL NIL NIL)')
})

test('a raw subject is read in the charset the message declares, as in the API', () => {
  const header = (charset: string) =>
    readHeaders(mailOf('Subject: \xcf\xf0\xe8', `Content-Type: text/plain; charset=${charset}`, '', '')).fields
  assert.equal(envelopeFields(header('windows-1251')).subject, 'При')
  assert.equal(envelopeFields(header('none')).subject, 'Ïðè')
  assert.equal(envelopeFields(header('none'), 'windows-1251').subject, 'При')
})

test('the kept fields of a message have the envelope of its header', () => {
  const headers = [
    ['From: a@x', 'from : b@x,', ' c@x', 'Subject: one', 'Subject: two', 'X-Other: d@x', 'Sender:', 'TO:\tg: h@x;'],
    ['Subject: \x1b$B4A;z\x1b(B', 'From: =?utf-8?q?=C3=84?= <a@x>'],
    ['Subject: \xcf\xf0\xe8', 'Content-Type: text/plain; charset=windows-1251', 'Message-ID: <a@x>'],
    ['Subject: caf\xc3\xa9', 'Date: now', 'Cc:', 'Bcc: \0b@x', 'In-Reply-To: a\rb'],
    ['X-Other: x'],
  ]
  for (const lines of headers) {
    const bytes = mailOf(...lines, '', '')
    const { fields } = readHeaders(bytes)
    assert.deepEqual(keptEnvelope(unpackHeaders(packHeaders(bytes, fields))), envelopeFields(fields), lines.join())
  }
})

test('lists are written again as before, also those that are literals', () => {
  const formatter = new EnvelopeFormatter(stringFormat(false))
  const long = `${'x'.repeat(300)} <a@x>`
  const texts = [1, 2].map(() => bytesOf(formatter.format({ from: long, sender: '', to: 'b@x', cc: 'b@x' })).toString())
  assert.equal(texts[0], texts[1])
  assert.equal(texts[0], envelope({ from: long, sender: long, replyTo: long, to: 'b@x', cc: 'b@x' }))
})

test('long and multi-line values are literals or one line; NUL is none of a string', () => {
  const long = 'x'.repeat(300)
  assert.match(envelope({ subject: long }), /^\(NIL \{300\}\r\nx{300} NIL/)
  assert.match(envelope({ subject: 'a\rb\0c' }), /^\(NIL "a b\?c" NIL/)
})

test('without UTF-8, texts become encoded words and addresses invalid ones; with it, both are as they are', () => {
  const fields: EnvelopeFields = {
    subject: 'Grüße =?utf-8?Q?=C3=A4?= plain',
    from: '"Jösé" <jösé@exämple.test>',
    to: 'Plain <ann@exämple.test>, 用户@例.test, grüppe: <@röute:a@x>;',
  }
  assert.equal(
    envelope(fields),
    '(NIL "=?utf-8?Q?Gr=C3=BC=C3=9Fe_?= =?utf-8?Q?=C3=A4?= plain" ' +
      '(("=?utf-8?Q?J=C3=B6s=C3=A9_=3Cj=C3=B6s=C3=A9=40ex=C3=A4mple=2Etest=3E?=" NIL "invalid" "internationalized-address.invalid")) '.repeat(
        3,
      ) +
      '(("Plain" NIL "ann" "xn--exmple-cua.test")("=?utf-8?B?55So5oi3QOS+iy50ZXN0?=" NIL "invalid" "internationalized-address.invalid")' +
      '(NIL NIL "=?utf-8?Q?gr=C3=BCppe?=" NIL)(NIL NIL "a" "x")(NIL NIL NIL NIL)) NIL NIL NIL NIL)',
  )
  assert.match(envelope(fields, true), /\(\("Jösé" NIL "jösé" "exämple.test"\)\)/)
})

test('encoded words show the same text as the characters they stand for', () => {
  const random = new Random(2)
  const words = ['a', 'ä', 'grün', '=?utf-8?Q?=C3=A4?=', '=?utf-8?B?w6Q=?=', '用户', 'plain text', '…', ' ', '"q"']
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: 1 + random.below(8) }, () => random.pick(words)).join(' ')
    const ascii = asciiText(text)
    assert.match(ascii, /^[\x20-\x7e]*$/)
    assert.equal(decodeHeader(ascii), decodeHeader(text), text)
  }
})
