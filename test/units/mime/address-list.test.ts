// Address lists as IMAP shows them: groups, routes, comments, and what mailers write instead.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LISTED_MAX, parseListedAddresses } from '../../../src/mime/address-list.ts'
import { Random } from '../../support/random.ts'

/** `name|route|mailbox|host`, "-" for null. */
function shown(text: string): string[] {
  return parseListedAddresses(text).map(({ name, route, mailbox, host }) =>
    [name, route, mailbox, host].map((value) => value ?? '-').join('|'),
  )
}

const CASES: [text: string, expected: string[]][] = [
  ['', []],
  ['ann@a.test', ['-|-|ann|a.test']],
  ['Ann Writer <ann@a.test>', ['Ann Writer|-|ann|a.test']],
  ['"Writer, Ann" <ann@a.test>, Ben <ben@b.test>', ['Writer, Ann|-|ann|a.test', 'Ben|-|ben|b.test']],
  [
    'Ann W. Writer <ann@a.test>, <ben@b.test>, c@c.test',
    ['Ann W. Writer|-|ann|a.test', '-|-|ben|b.test', '-|-|c|c.test'],
  ],
  ['a@a.test, Ben, c@c.test', ['-|-|a|a.test', '-|-|Ben|MISSING_DOMAIN', '-|-|c|c.test']],
  ['"a \\"b\\" c" <x@y>', ['a "b" c|-|x|y']],
  ['Ann  "W."\tWriter<ann@a.test>', ['Ann W. Writer|-|ann|a.test']],
  ['ann@a.test (Ann Writer)', ['Ann Writer|-|ann|a.test']],
  ['(c) ann (d) @ (e) a . test', ['e|-|ann|a.test']],
  ['<ann@a.test> (Ann)', ['Ann|-|ann|a.test']],
  ['"a b"@a.test', ['-|-|a b|a.test']],
  ['a."b c".d@a.test', ['-|-|a.b c.d|a.test']],
  ['=?utf-8?Q?a=2C_b?= <x@y>', ['=?utf-8?Q?a=2C_b?=|-|x|y']],
  ['=?utf-8?Q?a,b?= <x@y>', ['=?utf-8?Q?a,b?=|-|x|y']],
  ['<@r1.test,@r2.test:ann@a.test>', ['-|@r1.test,@r2.test|ann|a.test']],
  ['ann@[192.0.2.1], ben@[IPv6:2001:db8::1]', ['-|-|ann|[192.0.2.1]', '-|-|ben|[IPv6:2001:db8::1]']],
  ['group: a@a.test, b@b.test;', ['-|-|group|-', '-|-|a|a.test', '-|-|b|b.test', '-|-|-|-']],
  ['"my, group":;, c@c.test', ['-|-|my, group|-', '-|-|-|-', '-|-|c|c.test']],
  ['undisclosed-recipients:;', ['-|-|undisclosed-recipients|-', '-|-|-|-']],
  ['group: a@a.test', ['-|-|group|-', '-|-|a|a.test', '-|-|-|-']],
  ['root', ['-|-|root|MISSING_DOMAIN']],
  ['Ann Writer', ['Ann Writer|-|MISSING_MAILBOX|MISSING_DOMAIN']],
  ['Ann <>', ['Ann|-|MISSING_MAILBOX|MISSING_DOMAIN']],
  ['Ann <ann>', ['Ann|-|ann|MISSING_DOMAIN']],
  ['Ann ann@a.test', ['Ann|-|ann|a.test']],
  ['a@b <c@d>', ['a@b|-|c|d']],
  [',, a@b ,,', ['-|-|a|b']],
  ['Ann <ann@a.test, Ben <ben@b.test>', ['Ann|-|ann|a.test', 'Ben|-|ben|b.test']],
  ['"unclosed <a@b>', ['"unclosed|-|a|b']],
  ['(unclosed a@b', ['(unclosed|-|a|b']],
]

test('lists of addresses', () => {
  for (const [text, expected] of CASES) assert.deepEqual(shown(text), expected, text)
})

test('bounds: elements of a list, and linear time for crafted lists', () => {
  assert.equal(parseListedAddresses('a@b,'.repeat(5000)).length, LISTED_MAX)
  const start = process.cpuUsage()
  for (const piece of [
    '"',
    '(',
    '<',
    '<@a:',
    'a ',
    '@',
    'a.',
    '\\',
    '=?a?q?',
    ':',
    'a:',
    ';',
    '()',
    '""',
    '[',
    '<"',
    '<(',
  ]) {
    parseListedAddresses(piece.repeat(200_000), Number.MAX_SAFE_INTEGER)
  }
  assert.ok(process.cpuUsage(start).user < 10_000_000)
})

test('random lists: groups are closed, and nothing is thrown', () => {
  const random = new Random(5)
  const pieces = [
    'a',
    '@',
    'b.test',
    '<',
    '>',
    '"',
    '(',
    ')',
    ',',
    ';',
    ':',
    ' ',
    '\\',
    '=?utf-8?q?x?=',
    '.',
    '[',
    ']',
    '\t',
  ]
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: random.below(20) }, () => random.pick(pieces)).join('')
    let open = 0
    for (const { mailbox, host } of parseListedAddresses(text)) {
      if (host === null) open += mailbox === null ? -1 : 1
      assert.ok(open === 0 || open === 1, JSON.stringify(text))
    }
    assert.equal(open, 0, JSON.stringify(text))
  }
})

test('one plain address is read as in a list', () => {
  const random = new Random(6)
  const pieces = ['a', 'B', '@', '@', 'b.test', ' <', '>', ' ', '.', '-', "'", '+', '_', '9', '\t']
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: 1 + random.below(8) }, () => random.pick(pieces)).join('')
    // An empty entry in front of it changes nothing, but the whole is no plain address then.
    assert.deepEqual(shown(text), shown(`,${text}`), text)
  }
})
