// Messages of our own with the properties they must be read with: trees, charsets, file names, dates and what broken programs write.

import type { MessageFacts } from '../support/families.ts'
import { mailOf } from '../support/mail.ts'

export interface MessageVector {
  name: string
  content: Buffer
  facts: MessageFacts
}

const HEAD = [
  'From: Ann <ann@out.test>',
  'To: ben@in.test',
  'Subject: A vector',
  'Date: Fri, 20 Nov 2026 12:00:00 +0000',
]
const LONG = 'a quoted-printable line that is folded'

function vector(name: string, facts: MessageFacts, ...lines: string[]): MessageVector {
  return { name: `vectors/${name}`, facts, content: mailOf(...lines, '') }
}

/** A message with the usual fields. */
function message(name: string, facts: MessageFacts, ...lines: string[]): MessageVector {
  return vector(name, facts, ...HEAD, ...lines)
}

/** A message of parts between the lines of a boundary. */
function multipart(name: string, facts: MessageFacts, type: string, ...parts: string[][]): MessageVector {
  const inside = parts.flatMap((part) => ['--b1', ...part])
  return message(name, facts, 'MIME-Version: 1.0', `Content-Type: ${type}; boundary="b1"`, '', ...inside, '--b1--')
}

const text = (...lines: string[]) => ['Content-Type: text/plain; charset=utf-8', '', ...lines]
const html = (...lines: string[]) => ['Content-Type: text/html; charset=utf-8', '', ...lines]
const file = (...header: string[]) => [...header, 'Content-Transfer-Encoding: base64', '', 'JVBERi0xLjQK']

const subject = (name: string, words: string, ...fields: string[]) =>
  vector(`headers/${name}`, { subject: words }, 'From: ann@out.test', ...fields, '', 'Hello')
const from = (name: string, author: string, field: string) =>
  vector(`headers/${name}`, { from: author }, `From: ${field}`, 'Subject: x', '', 'Hello')
const date = (name: string, sentAt: string | null, field: string) =>
  vector(`headers/${name}`, { sentAt }, 'From: ann@out.test', `Date: ${field}`, '', 'Hello')
const named = (name: string, filename: string, ...header: string[]) =>
  multipart(`files/${name}`, { files: [filename] }, 'multipart/mixed', text('See the file.'), file(...header))
/** A text in a charset, as bytes below U+0100. */
const encoded = (charset: string, preview: string, body: string) =>
  message(
    `charsets/${charset}`,
    { preview, bodies: ['1', null] },
    `Content-Type: text/plain; charset=${charset}`,
    '',
    body,
  )

export const MESSAGES: readonly MessageVector[] = [
  // Trees and what is shown of them.
  message('trees/plain', { types: 'text/plain', preview: 'Hello Ben.', to: 1, files: [] }, '', 'Hello Ben.'),
  multipart(
    'trees/alternative',
    { types: 'multipart/alternative(text/plain text/html)', bodies: ['1', '2'], preview: 'Plain words' },
    'multipart/alternative',
    text('Plain words'),
    html('<p>Rich words</p>'),
  ),
  multipart(
    'trees/related-inside-mixed',
    { bodies: [null, '1.1'], files: ['(logo.png)', 'offer.pdf'], preview: 'See our offer' },
    'multipart/mixed',
    [
      'Content-Type: multipart/related; boundary=b2',
      '',
      '--b2',
      ...html('<p>See our <img src="cid:logo@out.test"> offer</p>'),
      '--b2',
      ...file('Content-Type: image/png; name=logo.png', 'Content-ID: <logo@out.test>', 'Content-Disposition: inline'),
      '--b2--',
    ],
    file('Content-Type: application/pdf', 'Content-Disposition: attachment; filename=offer.pdf'),
  ),
  multipart(
    'trees/message-inside',
    {
      types: 'multipart/mixed(text/plain message/rfc822(text/plain))',
      subject: 'A vector',
      preview: 'Forwarded below',
    },
    'multipart/mixed',
    text('Forwarded below'),
    ['Content-Type: message/rfc822', '', 'From: eve@else.test', 'Subject: The inner one', '', 'Inner text'],
  ),
  multipart(
    'trees/digest',
    { types: 'multipart/digest(message/rfc822(text/plain) message/rfc822(text/plain))' },
    'multipart/digest',
    ['', 'From: eve@else.test', 'Subject: First', '', 'One'],
    ['', 'From: eve@else.test', 'Subject: Second', '', 'Two'],
  ),
  multipart(
    'trees/signed',
    { bodies: ['1', null], files: ['signature.asc'] },
    'multipart/signed',
    text('Signed words'),
    ['Content-Type: application/pgp-signature; name=signature.asc', '', '-----BEGIN PGP SIGNATURE-----'],
  ),
  multipart(
    'trees/calendar-without-a-name',
    { types: 'multipart/mixed(text/plain text/calendar)', files: ['attachment-2.ics'] },
    'multipart/mixed',
    text('An invitation'),
    ['Content-Type: text/calendar; method=REQUEST', '', 'BEGIN:VCALENDAR', 'END:VCALENDAR'],
  ),
  message(
    'trees/file-alone',
    { types: 'application/pdf', bodies: [null, null], files: ['offer.pdf'], preview: '' },
    'Content-Type: application/pdf; name=offer.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    'JVBERi0xLjQK',
  ),
  // What broken programs write.
  message(
    'broken/no-final-boundary',
    { types: 'multipart/mixed(text/plain text/html)', bodies: ['1', '2'] },
    'Content-Type: multipart/mixed; boundary=b1',
    '',
    '--b1',
    ...text('First'),
    '--b1',
    ...html('<p>Second</p>'),
  ),
  message(
    'broken/boundary-never-used',
    { types: 'multipart/mixed', preview: 'Words without a boundary' },
    'Content-Type: multipart/mixed; boundary=b1',
    '',
    'Words without a boundary',
  ),
  message(
    'broken/no-boundary-parameter',
    { types: 'multipart/mixed', preview: 'Words of nobody' },
    'Content-Type: multipart/mixed',
    '',
    'Words of nobody',
  ),
  multipart(
    'broken/boundary-that-begins-like-another',
    { types: 'multipart/mixed(text/plain multipart/alternative(text/plain text/html))', bodies: ['1', '2.2'] },
    'multipart/mixed',
    text('Outer'),
    [
      'Content-Type: multipart/alternative; boundary=b12',
      '',
      '--b12',
      ...text('A'),
      '--b12',
      ...html('<p>B</p>'),
      '--b12--',
    ],
  ),
  multipart(
    'broken/outer-boundary-ends-the-inner-part',
    { types: 'multipart/mixed(multipart/alternative(text/plain) text/plain)' },
    'multipart/mixed',
    ['Content-Type: multipart/alternative; boundary=b2', '', '--b2', ...text('Inner')],
    text('Outer again'),
  ),
  message(
    'broken/unknown-transfer-encoding',
    { preview: 'As it stands' },
    'Content-Transfer-Encoding: uuencode',
    '',
    'As it stands',
  ),
  message(
    'broken/base64-that-is-none',
    { preview: 'ploosdect nispul swunk glap trelb an entire line of words' },
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    'ploosdect nispul swunk glap trelb an entire line of words',
  ),
  message(
    'broken/base64-without-padding',
    { preview: 'Hello World!' },
    'Content-Type: text/plain',
    'Content-Transfer-Encoding: base64',
    '',
    'SGVsbG8gV29y',
    'bGQh',
  ),
  message(
    'broken/quoted-printable-with-loose-signs',
    { preview: 'Price = 5 & 10 =ZZ é' },
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Price =3D 5 & 10 =ZZ =C3=A9',
  ),
  message(
    'broken/soft-line-break',
    { preview: LONG },
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'a quoted-printable line =',
    'that is folded',
  ),
  vector('broken/no-header', { subject: '', types: 'text/plain' }, '', 'Everything is the body.'),
  vector(
    'broken/no-empty-line',
    { subject: 'Ended early', preview: 'these words end the header' },
    'Subject: Ended early',
    'these words end the header',
  ),
  vector(
    'broken/only-a-header',
    { subject: 'Nothing below', preview: '', types: 'text/plain' },
    'Subject: Nothing below',
    '',
  ),
  vector(
    'broken/two-content-types',
    { types: 'text/html', bodies: [null, '1'] },
    'Content-Type: text/html',
    'Content-Type: text/plain',
    '',
    '<p>The first counts</p>',
  ),
  vector(
    'broken/bare-line-feeds',
    { subject: 'LF only', preview: 'One Two' },
    'Subject: LF only\nFrom: ann@out.test\n\nOne\nTwo',
  ),
  vector(
    'broken/mbox-line',
    { subject: 'With an mbox line' },
    'From ann@out.test Fri Nov 20 12:00:00 2026',
    'Subject: With an mbox line',
    '',
    'Hello',
  ),
  // Header fields.
  subject('encoded-word-q', 'Café au lait', 'Subject: =?utf-8?Q?Caf=C3=A9_au_lait?='),
  subject('encoded-word-b', 'Grüße', 'Subject: =?UTF-8?B?R3LDvMOfZQ==?='),
  subject('encoded-words-joined', 'まみむめも', 'Subject: =?utf-8?B?44G+44G/?=', ' =?utf-8?B?44KA44KB44KC?='),
  subject('encoded-word-in-the-middle', 'Re: "漢字" tail', 'Subject: Re: =?UTF-8?Q?=22=E6=BC=A2=E5=AD=97=22?= tail'),
  subject('encoded-word-iso-2022-jp', 'こんにちは', 'Subject: =?ISO-2022-JP?B?GyRCJDMkcyRLJEEkTxsoQg==?='),
  subject('encoded-word-euc-kr', '한국', 'Subject: =?euc-kr?B?x9GxuQ==?='),
  subject('raw-utf-8', 'Größe 👋', `Subject: ${Buffer.from('Größe 👋').toString('latin1')}`),
  subject('folded', 'One subject of two lines', 'Subject: One subject', ' of two lines'),
  subject('empty', '', 'Subject:'),
  from('phrase', 'Ann Marie <ann@out.test>', 'Ann Marie <ann@out.test>'),
  from('quoted-name', 'Foo, Bar <foo@out.test>', '"Foo, Bar" <foo@out.test>'),
  from('encoded-name', 'Jürgen <j@out.test>', '=?iso-8859-1?Q?J=FCrgen?= <j@out.test>'),
  from('comment', 'Pete <pete@out.test>', 'Pete <pete(his account)@out.test>'),
  from('route', '<ann@out.test>', '<@relay.test:ann@out.test>'),
  from('no-domain', 'daemon <>', 'daemon'),
  date('rfc-5322', '2026-11-20T11:55:06.000Z', 'Fri, 20 Nov 2026 09:55:06 -0200'),
  date('two-digit-year', '1969-02-14T03:02:54.000Z', '13 Feb 69 23:32:54 -0330'),
  date('no-day-no-seconds', '2026-11-20T12:00:00.000Z', '20 Nov 2026 12:00 +0000'),
  date('zone-name', '1997-11-21T15:55:06.000Z', '21 Nov 97 09:55:06 CST'),
  date('comments', '2026-11-20T12:00:00.000Z', 'Fri (a day), 20 Nov 2026 12:00:00 +0000 (UTC)'),
  date('nonsense', null, 'yesterday, at noon'),
  vector(
    'headers/addresses',
    { to: 4 },
    'From: ann@out.test',
    'To: a@x.test, "B, C" <b@x.test>, Team: c@x.test, d@x.test;',
    '',
    'Hello',
  ),
  vector('headers/undisclosed', { to: 0 }, 'From: ann@out.test', 'To: undisclosed-recipients:;', '', 'Hello'),
  vector(
    'headers/references',
    { references: ['1@out.test', '2@out.test'] },
    'From: ann@out.test',
    'References: <1@out.test>',
    ' <2@out.test>',
    '',
    'Hello',
  ),
  // Names of files.
  named(
    'disposition',
    'offer.pdf',
    'Content-Type: application/pdf',
    'Content-Disposition: attachment; filename="offer.pdf"',
  ),
  named('name-alone', 'offer.pdf', 'Content-Type: application/pdf; name="offer.pdf"'),
  named(
    'unquoted-with-spaces',
    'my offer.pdf',
    'Content-Type: application/pdf',
    'Content-Disposition: attachment; filename=my offer.pdf',
  ),
  named(
    'rfc-2231',
    'Prüfung.pdf',
    'Content-Type: application/pdf',
    "Content-Disposition: attachment; filename*=utf-8''Pr%C3%BCfung.pdf",
  ),
  named(
    'rfc-2231-in-pieces',
    'a very long name.pdf',
    'Content-Type: application/pdf',
    'Content-Disposition: attachment; filename*0="a very "; filename*1="long "; filename*2="name.pdf"',
  ),
  named(
    'encoded-word',
    'Größe.pdf',
    'Content-Type: application/pdf',
    'Content-Disposition: attachment; filename="=?utf-8?B?R3LDtsOfZS5wZGY=?="',
  ),
  // Charsets.
  encoded('iso-8859-1', 'Köpfe', 'K\xf6pfe'),
  encoded('windows-1252', 'Price: 5 €', 'Price: 5 \x80'),
  encoded('koi8-r', 'Привет', '\xf0\xd2\xc9\xd7\xc5\xd4'),
  encoded('shift_jis', 'あい', '\x82\xa0\x82\xa2'),
  encoded('gb2312', '中文', '\xd6\xd0\xce\xc4'),
  encoded('x-unknown', 'Plain words', 'Plain words'),
  // Bodies that readers must stay safe with.
  message(
    'html/active',
    { bodies: [null, '1'], preview: 'Click here' },
    'Content-Type: text/html',
    '',
    '<script>alert(1)</script><p>Click <a href="javascript:alert(1)">here</a></p>',
  ),
  message('html/no-mime', { bodies: ['1', null] }, '', '<b>No MIME type says that this is HTML.</b>'),
]
