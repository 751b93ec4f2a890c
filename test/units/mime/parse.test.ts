// A whole mail: which parts are its body, what is attached, what is kept of it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { parseMessage, SUBJECT_MAX } from '../../../src/mime/parse.ts'
import { mailOf, soundMail } from '../../support/mail.ts'

/** A multipart of parts, each given by its header lines and its body. */
function multipart(type: string, ...parts: [string[], string][]): string[] {
  const boundary = `b-${type}`
  const inside = parts.flatMap(([header, body]) => [`--${boundary}`, ...header, '', body])
  return [`Content-Type: multipart/${type}; boundary="${boundary}"`, '', ...inside, `--${boundary}--`]
}

/** The same as a part of another multipart. */
function nested(type: string, ...parts: [string[], string][]): [string[], string] {
  const [header, , ...body] = multipart(type, ...parts)
  return [[header!], body.join('\r\n')]
}

const plain = (text: string): [string[], string] => [['Content-Type: text/plain'], text]
const html = (text: string): [string[], string] => [['Content-Type: text/html'], text]
const file = (...header: string[]): [string[], string] => [header, 'data']

function parts(...lines: string[]): { text: string | null; html: string | null; files: string[]; has: boolean } {
  const mail = soundMail(mailOf(...lines))
  const files = mail.attachments.map(
    ({ partId, filename, inline }) => `${partId} ${filename}${inline ? ' inline' : ''}`,
  )
  return { text: mail.textPart, html: mail.htmlPart, files, has: mail.hasAttachments }
}

test('headers of use', () => {
  const mail = soundMail(
    mailOf(
      'From: =?utf-8?Q?J=C3=BCrgen?= <j@x.example>',
      'Sender: s@x.example',
      'To: a@y, b@y',
      'To: c@y',
      'Cc: Team: d@y, e@y;',
      'Bcc: f@y',
      'Reply-To: r@x.example',
      'Subject: Re:  =?utf-8?B?R3LDvMOfZQ==?=\r\n and more',
      'Message-ID: <m@x>',
      'In-Reply-To: <l@x>',
      'References: <k@x> <l@x>',
      'Date: Tue, 1 Jul 2025 10:00:00 +0200',
      '',
      'Hello there.',
    ),
  )
  assert.deepEqual(mail.from, [{ email: 'j@x.example', name: 'Jürgen' }])
  assert.equal(mail.sender?.email, 's@x.example')
  const emails = [mail.to, mail.cc, mail.bcc, mail.replyTo].map((list) => list.map(({ email }) => email).join())
  assert.deepEqual(emails, ['a@y,b@y,c@y', 'd@y,e@y', 'f@y', 'r@x.example'])
  assert.equal(mail.subject, 'Re: Grüße and more')
  assert.deepEqual([mail.messageId, mail.inReplyTo, mail.references], ['m@x', ['l@x'], ['k@x', 'l@x']])
  assert.equal(mail.sentAt, Date.UTC(2025, 6, 1, 8))
  assert.deepEqual([mail.preview, mail.searchText], ['Hello there.', 'Hello there.'])
  assert.deepEqual([mail.parsed, mail.problem], [true, null])
})

test('an empty mail, and one without a header, are kept as not parsed', () => {
  for (const text of ['', 'no header at all', '\r\n\r\nbody']) {
    const mail = soundMail(mailOf(text))
    assert.deepEqual(
      [mail.parsed, mail.problem, mail.subject, mail.from],
      [false, 'The message has no header.', '', []],
    )
  }
})

test('alternatives: both forms of one text', () => {
  assert.deepEqual(parts(...multipart('alternative', plain('p'), html('<p>h'))), {
    text: '1',
    html: '2',
    files: [],
    has: false,
  })
  const related = nested('related', html('<img src="cid:i">'), file('Content-Type: image/png', 'Content-ID: <i>'))
  assert.deepEqual(parts(...multipart('alternative', plain('p'), related)), {
    ...{ text: '1', html: '2.1', files: ['2.2 attachment-2.2.png inline'], has: false },
  })
})

test('a calendar beside the text is no attachment until it has a name or a disposition', () => {
  const calendar = 'Content-Type: text/calendar; method=REQUEST'
  assert.deepEqual(parts(...multipart('alternative', plain('p'), file(calendar))).files, [])
  assert.deepEqual(parts(...multipart('alternative', plain('p'), file(`${calendar}; name=i.ics`))).files, ['2 i.ics'])
  assert.equal(parts(...multipart('alternative', plain('p'), file(calendar, 'Content-Disposition: inline'))).has, true)
  assert.deepEqual(parts(...multipart('mixed', plain('p'), file(calendar))).files, ['2 attachment-2.ics'])
})

test('a text with a name or "attachment" is a file, one without is body', () => {
  assert.deepEqual(parts(...multipart('mixed', plain('a'), plain('b'), html('c'))).files, [])
  assert.deepEqual(parts(...multipart('mixed', plain('a'), file('Content-Type: text/plain; name=b.txt'))).files, [
    '2 b.txt',
  ])
  const disposed = file('Content-Type: text/html', 'Content-Disposition: attachment')
  assert.deepEqual(parts(...multipart('mixed', plain('a'), disposed)), {
    text: '1',
    html: null,
    files: ['2 attachment-2.html'],
    has: true,
  })
})

test('a mail that is only a named text is read by it, and it is a file all the same', () => {
  assert.deepEqual(parts('Content-Type: text/plain; name=a.txt', '', 'x'), {
    text: '1',
    html: null,
    files: ['1 a.txt'],
    has: true,
  })
  assert.deepEqual(parts('Content-Disposition: attachment', '', 'x'), {
    text: null,
    html: null,
    files: ['1 attachment-1.txt'],
    has: true,
  })
})

test('a text behind the HTML is a footer, not the body; all text is found by search', () => {
  const lines = multipart('mixed', html('<p>body</p>'), plain('footer'))
  assert.deepEqual(parts(...lines), { text: null, html: '1', files: [], has: false })
  const mail = parseMessage(mailOf(...lines))
  assert.deepEqual([mail.preview, mail.searchText], ['body', 'body\nfooter'])
})

test('an empty text beside HTML does not count', () => {
  const mail = soundMail(mailOf(...multipart('alternative', plain(' \r\n'), html('<p>body</p>'))))
  assert.deepEqual([mail.textPart, mail.htmlPart, mail.preview], [null, '2', 'body'])
})

test('inline means shown: a Content-ID the HTML does not name is a file', () => {
  const image = (id: string) => file('Content-Type: image/png', `Content-ID: <${id}>`, 'Content-Disposition: inline')
  const lines = multipart(
    'related',
    html('<img src="cid:a@x"><div style="background:url(cid:b%40x)">'),
    image('a@x'),
    image('b@x'),
    image('c@x'),
  )
  assert.deepEqual(parts(...lines), {
    text: null,
    html: '1',
    files: ['2 attachment-2.png inline', '3 attachment-3.png inline', '4 attachment-4.png'],
    has: true,
  })
})

test('a mail inside is one attachment whose parts are walked', () => {
  const inner = [
    ['Content-Type: message/rfc822'],
    ['Subject: in', ...multipart('mixed', plain('x'), file('Content-Type: a/b'))].join('\r\n'),
  ] as [string[], string]
  const mail = soundMail(mailOf(...multipart('report', plain('p'), inner)))
  assert.deepEqual(
    mail.attachments.map(({ partId, filename }) => `${partId} ${filename}`),
    ['2 attachment-2.eml'],
  )
  assert.equal(mail.structure!.parts[1]!.parts[0]!.parts.length, 2)
  assert.equal(mail.searchText, 'p')
})

test('an attachment is measured and hashed as decoded', () => {
  const lines = multipart('mixed', plain('p'), [
    ['Content-Type: application/pdf; name="=?utf-8?Q?=C3=BC?=.pdf"', 'Content-Transfer-Encoding: base64'],
    'aGVs\r\nbG8=',
  ])
  const [attachment] = parseMessage(mailOf(...lines)).attachments
  const { sizeBytes, sha256, filename, disposition, contentType } = attachment!
  assert.deepEqual([sizeBytes, filename, disposition, contentType], [5, 'ü.pdf', 'attachment', 'application/pdf'])
  assert.deepEqual(Buffer.from(sha256), createHash('sha256').update('hello').digest())
})

test('TNEF and signatures are attachments like any other', () => {
  assert.equal(
    parts(...multipart('mixed', plain('p'), file('Content-Type: application/ms-tnef; name=winmail.dat'))).has,
    true,
  )
  assert.equal(parts(...multipart('signed', plain('p'), file('Content-Type: application/pgp-signature'))).has, true)
})

test('texts are cut where they end being useful', () => {
  const mail = soundMail(
    mailOf(`Subject: ${'😀'.repeat(3000)}`.replaceAll('😀', '=?utf-8?B?8J+YgA==?= '), '', 'word '.repeat(100_000)),
  )
  assert.equal(mail.subject.length, SUBJECT_MAX)
  assert.equal(mail.searchText.length, 256 * 1024)
})

test('a raw 8-bit Subject is of the charset the message declares', () => {
  const subject = (raw: Buffer, ...lines: string[]) =>
    parseMessage(Buffer.concat([Buffer.from('Subject: '), raw, Buffer.from(`\r\n${lines.join('\r\n')}`)])).subject
  const russian = Buffer.from('f0d2c9d7c5d4', 'hex')
  const inPart = (charset: string) => [
    ...['Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: image/png', '', 'x', '--b'],
    ...[`Content-Type: text/plain; charset=${charset}`, '', 'x', '--b--', ''],
  ]
  assert.equal(subject(russian, 'Content-Type: text/plain; charset=koi8-r', '', 'x'), 'Привет')
  assert.equal(subject(russian, ...inPart('koi8-r')), 'Привет')
  assert.equal(subject(Buffer.from('93fa967b', 'hex'), 'Content-Type: text/plain; charset=Shift_JIS', '', 'x'), '日本')
  assert.equal(subject(Buffer.from('Jos\u00e9', 'latin1'), '', 'x'), 'José')
  // UTF-8 shows itself; a charset that does not fit, is no text, or reads ASCII as something else, is not meant.
  assert.equal(subject(Buffer.from('Привет'), 'Content-Type: text/plain; charset=koi8-r', '', 'x'), 'Привет')
  for (const charset of ['utf-8', 'big5', 'us-ascii', 'utf-16le', 'utf-7', 'cp037', 'nothing', 'base64']) {
    assert.equal(
      subject(Buffer.from('Jos\u00e9!', 'latin1'), `Content-Type: text/plain; charset=${charset}`, '', 'x'),
      'José!',
      charset,
    )
  }
})
