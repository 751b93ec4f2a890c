// Facts for the spam score, each from a mail that shows it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageTraits } from '../../../src/mime/message.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { messageTraits } from '../../../src/mime/spam-traits.ts'
import { mailOf } from '../../support/mail.ts'

const at = Date.UTC(2025, 6, 1, 12)

function traits(...lines: string[]): MessageTraits {
  const bytes = mailOf(...lines)
  return messageTraits(bytes, parseMessage(bytes), at)
}

const html = (body: string) => traits('From: a@b', 'Content-Type: text/html; charset=utf-8', '', body)

test('an ordinary mail has nothing odd', () => {
  assert.deepEqual(
    traits(
      'Received: x',
      'From: A <a@b>',
      'Date: Tue, 1 Jul 2025 11:59:00 +0000',
      'Message-ID: <a@b>',
      'Subject: Hi',
      '',
      'x',
    ),
    {
      fromFields: 1,
      fromAddresses: 1,
      hasDate: true,
      hasMessageId: true,
      dateSkewMs: -60_000,
      receivedCount: 1,
      repeatedFields: [],
      subjectAllCaps: false,
      suspectLinks: [],
      htmlOnly: false,
      mismatchedLinks: 0,
      isList: false,
      autoSubmitted: false,
      wantsNoAnswer: false,
    },
  )
})

test('header fields', () => {
  const found = traits(
    'From: a@b, c@d',
    'From: e@f',
    'Subject: x',
    'SUBJECT: y',
    'Date: nonsense',
    'Message-ID: <>',
    '',
    '',
  )
  assert.deepEqual([found.fromFields, found.fromAddresses], [2, 3])
  assert.deepEqual(found.repeatedFields, ['from', 'subject'])
  assert.deepEqual([found.hasDate, found.dateSkewMs, found.hasMessageId], [true, null, false])
})

test('a subject in capitals, in any script that has them', () => {
  const caps = (subject: string) => traits(`Subject: ${subject}`, '', '').subjectAllCaps
  assert.deepEqual(['BUY CHEAP WATCHES!!!', '=?utf-8?B?0JrQo9Cf0Jgg0KHQldCZ0KfQkNCh?='].map(caps), [true, true])
  assert.deepEqual(
    [
      'RE: FYI',
      'Buy Cheap Watches',
      '1234567890 !!!',
      '=?utf-8?B?5Lit5paH5Lit5paH5Lit5paH5Lit5paH5Lit5paH5Lit5paH?=',
    ].map(caps),
    [false, false, false, false],
  )
})

test('links that hide where they lead', () => {
  const links = [
    'http://192.0.2.1/x',
    'https://0x7f.1/',
    'http://3221226219/',
    'http://[2001:db8::1]/',
    'https://user:pw@bit.ly/x',
    'ht\ntps://TinyURL.com/y',
    'https&#58;//t.co/z',
  ]
  const found = html(`${links.map((href) => `<a href="${href}">x</a>`).join('')}<a href="https://example.org">fine</a>`)
  assert.deepEqual(found.suspectLinks, [
    ...['192.0.2.1', '127.0.0.1', '192.0.2.235', '[2001:db8::1]', 'bit.ly', 'tinyurl.com', 't.co'],
  ])
  assert.deepEqual(traits('A: 1', '', 'see http://192.0.2.1/x, http://bit.ly/y.').suspectLinks, ['192.0.2.1', 'bit.ly'])
})

test('links that say another site than they lead to', () => {
  const count = (href: string, label: string) => html(`<a href="${href}">${label}</a>`).mismatchedLinks
  assert.equal(count('https://evil.example.net/x', 'https://www.bank.com/login'), 1)
  assert.equal(count('https://evil.com/x', '<b>bank</b>.com'), 1)
  assert.equal(count('https://login.bank.com/x', 'www.bank.com'), 0)
  assert.equal(count('https://evil.com/x', 'Click here'), 0)
  assert.equal(count('https://evil.com/x', 'report.pdfx'), 0)
  assert.equal(count('mailto:a@bank.com', 'a@other.com'), 0)
})

test('HTML that shows nothing', () => {
  assert.equal(html('<img src="https://x.example/a.png"><div style="display:none">secret</div>').htmlOnly, true)
  assert.equal(html('<p>text</p>').htmlOnly, false)
  assert.equal(traits('A: 1', '', '').htmlOnly, false)
})

test('lists and machines say so', () => {
  assert.equal(traits('List-Id: <x.y>', '', '').isList, true)
  assert.equal(traits('Precedence: List', '', '').isList, true)
  assert.equal(traits('Precedence: bulk', '', '').isList, false)
  assert.equal(traits('Auto-Submitted: auto-replied (vacation)', '', '').autoSubmitted, true)
  assert.equal(traits('Auto-Submitted: No', '', '').autoSubmitted, false)
  assert.equal(traits('X-Autoreply: yes', '', '').autoSubmitted, true)
})
