// Header fields a sender may add: names, values, and those that have members of their own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WORD_MAX } from '../../../../src/mime/compose/fields.ts'
import { checkHeaders, HEADER_VALUE_MAX, HEADERS_MAX, REPLY_TO_MAX } from '../../../../src/mime/compose/header-rules.ts'
import { failure } from '../../../support/directory.ts'

const check = (given: Record<string, string>) => checkHeaders('custom_headers', given)

function refused(given: Record<string, string>, field: string, code: string): void {
  assert.throws(() => check(given), failure('validation_error', { field, code }), JSON.stringify(given).slice(0, 80))
}

test('fields come back in their order, as they were spelled', () => {
  const given = {
    'X-B': 'two',
    'x-a': 'one  and a half',
    Importance: 'high',
    '!#$-~': '',
    'List-Unsubscribe': '<https://x.test/u>',
  }
  assert.deepEqual(check(given), {
    headers: Object.entries(given).map(([name, value]) => ({ name, value })),
    replyTo: [],
    inReplyTo: null,
    references: [],
  })
  assert.equal(check({ 'X-A': 'Größe\t\x07\ud800' }).headers[0]!.value, 'Größe  \ufffd')
  assert.deepEqual(check({}).headers, [])
  const own = JSON.parse('{"__proto__": "a", "constructor": "b"}') as Record<string, string>
  assert.deepEqual(
    check(own).headers.map(({ name }) => name),
    ['__proto__', 'constructor'],
  )
})

test('names that are none are refused as a whole', () => {
  const names = [
    '',
    'X A',
    'X:A',
    'X-A:',
    'X-Ä',
    'X-A\r\nBcc',
    'X-A\n',
    'Bcc\0',
    '\tX',
    'X'.repeat(77),
    'X\x7f',
    'Bcc\u200b',
  ]
  for (const name of names) refused({ [name]: 'z@z.ex' }, 'custom_headers', 'invalid_format')
})

test('what the message itself says, and what receivers write, cannot be set', () => {
  const names = [
    ...[
      'From',
      'Sender',
      'To',
      'Cc',
      'Bcc',
      'Subject',
      'Date',
      'Message-ID',
      'MIME-Version',
      'Return-Path',
      'Received',
    ],
    ...[
      'Content-Type',
      'Content-Transfer-Encoding',
      'Content-Disposition',
      'Content-Foo',
      'DKIM-Signature',
      'ARC-Seal',
    ],
    ...['ARC-Message-Signature', 'Authentication-Results', 'X-Service-Id', 'Resent-To', 'Resent-Bcc'],
  ]
  for (const name of names) {
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
      refused({ [spelled]: 'z@z.ex' }, `custom_headers.${spelled}`, 'forbidden_value')
    }
  }
  for (const name of ['X-From', 'Contents', 'X-Content-Type', 'To-Do', 'Received-By', 'Archived-At'])
    check({ [name]: 'a' })
})

test('values have one line of at most 998 characters', () => {
  for (const value of ['a\rb', 'a\nb', 'a\r\n b', 'a\r\nBcc: z@z.ex', 'a\0']) {
    refused({ 'X-A': value }, 'custom_headers.X-A', 'invalid_format')
  }
  for (const value of ['x'.repeat(HEADER_VALUE_MAX), '👋'.repeat(HEADER_VALUE_MAX)]) check({ 'X-A': value })
  refused({ 'X-A': 'x'.repeat(HEADER_VALUE_MAX + 1) }, 'custom_headers.X-A', 'too_big')
})

test('there are fifty at most, none of them twice', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'a']))
  assert.equal(check(many(HEADERS_MAX)).headers.length, HEADERS_MAX)
  refused(many(HEADERS_MAX + 1), 'custom_headers', 'too_big')
  refused({ 'X-A': 'a', 'x-a': 'b' }, 'custom_headers.x-a', 'duplicate')
})

test('fields of lists are ASCII and fit into a line', () => {
  for (const value of ['Größe <x.test>', '<https://x.test/ü>', 'x'.repeat(WORD_MAX + 1)]) {
    refused({ 'List-Id': value }, 'custom_headers.List-Id', 'invalid_format')
  }
  check({ 'List-Id': 'x'.repeat(WORD_MAX), 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' })
})

test('replying is read, so that it stands once', () => {
  const checked = check({
    'Reply-To': '"Help, please" <Help@X.test>, =?utf-8?Q?J=C3=B6rg?= <j@y.test>',
    'in-reply-to': ' <a@x.test> ',
    References: '<r@x.test>  <a@x.test>',
    'X-A': 'a',
  })
  assert.deepEqual(checked, {
    headers: [{ name: 'X-A', value: 'a' }],
    replyTo: [
      { email: 'Help@x.test', name: 'Help, please' },
      { email: 'j@y.test', name: 'Jörg' },
    ],
    inReplyTo: 'a@x.test',
    references: ['r@x.test', 'a@x.test'],
  })
  for (const value of ['', 'nobody', '<>', 'a@localhost', '<"a@a.ex, z"@z.ex>', 'group:;', 'good@x.test, bad']) {
    refused({ 'Reply-To': value }, 'custom_headers.Reply-To', 'invalid_format')
  }
  const addresses = (count: number) => Array.from({ length: count }, (_, index) => `${index}@x.test`).join(', ')
  assert.equal(check({ 'Reply-To': addresses(REPLY_TO_MAX) }).replyTo.length, REPLY_TO_MAX)
  refused({ 'Reply-To': addresses(REPLY_TO_MAX + 1) }, 'custom_headers.Reply-To', 'too_big')
  for (const value of ['', 'words', '<ü@x.test>', '<a@x.test> <b@x.test>', `<${'x'.repeat(WORD_MAX + 1)}>`]) {
    refused({ 'In-Reply-To': value }, 'custom_headers.In-Reply-To', 'invalid_format')
  }
  refused({ References: 'your mail of Monday' }, 'custom_headers.References', 'invalid_format')
})
