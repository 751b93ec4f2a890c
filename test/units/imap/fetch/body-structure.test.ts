// BODYSTRUCTURE and BODY: each member, the forms of parts, and what stands for missing parts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBodyStructure, hasDetails } from '../../../../src/imap/fetch/body-structure.ts'
import { readStructure } from '../../../../src/mime/structure.ts'
import { bytesOf, stringFormat } from '../../../support/imap-strings.ts'
import { mailOf } from '../../../support/mail.ts'

function structure(lines: string[], isExtended = true, isUtf8 = false): string {
  const { root } = readStructure(mailOf(...lines))
  // The form in which it is stored.
  const stored = JSON.parse(JSON.stringify(root))
  assert.ok(hasDetails(stored))
  return bytesOf(formatBodyStructure(stored, isExtended, stringFormat(isUtf8))).toString()
}

test('a single part: text has lines, others have none; a missing charset is US-ASCII', () => {
  assert.equal(
    structure(['A: 1', '', 'one', 'two', '']),
    '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 10 2 NIL NIL NIL NIL)',
  )
  const image = ['Content-Type: Image/PNG; Name="a \\"b\\".png"', 'Content-Transfer-Encoding: BASE64', '', 'QQ==', '']
  assert.equal(structure(image), '("image" "PNG" ("Name" "a \\"b\\".png") NIL NIL "base64" 6 NIL NIL NIL NIL)')
  assert.equal(structure(image, false), '("image" "PNG" ("Name" "a \\"b\\".png") NIL NIL "base64" 6)')
})

test('every extension member', () => {
  const lines = [
    ...['Content-Type: application/pdf; a=1', 'Content-ID: <i@x>', 'Content-Description: a file', 'Content-MD5: abc='],
    ...[
      'Content-Disposition: Attachment; filename=b.pdf; size=3',
      'Content-Language: en, de',
      'Content-Location: c/d',
      '',
      'abc',
    ],
  ]
  assert.equal(
    structure(lines),
    '("application" "pdf" ("a" "1") "<i@x>" "a file" "7bit" 3 "abc=" ("Attachment" ("filename" "b.pdf" "size" "3")) ("en" "de") "c/d")',
  )
})

test('multiparts and messages in messages', () => {
  const lines = [
    ...['Content-Type: multipart/Mixed; boundary=x', 'Content-Disposition: inline', '', '--x', '', 'a', '--x'],
    ...['Content-Type: message/rfc822', '', 'From: f@x', 'Subject: s', '', 'b', '', '--x--', ''],
  ]
  const text = '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 1 0 NIL NIL NIL NIL)'
  const inner = '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1 NIL NIL NIL NIL)'
  const from = '((NIL NIL "f" "x"))'
  const envelope = `(NIL "s" ${from} ${from} ${from} NIL NIL NIL NIL NIL)`
  assert.equal(
    structure(lines),
    `(${text}("message" "rfc822" NIL NIL NIL "7bit" 28 ${envelope} ${inner} 4 NIL NIL NIL NIL) "Mixed" ("boundary" "x") ("inline" NIL) NIL NIL)`,
  )
  const short = (part: string) => part.replaceAll(' NIL NIL NIL NIL)', ')')
  assert.equal(
    structure(lines, false),
    `(${short(text)}("message" "rfc822" NIL NIL NIL "7bit" 28 ${envelope} ${short(inner)} 4) "Mixed")`,
  )
})

test('an empty part stands for what is missing: parts of a multipart, the body of a message in base64', () => {
  const empty = '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL NIL NIL NIL)'
  assert.equal(structure(['Content-Type: multipart/mixed', '', 'x']), `(${empty} "mixed" NIL NIL NIL NIL)`)
  const message = ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: base64', '', 'QTogMQ0KDQp4']
  const envelope = '(NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)'
  assert.equal(
    structure(message),
    `("message" "rfc822" NIL NIL NIL "base64" 12 ${envelope} ${empty} 0 NIL NIL NIL NIL)`,
  )
})

test('bare LF counts as CRLF; raw text of parameters needs UTF-8 or becomes encoded words', () => {
  const bare = readStructure(Buffer.from('A: 1\n\none\ntwo\n')).root
  assert.match(bytesOf(formatBodyStructure(bare, false, stringFormat(false))).toString(), /"7bit" 10 2\)$/)
  const raw = ['Content-Type: text/plain; charset=utf-8; name="\xc3\xa4.txt"', '', 'x']
  assert.match(structure(raw), /"name" "=\?utf-8\?Q\?=C3=A4=2Etxt\?="/)
  assert.match(structure(raw, true, true), /"name" "ä.txt"/)
})

test('a structure stored before version 2 is recognised', () => {
  const { root } = readStructure(mailOf('A: 1', '', 'x'))
  const { hasNul, ...earlier } = root
  assert.equal(hasNul, false)
  assert.ok(!hasDetails(earlier))
})
