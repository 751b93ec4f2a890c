// MAIL and RCPT as RFC 5321 4.1.2 spells them, and nothing else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isReply, readRecipient, readSender } from '../../../src/smtp/envelope.ts'
import { MAX_MESSAGE_BYTES } from '../../../src/smtp/limits.ts'
import { line } from '../../../src/smtp/replies.ts'

function sender(command: string) {
  const found = readSender(command)
  return isReply(found) ? line(found).slice(0, 9) : found
}

function recipient(command: string, utf8 = false) {
  const found = readRecipient(command, utf8)
  return isReply(found) ? line(found).slice(0, 9) : found.address
}

test('reads a sender and its parameters', () => {
  assert.deepEqual(sender('MAIL FROM:<ann@out.test>'), { address: 'ann@out.test', declaredBytes: null, utf8: false })
  assert.deepEqual(sender('mail from: <Ann@OUT.test> SIZE=1000 body=8bitmime SMTPUTF8'), {
    address: 'Ann@out.test',
    declaredBytes: 1000,
    utf8: true,
  })
  assert.deepEqual(sender('MAIL FROM:<>'), { address: '', declaredBytes: null, utf8: false })
})

test('a source route is ignored', () => {
  assert.equal(recipient('RCPT TO:<@a.test,@b.test:ben@in.test>'), 'ben@in.test')
})

test('the domain of a sender may have underscores, that of a recipient may not', () => {
  assert.deepEqual(sender('MAIL FROM:<ann@_spf_1.news_letter.Out.test>'), {
    address: 'ann@_spf_1.news_letter.out.test',
    declaredBytes: null,
    utf8: false,
  })
  assert.equal(sender('MAIL FROM:<ann@out_.test>') instanceof Object, true)
  assert.equal(sender('MAIL FROM:<ann@-_.test>'), '501 5.1.7')
  assert.equal(recipient('RCPT TO:<ben@in_side.test>'), '501 5.1.3')
})

test('quoted local parts may hold what ends a path elsewhere', () => {
  assert.equal(recipient('RCPT TO:<"a b>c"@in.test>'), '"a b>c"@in.test')
  assert.equal(recipient('RCPT TO:<"a\\">b"@in.test>'), '"a\\">b"@in.test')
})

test('address literals are addresses', () => {
  assert.equal(recipient('RCPT TO:<ben@[192.0.2.1]>'), 'ben@[192.0.2.1]')
  assert.match(recipient('RCPT TO:<ben@[IPv6:2001:db8::1]>'), /^ben@\[/)
  assert.equal(recipient('RCPT TO:<ben@[999.0.0.1]>'), '501 5.1.3')
})

test('the bare postmaster is a recipient and no sender', () => {
  assert.equal(recipient('RCPT TO:<PostMaster>'), 'PostMaster')
  assert.equal(sender('MAIL FROM:<postmaster>'), '501 5.1.7')
})

const badPaths = [
  'ann@out.test',
  '<ann@out.test',
  'ann@out.test>',
  '<<ann@out.test>>',
  '<ann>',
  '<ann@>',
  '<@out.test>',
  '<ann@out.test,ben@out.test>',
  '<ann@out..test>',
  '<.ann@out.test>',
  '<ann@-out.test>',
  '<an n@out.test>',
  '<"ann@out.test>',
  '<ann@out.test>x',
  '',
]
for (const path of badPaths) {
  test(`refuses the path ${JSON.stringify(path)}`, () => {
    assert.match(String(sender(`MAIL FROM:${path}`)), /^501 5\./)
    assert.match(recipient(`RCPT TO:${path}`), /^501 5\./)
  })
}

test('refuses an empty recipient', () => {
  assert.equal(recipient('RCPT TO:<>'), '501 5.1.3')
})

test('refuses parameters that were not offered, malformed ones and repeated ones', () => {
  assert.equal(sender('MAIL FROM:<a@b.test> RET=FULL'), '555 5.5.4')
  assert.equal(sender('MAIL FROM:<a@b.test> AUTH=<>'), '555 5.5.4')
  assert.equal(recipient('RCPT TO:<a@b.test> NOTIFY=NEVER'), '555 5.5.4')
  for (const text of [
    'SIZE',
    'SIZE=',
    'SIZE=1x',
    'SIZE=-1',
    'SIZE=1 SIZE=1',
    'BODY=BINARYMIME',
    'BODY',
    '=',
    'SMTPUTF8=1',
  ]) {
    assert.equal(sender(`MAIL FROM:<a@b.test> ${text}`), '501 5.5.4', text)
  }
})

test('refuses a declared size above the limit', () => {
  assert.equal(sender(`MAIL FROM:<a@b.test> SIZE=${MAX_MESSAGE_BYTES + 1}`), '552 5.3.4')
  assert.equal(sender('MAIL FROM:<a@b.test> SIZE=99999999999999999999'), '552 5.3.4')
  assert.notEqual(sender(`MAIL FROM:<a@b.test> SIZE=${MAX_MESSAGE_BYTES}`), '552 5.3.4')
})

test('addresses beyond ASCII need SMTPUTF8', () => {
  assert.equal(sender('MAIL FROM:<jürgen@out.test>'), '553 5.6.7')
  assert.equal(recipient('RCPT TO:<ben@bücher.test>'), '553 5.6.7')
  assert.equal(recipient('RCPT TO:<ben@bücher.test>', true), 'ben@xn--bcher-kva.test')
  assert.match(String((sender('MAIL FROM:<jürgen@out.test> SMTPUTF8') as { address: string }).address), /^jürgen@/)
})
