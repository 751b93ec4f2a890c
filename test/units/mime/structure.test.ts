// The tree of parts: numbers, offsets, and boundaries that try to confuse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPart, readStructure } from '../../../src/mime/structure.ts'
import { mailOf, shapeOf, soundMail } from '../../support/mail.ts'

function shape(...lines: string[]): string {
  const bytes = mailOf(...lines)
  return shapeOf(soundMail(bytes).structure!)
}

function bodies(...lines: string[]): string[] {
  const bytes = mailOf(...lines)
  const { root } = readStructure(bytes)
  return root.parts.map((part) => bytes.toString('latin1', part.bodyStart, part.bodyEnd))
}

const mixed = (boundary: string) => [`Content-Type: multipart/mixed; boundary="${boundary}"`, '']

test('parts are numbered as in IMAP, with the offsets of header and body', () => {
  const bytes = mailOf(
    ...['A: 1', ...mixed('x'), 'preamble', '--x', '', 'one', 'two', '--x', 'Content-Type: message/rfc822', ''],
    ...['B: 2', ...mixed('y'), '--y', 'Content-Type: image/png', '', 'png', '--y--', '--x--', 'epilogue', ''],
  )
  const { root, problem } = readStructure(bytes)
  assert.equal(
    shapeOf(root),
    'TEXT multipart/mixed(1 text/plain 2 message/rfc822(2.TEXT multipart/mixed(2.1 image/png)))',
  )
  assert.equal(problem, null)
  const first = findPart(root, '1')!
  assert.equal(bytes.toString('latin1', first.bodyStart, first.bodyEnd), 'one\r\ntwo')
  assert.equal(first.lines, 1)
  const png = findPart(root, '2.1')!
  assert.equal(bytes.toString('latin1', png.headerStart, png.bodyEnd), 'Content-Type: image/png\r\n\r\npng')
  assert.equal(findPart(root, '3'), undefined)
})

test('the body of a mail without parts is part 1, a mail that is a mail holds 1.1', () => {
  assert.equal(shape('A: 1', '', 'x'), '1 text/plain')
  assert.equal(shape('Content-Type: message/rfc822', '', 'B: 2', '', 'x'), '1 message/rfc822(1.1 text/plain)')
})

test('a digest holds mails', () => {
  const lines = ['Content-Type: multipart/digest; boundary=x', '', '--x', '', 'A: 1', '', 'a', '--x--']
  assert.equal(shape(...lines), 'TEXT multipart/digest(1 message/rfc822(1.1 text/plain))')
})

test('a mail in base64 has no offsets inside and stays closed', () => {
  const lines = ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: base64', '', 'QTogMQ0KDQp4']
  assert.equal(shape(...lines), '1 message/rfc822')
})

test('a boundary that begins like another is another one', () => {
  assert.deepEqual(bodies(...mixed('a'), '--a', '', 'one', '--ab', 'two', '--a', '', 'three', '--a--'), [
    'one\r\n--ab\r\ntwo',
    'three',
  ])
  const outer = [...mixed('ab'), '--ab', ...mixed('a'), '--a', '', 'x', '--ab', '', 'y', '--ab--']
  assert.equal(shape(...outer), 'TEXT multipart/mixed(1 multipart/mixed(1.1 text/plain) 2 text/plain)')
})

test('a boundary that ends in "--" opens before it closes', () => {
  const lines = [...mixed('a'), '--a', ...mixed('a--'), '--a--', '', 'x', '--a----', '--a--', 'epilogue']
  assert.equal(shape(...lines), 'TEXT multipart/mixed(1 multipart/mixed(1.1 text/plain))')
})

test('the inner of two equal boundaries counts until it closes', () => {
  const lines = [...mixed('a'), '--a', ...mixed('a'), '--a', '', 'x', '--a--', '--a', '', 'y', '--a--']
  assert.equal(shape(...lines), 'TEXT multipart/mixed(1 multipart/mixed(1.1 text/plain) 2 text/plain)')
})

test('an outer boundary ends what is open inside; a missing last one ends with the mail', () => {
  const lines = [...mixed('a'), '--a', ...mixed('b'), '--b', '', 'x', '--a', '', 'y']
  assert.equal(shape(...lines), 'TEXT multipart/mixed(1 multipart/mixed(1.1 text/plain) 2 text/plain)')
})

test('white space or text behind a boundary does not matter (RFC 2046 5.1.1), text in front of it does', () => {
  assert.deepEqual(
    bodies(...mixed('a'), '--a \t', '', 'one', ' --a', 'x--a', '--a-- text', 'two', '--a', '', 'three'),
    ['one\r\n --a\r\nx--a'],
  )
})

test('no boundary, an empty one, one that never comes: a multipart without parts whose text is shown', () => {
  for (const parameter of ['', '; boundary=', '; boundary=""', '; boundary=never', `; boundary=${'b'.repeat(2000)}`]) {
    const mail = soundMail(mailOf(`Content-Type: multipart/mixed${parameter}`, '', '--x', '', 'some text', '--x--'))
    assert.equal(shapeOf(mail.structure!), 'TEXT multipart/mixed', parameter)
    assert.match(mail.preview, /some text/)
  }
})

test('an empty part has an empty body', () => {
  assert.deepEqual(bodies(...mixed('a'), '--a', '--a', '', '--a', 'A: 1', '--a', '', '', '--a--'), ['', '', '', ''])
})

test('a part says what its header says', () => {
  const { root } = readStructure(
    mailOf(
      'Content-Type: TEXT/Plain (comment); charset="ISO-8859-1"; name="a.txt"',
      'Content-Transfer-Encoding: Quoted-Printable (really)',
      'Content-Disposition: ATTACHMENT; filename="C:\\docs\\b.txt"',
      'Content-ID: <id@x>',
      '',
      'x',
    ),
  )
  const { type, charset, encoding, disposition, filename, contentId } = root
  assert.deepEqual([type, charset, encoding], ['text/plain', 'iso-8859-1', 'quoted-printable'])
  assert.deepEqual([disposition, filename, contentId], ['attachment', 'b.txt', 'id@x'])
})

test('what names no type is text/plain, an unknown disposition an attachment', () => {
  for (const type of ['', 'text', 'text/', '/plain', '<html>', 'a/b/c(', ';;']) {
    assert.equal(shape(`Content-Type: ${type}`, '', 'x'), '1 text/plain', type)
  }
  const lines = mailOf('Content-Disposition: form-data; name=x', '', 'x')
  assert.equal(readStructure(lines).root.disposition, 'attachment')
})

test('a part without an empty line behind its header keeps its body', () => {
  const text = 'Content-Type: text/plain'
  const cases: [string[], string][] = [
    [[text, 'Hello', '', 'there'], 'Hello\r\n\r\nthere'],
    [[text, 'Hello', 'there'], 'Hello\r\nthere'],
    [
      [text, 'Hello,', 'Note: see below', '\tindented', '', 'there'],
      'Hello,\r\nNote: see below\r\n\tindented\r\n\r\nthere',
    ],
    [[text, 'Hello', '-- ', 'Ann', '', 'x'], 'Hello\r\n-- \r\nAnn\r\n\r\nx'],
    // A line that was folded without white space is none of the body: more of the header follows.
    [['Content-Type: text/plain;', 'name="a"', 'Content-Transfer-Encoding: 7bit', '', 'there'], 'there'],
    [[text, '', 'Hello'], 'Hello'],
  ]
  for (const [lines, body] of cases) assert.deepEqual(bodies(...mixed('x'), '--x', ...lines, '--x--'), [body])
  // The header of a message has its own rule: what is no field is passed over.
  assert.equal(soundMail(mailOf('Subject: a', 'no field', '', 'text')).preview, 'text')
})
