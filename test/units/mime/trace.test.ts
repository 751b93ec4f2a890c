// The trace we leave: our fields in front, forged ones of ours gone, every other byte where it was.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTrace, rfc5322Date } from '../../../src/mime/trace.ts'
import { ARRIVED_AT, arrival } from '../../support/arrivals.ts'

const RESULTS = 'mx.house.test;\r\n spf=pass smtp.mailfrom=sender.test'
const FRONT_LINES = 8

function traced(mail: string, given: Parameters<typeof arrival>[0] = {}): string {
  return Buffer.from(addTrace(Buffer.from(mail, 'latin1'), arrival(given), RESULTS)).toString('latin1')
}

/** What is left of a mail behind our own fields. */
function kept(mail: string): string {
  const whole = traced(mail)
  const front = traced('')
  assert.ok(whole.startsWith(front))
  return whole.slice(front.length)
}

test('our fields stand in front, in the forms of RFC 5321 and RFC 8601', () => {
  const text = traced('Subject: x\r\n\r\nbody', {
    tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
    protocol: 'ESMTPS',
    rcptTo: 'bob@house.test',
  })
  assert.equal(
    text,
    [
      'Return-Path: <ann@sender.test>',
      'Authentication-Results: mx.house.test;',
      ' spf=pass smtp.mailfrom=sender.test',
      'Received: from out.sender.test (out.sender.test [192.0.2.1])',
      ' by mx.house.test with ESMTPS (TLSv1.3 TLS_AES_256_GCM_SHA384) id q1',
      ' for <bob@house.test>;',
      ' Fri, 20 Nov 2026 12:00:00 +0000',
      'Subject: x',
      '',
      'body',
    ].join('\r\n'),
  )
  assert.equal(text.split('\r\n').length, FRONT_LINES + 2)
})

test('what the peer said is repeated only where it is plain', () => {
  const received = (given: Parameters<typeof arrival>[0]) => /Received: from (.*)\r\n/.exec(traced('', given))![1]
  assert.equal(received({ remoteName: null }), 'out.sender.test ([192.0.2.1])')
  assert.equal(received({ helo: '[192.0.2.1]' }), '[192.0.2.1] (out.sender.test [192.0.2.1])')
  assert.equal(
    received({ remoteAddress: '2001:db8::1', helo: '[IPv6:2001:db8::1]', remoteName: null }),
    '[IPv6:2001:db8::1] ([IPv6:2001:db8::1])',
  )
  for (const helo of ['', 'a b', 'x)\r\nSubject: y', 'x;y', 'a<b>', '(x', 'é.test', 'x'.repeat(300), '\0']) {
    assert.equal(received({ helo, remoteName: helo }), '[192.0.2.1] ([192.0.2.1])', JSON.stringify(helo))
  }
  assert.equal(traced('', { mailFrom: '' }).split('\r\n')[0], 'Return-Path: <>')
  for (const mailFrom of ['a@b>\r\nX: y <', 'a\0@b\n']) {
    const text = traced('', { mailFrom, rcptTo: mailFrom, tls: `x)\r\n${mailFrom}` })
    assert.doesNotMatch(text, /^X:|[^\r]\n|\0/m)
  }
})

test('UTF-8 of the envelope is kept', () => {
  const text = Buffer.from(addTrace(Buffer.from(''), arrival({ mailFrom: 'jürgen@sender.test' }), RESULTS)).toString()
  assert.ok(text.startsWith('Return-Path: <jürgen@sender.test>\r\n'))
})

test('dates are those of mail', () => {
  assert.equal(rfc5322Date(ARRIVED_AT), 'Fri, 20 Nov 2026 12:00:00 +0000')
  assert.equal(rfc5322Date(0), 'Thu, 01 Jan 1970 00:00:00 +0000')
})

test('fields that only we may write are taken out', () => {
  const gone = [
    'Return-Path: <x@y.test>',
    'RETURN-PATH : <x@y.test>',
    'Received-SPF: pass\r\n (folded)\r\n\tmore',
    'X-Spam-Status: No, score=-5',
    'x-spam-flag:NO',
    'X-Spam-: y',
    'Authentication-Results: mx.house.test; dmarc=pass',
    'Authentication-Results: MX.House.Test; dmarc=pass',
    'authentication-results:mx.house.test',
    'Authentication-Results:\r\n mx.house.test;\r\n dmarc=pass',
    'Authentication-Results: (a (nested \\) comment))\r\n (another)\r\n mx.house.test 1; dmarc=pass',
    'Authentication-Results: "mx.house.test"; dmarc=pass',
    'Authentication-Results: "mx.\\house.test"; dmarc=pass',
    'Authentication-Results: mx.house.test.; dmarc=pass',
    'Authentication-Results: mx.house.test(comment); dmarc=pass',
    'Authentication-Results : mx.house.test; dmarc=pass',
    'Authentication-Results\r\n : mx.house.test; dmarc=pass',
    // Unreadable, and it names us.
    'Authentication-Results: (open mx.house.test; dmarc=pass',
    `Authentication-Results: (${'x'.repeat(5000)}) mx.house.test; dmarc=pass`,
  ]
  for (const field of gone) {
    assert.equal(kept(`A: 1\r\n${field}\r\nB: 2\r\n\r\nbody`), 'A: 1\r\nB: 2\r\n\r\nbody', field.slice(0, 100))
    assert.equal(kept(`${field}\r\nB: 2\r\n\r\nbody`), 'B: 2\r\n\r\nbody')
    assert.equal(kept(`A: 1\r\n${field}\r\n\r\nbody`), 'A: 1\r\n\r\nbody')
    assert.equal(kept(`A: 1\r\n${field}`), 'A: 1\r\n')
  }
  const all = gone.map((field) => `${field}\r\n`).join('')
  assert.equal(kept(`${all}A: 1\r\n${all}\r\nbody`), 'A: 1\r\n\r\nbody')
})

test('everything else stays byte for byte', () => {
  const mails = [
    '',
    '\r\n',
    'body only',
    'Authentication-Results: mx.other.test; dmarc=pass\r\n\r\n',
    'Authentication-Results: mx.house.test.evil.test; dmarc=pass\r\n\r\n',
    'Authentication-Results: xmx.house.test; dmarc=pass\r\n\r\n',
    'Authentication-Results: (mx.house.test) mx.other.test; x\r\n\r\n',
    'Authentication-Results: mx.other.test; dkim=pass (mx.house.test)\r\n\r\n',
    'ARC-Authentication-Results: i=1; mx.house.test; dmarc=pass\r\n\r\n',
    'X-Authentication-Results: mx.house.test\r\n\r\n',
    'X-Spammer: yes\r\nX-Spam: \xff\xfe\0\r\nSubject: Return-Path: x\r\n folded\r\n Return-Path: y\r\n\r\n',
    // Behind the empty line it is text.
    'A: 1\r\n\r\nReturn-Path: <x@y.test>\r\nAuthentication-Results: mx.house.test; x\r\n',
    'A: 1\n\nReturn-Path: <x@y.test>\n',
    'A: 1\r\n B: continued\r\n\tC\r\n',
    'no colon\r\nA: 1\r\n\r\n',
  ]
  for (const mail of mails) assert.equal(kept(mail), mail)
})

test('a forged field does not hide behind the size of the header', () => {
  const filler = `A: ${'x'.repeat(70)}\r\n`.repeat(20_000)
  const forged = 'Authentication-Results: mx.house.test; dmarc=pass\r\n'
  assert.equal(kept(`${filler}${forged}${filler}\r\nbody`), `${filler}${filler}\r\nbody`)
  assert.equal(kept(`${'Return-Path: x\r\n'.repeat(50_000)}\r\nbody`), '\r\nbody')
  const long = `Authentication-Results: other.test; ${'y'.repeat(1_000_000)}\r\n\r\n`
  assert.equal(kept(long), long)
})
