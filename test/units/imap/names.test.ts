// Names of mailboxes: modified UTF-7, INBOX, patterns of LIST; and the spelling of keywords.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ancestorsOf, decodeName, formatName, NamePattern } from '../../../src/imap/grammar/names.ts'
import { formatKeyword, isShownKeyword } from '../../../src/imap/views/keywords.ts'
import { decodeUtf7, encodeUtf7 } from '../../../src/mime/utf7.ts'

test('modified UTF-7: the examples of RFC 3501, and back', () => {
  const pairs = [
    ['~peter/mail/台北/日本語', '~peter/mail/&U,BTFw-/&ZeVnLIqe-'],
    ['Entwürfe', 'Entw&APw-rfe'],
    ['a&b', 'a&-b'],
    ['\u{1f4e7}', '&2D3c5w-'],
    ['&', '&-'],
    ['', ''],
  ]
  for (const [text, encoded] of pairs) {
    assert.equal(encodeUtf7(text!), encoded)
    assert.equal(decodeUtf7(Buffer.from(encoded!)), text)
  }
})

test('modified UTF-7: invalid forms are not names', () => {
  // Plain ASCII in base64, pieces that touch, no end, half a surrogate, 8-bit bytes, no digits, rest that is not zero.
  for (const wrong of ['&AGE-', '&U,BTFw-&ZeVnLIqe-', '&U,BTFw', '&2D0-', 'ü', '&*-', '&ZeVnLIq-', '&A-', 'a\tb']) {
    assert.equal(decodeUtf7(Buffer.from(wrong)), null, wrong)
  }
})

test('INBOX in any case is one name, also above others; names are NFC', () => {
  assert.equal(decodeName(Buffer.from('inbox'), false), 'INBOX')
  assert.equal(decodeName(Buffer.from('iNbOx/a'), false), 'INBOX/a')
  assert.equal(decodeName(Buffer.from('a/inbox'), false), 'a/inbox')
  assert.equal(decodeName(Buffer.from('u\u0308'), true), '\u00fc')
  assert.equal(decodeName(Buffer.from([0xff]), true), null)
  assert.equal(formatName('Entw\u00fcrfe', false), 'Entw&APw-rfe')
  assert.equal(formatName('Entw\u00fcrfe x', true), '"Entw\u00fcrfe x"')
  assert.deepEqual(ancestorsOf('a/b/c'), ['a', 'a/b'])
})

test('patterns of LIST', () => {
  const matching = (pattern: string) =>
    ['INBOX', 'INBOX/a', 'a', 'a/b', 'a/b/c', 'ab'].filter((name) => new NamePattern(pattern).matches(name))
  assert.deepEqual(matching('*'), ['INBOX', 'INBOX/a', 'a', 'a/b', 'a/b/c', 'ab'])
  assert.deepEqual(matching('%'), ['INBOX', 'a', 'ab'])
  assert.deepEqual(matching('%/%'), ['INBOX/a', 'a/b'])
  assert.deepEqual(matching('a*'), ['a', 'a/b', 'a/b/c', 'ab'])
  assert.deepEqual(matching('inbox'), ['INBOX'])
  assert.deepEqual(matching('*b'), ['a/b', 'ab'])
  assert.deepEqual(matching('a/%*'), ['a/b', 'a/b/c'])
  assert.deepEqual(matching('a%b'), ['ab'])
  assert.deepEqual(matching('x'), [])
})

test('a pattern of many wildcards does not go back', () => {
  const pattern = new NamePattern(`${'*a%'.repeat(340)}b`)
  const name = 'a'.repeat(2550)
  const before = process.cpuUsage().user
  assert.equal(pattern.matches(name), false)
  assert.ok(process.cpuUsage().user - before < 500_000)
  assert.equal(new NamePattern('*%'.repeat(500)).matches(name), true)
})

test('keywords have the spelling of the registry', () => {
  assert.equal(formatKeyword('$mdnsent'), '$MDNSent')
  assert.equal(formatKeyword('nonjunk'), 'NonJunk')
  assert.equal(formatKeyword('foo'), 'foo')
  assert.equal(isShownKeyword('$label1'), true)
  for (const wrong of ['a b', 'a"', 'a(', 'a]', 'ü', '', 'a*', 'a%', 'a\\']) assert.equal(isShownKeyword(wrong), false)
})
