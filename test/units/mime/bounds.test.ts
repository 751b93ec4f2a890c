// Mails made to hang or to fill a reader: each ends, within its bounds. Where time were to grow with the square of the
// size, none of these would come to an end, so that no test looks at a clock; the time-out only names the culprit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlLinks, LINKS_MAX, textLinks } from '../../../src/html/links.ts'
import { HTML_TEXT_MAX, htmlToText } from '../../../src/html/visible-text.ts'
import { ADDRESSES_MAX, parseAddressList } from '../../../src/mime/address.ts'
import { AUTHOR_DOMAINS_MAX, readAuthor } from '../../../src/mime/author.ts'
import { decodeHeader } from '../../../src/mime/decode.ts'
import { FILE_NAME_MAX } from '../../../src/mime/file-name.ts'
import type { ParsedMessage, Part } from '../../../src/mime/message.ts'
import { parseStructured } from '../../../src/mime/parameters.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { previewOf } from '../../../src/mime/preview.ts'
import { messageIds, normaliseSubject, REFERENCES_MAX } from '../../../src/mime/references.ts'
import { DEPTH_MAX, PARTS_MAX } from '../../../src/mime/structure.ts'
import { soundMail } from '../../support/mail.ts'

const ends = { timeout: 60_000 }
const FROM = 'From: a@b.example\r\nSubject: kept\r\n'
const read = (...text: string[]): ParsedMessage => soundMail(Buffer.from(FROM + text.join(''), 'latin1'))

function count(part: Part): number {
  return part.parts.reduce((sum, child) => sum + count(child), 1)
}

function depth(part: Part): number {
  return 1 + Math.max(0, ...part.parts.map(depth))
}

/** A mail that breaks a bound says which, and what stands in front of the break is there. */
function assertBroken(mail: ParsedMessage, problem: RegExp): void {
  assert.match(mail.problem ?? 'no problem', problem)
  assert.equal(mail.parsed, false)
  assert.deepEqual([mail.subject, mail.from[0]?.email], ['kept', 'a@b.example'])
}

test('176 KB and 5 MB of adjacent links in plain text', ends, () => {
  for (const size of [176 * 1024, 5_000_000]) {
    const mail = read('\r\n', 'http://a.example/b'.repeat(size / 18))
    assert.equal(mail.parsed, true)
    assert.ok(mail.searchText.length >= 176 * 1024 - 18)
  }
  assert.equal(textLinks('http://a.example/ '.repeat(50_000)).length, LINKS_MAX)
})

test('50,000 flat parts', ends, () => {
  const mail = read(
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
    '--b\r\nContent-Type: a/b\r\n\r\nx\r\n'.repeat(50_000),
  )
  assertBroken(mail, /more than 1000 parts/)
  assert.equal(count(mail.structure!), PARTS_MAX)
  assert.equal(mail.attachments.length, PARTS_MAX - 1)
})

test('depth 10,000: other boundaries, the same one, mails in mails', ends, () => {
  const level = (at: number) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`
  const others = Array.from({ length: 10_000 }, (_, at) => level(at)).join('')
  for (const text of [others, level(1).repeat(10_000), 'Content-Type: message/rfc822\r\n\r\n'.repeat(10_000)]) {
    const mail = read(text)
    assertBroken(mail, /nested deeper than 100/)
    assert.equal(depth(mail.structure!), DEPTH_MAX + 1)
  }
})

test('a part far inside has a long number, and a file name that fits', ends, () => {
  const level = (at: number) => {
    const boundary = `--b${at}\r\n`
    return `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n${`${boundary}\r\nx\r\n`.repeat(9)}${boundary}`
  }
  const mail = read(Array.from({ length: 90 }, (_, at) => level(at)).join(''), 'Content-Type: a/b\r\n\r\nx')
  const [file] = mail.attachments
  assert.equal(file!.partId, Array.from({ length: 90 }, () => '10').join('.'))
  assert.equal(file!.filename.length, FILE_NAME_MAX)
})

test('millions of lines that are almost a boundary', ends, () => {
  assert.equal(
    count(read('Content-Type: multipart/mixed; boundary=xyz\r\n\r\n', '--xyy\n'.repeat(2_000_000)).structure!),
    1,
  )
  const boundary = 'a'.repeat(999)
  const lines = `--${boundary.slice(1)}b\n`.repeat(10_000)
  assert.equal(count(read(`Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n`, lines).structure!), 1)
})

test('long headers: one of 1 MB, a million lines, lines that are none', ends, () => {
  assertBroken(read(`X: ${'a'.repeat(1_000_000)}\r\n\r\nbody`), /longer than/)
  assertBroken(read('a: b\r\n'.repeat(1_000_000), '\r\nbody'), /more than 1000 lines/)
  assert.equal(read('garbage\r\n'.repeat(1_000_000), '\r\nbody').preview, 'body')
  assertBroken(read(`X: ${'a\r\n '.repeat(300_000)}\r\n\r\nbody`), /more than 1000 lines/)
})

test('200,000 ids in References', ends, () => {
  const ids = Array.from({ length: 200_000 }, (_, at) => `<${at}@x>`)
  assertBroken(read(`References: ${ids.join('\r\n ')}\r\n\r\n`), /more than 1000 lines/)
  const oneLine = read(`References: ${ids.join(' ')}\r\n\r\n`)
  assertBroken(oneLine, /longer than/)
  for (const found of [oneLine.references, messageIds(ids.join(' '))]) assert.equal(found.length, REFERENCES_MAX)
})

test('thousands of addresses', ends, () => {
  const mail = read('To: a@b, ', 'cc@d, '.repeat(2000), '\r\n\r\n')
  assertBroken(mail, /names more than 1000 addresses/)
  assert.equal(mail.to.length, ADDRESSES_MAX)
})

test('Re: × 10,000 and other subjects', ends, () => {
  assert.deepEqual(normaliseSubject(`${'Re: '.repeat(10_000)}x`), { key: 'x', isReply: true })
  assert.equal(normaliseSubject('[a] '.repeat(100_000)).key, '[a]')
  assert.equal(normaliseSubject(`${'[fwd: '.repeat(50_000)}x${']'.repeat(50_000)}`).key, 'x')
  assert.equal(normaliseSubject(`x${' (fwd)'.repeat(100_000)}`).key, 'x')
  assert.equal(normaliseSubject('['.repeat(1_000_000)).key.length, 1_000_000)
})

const N = 1_000_000

test('address lists', ends, () => {
  const lists = [
    ...[',', '<', '>', '<,', '(', '(a)', ':', 'a:b@c;', '"', '"\\', '<(', '<"', '@', 'a ', ' .', '=?u?q?', '\\', 'a, '],
    ...['a (b) ', '<a@b> ', '=?u?q?a?= ', '<@', 'a b@c '],
  ]
  for (const piece of lists) {
    assert.ok(parseAddressList(piece.repeat(N / piece.length)).length <= ADDRESSES_MAX, piece)
  }
  assert.deepEqual(parseAddressList(`${'('.repeat(N)}${')'.repeat(N)} a@b`), [{ email: 'a@b', name: '('.repeat(512) }])
})

test('encoded words and parameters', ends, () => {
  for (const piece of ['=?', '=?u?q?', '=?u?q?a', '=?utf-8?B?w?= ', '=?=', '?=']) {
    assert.ok(decodeHeader(`${piece.repeat(N / piece.length)}?=`).length <= N + 2, piece)
  }
  for (const piece of [
    ';',
    '=',
    ';a=b',
    ' ',
    'x ',
    '\\',
    '"',
    '(',
    ' (',
    ' ()',
    ';a*0=b',
    '%',
    '%41',
    '*',
    'a\t',
    ';a="',
    "'",
  ]) {
    for (const start of ['a/b; a=', "a/b; a*=utf-8''", 'a/b; a="']) {
      assert.equal(parseStructured(start + piece.repeat(N / piece.length)).value, 'a/b', piece)
    }
  }
})

test('transfer encodings of garbage', ends, () => {
  for (const encoding of ['base64', 'quoted-printable']) {
    for (const piece of ['=', '-', ' ', '= ', '=\n', '= x', 'A=', '\r', '\n', '\0', '\xff']) {
      const header = `Content-Type: a/b\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
      assert.equal(read(header, piece.repeat(5_000_000 / piece.length)).attachments.length, 1)
    }
  }
})

test('HTML without end', ends, () => {
  assert.equal(htmlToText('<p>word</p>'.repeat(500_000)).length, HTML_TEXT_MAX)
  const pieces = [
    ...[
      '<div>',
      '<div style="display:none">x',
      '<!--',
      '<!-- x',
      '<a ',
      '<a b="',
      '<a b=\'"',
      '<',
      '&',
      '&amp',
      '&nbsp;',
      '</',
    ],
    ...[
      '<script>',
      '<script></scrip',
      '<style></style>',
      '<title>',
      '<br>',
      '<p>a</p>',
      '<a href=http://a.example>b',
      ' ',
      '<!',
      '<?',
    ],
    ...['<td hidden>', '<p hidden>', '<pre>\n', '<a style="/*a', '<a x= ', '\u00a0', '<a href="http://x.example"'],
  ]
  for (const piece of pieces) {
    const html = piece.repeat(1_000_000 / piece.length)
    assert.ok(htmlToText(html).length <= HTML_TEXT_MAX, piece)
    assert.ok(htmlLinks(html).length <= LINKS_MAX, piece)
    assert.equal(htmlToText(`<p>first</p>${html}`).slice(0, 5), 'first')
  }
  assert.ok(htmlToText(`<a style="${'/*a'.repeat(N)}">x</a><a ${'b '.repeat(N)}hidden>`).length <= 1)
})

test('previews of long texts', ends, () => {
  for (const piece of [
    '>\n',
    'On \n',
    `On ${'x'.repeat(295)}\n`,
    '\u200b',
    ' ',
    '\n',
    'On wrote: ',
    '-- \n',
    '\u200d\u200c',
  ]) {
    assert.ok([...previewOf(piece.repeat(N / piece.length))].length <= 256, JSON.stringify(piece))
  }
})

test('50 MB of nothing but line breaks, of one line, of base64', ends, () => {
  const size = 50_000_000
  assert.equal(
    parseMessage(Buffer.concat([Buffer.from('A: 1\r\n\r\n'), Buffer.alloc(size, 10)])).structure!.lines,
    size,
  )
  assert.equal(parseMessage(Buffer.concat([Buffer.from('A: 1\r\n\r\n'), Buffer.alloc(size, 120)])).structure!.lines, 0)
  const header = Buffer.from('Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n\r\n')
  const [file] = parseMessage(Buffer.concat([header, Buffer.alloc(size, 'A'.repeat(76).concat('\r\n'))])).attachments
  assert.equal(file!.sizeBytes, Math.floor((Math.floor(size / 78) * 76 + (size % 78)) * 0.75))
})

test('random bytes, and real mails with random damage', ends, () => {
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647
    return seed % below
  }
  const words = [
    '\r\n',
    '\n',
    '--b',
    '--',
    ': ',
    '=?',
    '?=',
    '<',
    '>',
    '(',
    '"',
    '\\',
    '\0',
    ';',
    '@',
    'boundary=b',
    '=3D',
    '\x1b$B',
    'charset=',
  ]
  const mail = `${FROM}To: a@b, "c" <d@e>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>y</p>\r\n--b--\r\n`
  for (let round = 0; round < 3000; round++) {
    let text = mail
    for (let cut = random(8); cut >= 0; cut--) {
      const at = random(text.length)
      text = text.slice(0, at) + words[random(words.length)] + text.slice(at + random(6))
    }
    soundMail(Buffer.from(text, 'latin1'))
    soundMail(Buffer.from(Array.from({ length: random(300) }, () => random(256))))
  }
})

test('From fields of 60 KB and 1 MB of every character that means something', ends, () => {
  const pieces = [
    '(',
    '((a)',
    '(a)',
    '"',
    '"\\',
    '<',
    '<"a"@',
    '=?utf-8?Q?a?=',
    'a@b,',
    '@a.b',
    '\\(',
    ' ',
    'a ',
    ':',
    ';',
    '\r\n ',
  ]
  for (const piece of [...pieces, '\r\nFrom:a@b.test', '\r\nno field']) {
    for (const size of [60_000, 1_000_000]) {
      const from = `From: ${piece.repeat(size / piece.length)}x@good.example\r\n\r\nx`
      const { domains } = readAuthor(Buffer.from(from, 'latin1'))
      assert.ok(domains.length <= AUTHOR_DOMAINS_MAX)
    }
  }
  const many = Array.from({ length: 100 }, (_, at) => `a@d${at}.example`).join(', ')
  assert.equal(readAuthor(Buffer.from(`From: ${many}\r\n\r\n`)).domains.length, AUTHOR_DOMAINS_MAX)
})
