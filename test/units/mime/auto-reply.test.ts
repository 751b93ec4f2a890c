// Whom a machine may answer: everybody who is a person and may have written, and none of the others.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Answerable, answerAddress, namedIn, senderKeys } from '../../../src/mime/auto-reply.ts'
import type { AuthVerdict } from '../../../src/mime/message.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { messageTraits } from '../../../src/mime/spam-traits.ts'

type Verdict = Partial<Pick<AuthVerdict, 'spf' | 'spfDomain' | 'dmarc' | 'fromAligned' | 'fromDomain'>>

function mail(lines: readonly string[] = [], more: Verdict = {}): Answerable {
  const spf = { spf: 'pass', spfDomain: 'customer.example' } as const
  const verdict = { ...spf, dmarc: 'none', fromAligned: false, fromDomain: 'customer.example', ...more }
  const from = lines.some((line) => line.startsWith('From:')) ? [] : ['From: Bob <bob@customer.example>']
  const bytes = Buffer.from([...from, ...lines, '', 'Hello', ''].join('\r\n'))
  const parsed = parseMessage(bytes)
  return { message: parsed, traits: messageTraits(bytes, parsed, 0), verdict: verdict as AuthVerdict }
}

const BOB = 'bob@customer.example'

describe('an answer goes to the envelope sender', () => {
  for (const lines of [
    [],
    ['Auto-Submitted: no'],
    ['Precedence: first-class'],
    ['Precedence: urgent'],
    ['X-Auto-Response-Suppress: DR, RN'],
    ['From: Lister <listener@customer.example>'],
    ['Content-Type: multipart/alternative; boundary=x'],
  ]) {
    test(lines[0] ?? 'of a plain mail', () => assert.equal(answerAddress(BOB, mail(lines)), BOB))
  }

  for (const name of [
    'owner',
    'request',
    'replybob',
    'norepl',
    'bouncer',
    'returned',
    'roots',
    'abuser',
    'noah.reply',
  ]) {
    test(`${name} is a person`, () => {
      const email = `${name}@customer.example`
      assert.equal(answerAddress(email, mail()), email)
    })
  }

  for (const verdict of [
    { spf: 'none', fromAligned: true },
    { spf: 'fail', dmarc: 'pass', fromAligned: true },
    { dmarc: 'temperror' },
  ] as const) {
    test(`with ${JSON.stringify(verdict)}`, () => assert.equal(answerAddress(BOB, mail([], verdict)), BOB))
  }

  test('in a domain below that of an authenticated author', () => {
    const bounces = 'b1@mail.customer.example'
    assert.equal(answerAddress(bounces, mail([], { spf: 'none', fromAligned: true })), bounces)
    const below = { spf: 'none', fromAligned: true, fromDomain: 'mail.customer.example' } as const
    assert.equal(answerAddress(BOB, mail([], below)), null, 'not in one above it')
    const beside = { spf: 'none', fromAligned: true, fromDomain: 'ustomer.example' } as const
    assert.equal(answerAddress(BOB, mail([], beside)), null)
  })
})

describe('nobody is answered', () => {
  for (const sender of ['', 'bob', 'bob@', '@customer.example', 'bob@customer.example\r\nRCPT TO:<eve@x.example>']) {
    test(`whose envelope says ${JSON.stringify(sender)}`, () => assert.equal(answerAddress(sender, mail()), null))
  }

  const names = [
    ...['mailer-daemon', 'MAILER-DAEMON', 'Postmaster', 'owner-friends', 'friends-owner', 'friends-request', 'abuse'],
    ...['no-reply', 'noreply', 'No_Reply', 'no.reply', 'do-not-reply', 'donotreply+x', 'dont-reply', 'noreply-orders'],
    ...['bounces+1=a', 'bounce', 'friends-bounces', 'returns.7', 'listserv', 'majordomo', 'nobody', 'root'],
  ]
  for (const name of names) {
    test(`called ${name}`, () => {
      assert.equal(answerAddress(`${name}@customer.example`, mail()), null)
      assert.equal(answerAddress(BOB, mail([`From: ${name}@customer.example`])), null)
    })
  }

  for (const line of [
    ...['Auto-Submitted: auto-generated', 'Auto-Submitted: auto-replied (vacation)', 'Auto-Submitted: what'],
    ...['Precedence: bulk', 'Precedence: List', 'Precedence: junk', 'Precedence: auto_reply'],
    ...['List-Id: <friends.example>', 'List-Unsubscribe: <https://x.example>', 'List-Help: <mailto:a@b.example>'],
    ...['LIST-POST: NO', 'List-Archive: <https://x.example>', 'X-Auto-Response-Suppress: DR, OOF'],
    ...['X-Auto-Response-Suppress: All', 'X-Autoreply: yes', 'X-Autorespond: x'],
    'Content-Type: Multipart/Report; report-type=delivery-status; boundary=x',
  ]) {
    test(`for ${line}`, () => assert.equal(answerAddress(BOB, mail([line])), null))
  }

  for (const verdict of [
    { dmarc: 'fail' },
    { spf: 'fail' },
    { spf: 'fail', dmarc: 'fail' },
    { spf: 'pass', dmarc: 'fail' },
    { spf: 'none' },
    { spf: 'softfail' },
    { spfDomain: 'other.example' },
    { spf: 'none', fromAligned: true, fromDomain: 'attacker.example' },
    { spf: 'none', fromAligned: false },
  ] as const) {
    test(`who may be somebody else: ${JSON.stringify(verdict)}`, () => {
      assert.equal(answerAddress(BOB, mail([], verdict)), null)
    })
  }
})

test('a sender is remembered as author and as envelope, once where they are the same', () => {
  assert.deepEqual(senderKeys('B+1@Customer.example', mail()), ['bob@customer.example', 'b+1@customer.example'])
  assert.deepEqual(senderKeys('BOB@customer.example', mail()), ['bob@customer.example'])
  for (const from of ['nothing at all', `${'x'.repeat(300)}@customer.example`]) {
    assert.deepEqual(senderKeys('x@customer.example', mail([`From: ${from}`])), ['x@customer.example'])
  }
})

test('whom a mail is openly written to, of a list without end the beginning', () => {
  const many = Array.from({ length: 500 }, (_, n) => `a${n}@x.example`).join(', ')
  const named = namedIn(mail(['To: Ana <ANA@shop.test>', 'Cc: carl@shop.test', 'Bcc: hidden@shop.test']))
  assert.deepEqual(named, ['ana@shop.test', 'carl@shop.test'])
  assert.equal(namedIn(mail([`To: ${many}`])).length, 200)
})
