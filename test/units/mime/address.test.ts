// Mailboxes, strictly; address lists, the way they come.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADDRESSES_MAX, parseAddressList, parseMailbox } from '../../../src/mime/address.ts'

const list = (text: string) => parseAddressList(text).map(({ email, name }) => (name ? `${name} <${email}>` : email))

test('a mailbox is canonical: A-labels, lower-case domain, quotes only where they have to be', () => {
  const cases: [string, string][] = [
    ['Bob@Example.ORG', 'Bob@example.org'],
    ['"bob"@x.com', 'bob@x.com'],
    ['"a b"@x.com', '"a b"@x.com'],
    ['"a\\b"@x.com', 'ab@x.com'],
    ['"a\\"b"@x.com', '"a\\"b"@x.com'],
    ['grü@Grüße.example', 'grü@xn--gre-6ka8l.example'],
    ['u\u0308@x.com', 'ü@x.com'],
    ['a@[192.0.2.1]', 'a@[192.0.2.1]'],
    ['a@[IPv6:2001:DB8::1]', 'a@[ipv6:2001:db8::1]'],
    ['a+b@localhost', 'a+b@localhost'],
  ]
  for (const [given, email] of cases) assert.equal(parseMailbox(given)?.email, email, given)
})

test('what is no Mailbox of RFC 5321, or more than one, is none', () => {
  const wrong = [
    ...['', 'a', '@', 'a@', '@b', 'a@b@c', '.a@b', 'a.@b', 'a..b@c', 'a b@c', '<a@b>', 'a@b>', 'Bob <a@b>', 'a@b, c@d'],
    ...[
      'a@b\r\n',
      'a\r\n@b',
      'a@b\0',
      'a\0@b',
      '"a\0"@b',
      '"a\n"@b',
      '@x:a@b',
      'a@b.',
      'a@.b',
      'a@b..c',
      'a@-b',
      'a@b-',
    ],
    ...[
      'a@b_c',
      'a@b c',
      'a@b/c',
      'a@b%41',
      'a@ü%2eb',
      'a@ü/x',
      'a@ü@x',
      'a@１.２.３.４',
      'a@[1.2.3]',
      'a@[::1]',
      'a@[x]',
    ],
    ...[
      'a@[IPv6:fe80::1%eth0]',
      'a@[1.2.3.4',
      'a"b"@c',
      '"a"b@c',
      '"a@b',
      'a\u00a0b@c',
      'a\u200bb@c',
      'a\ud800@c',
      'a(x)@b',
    ],
    ...[`${'a'.repeat(65)}@b`, `${'ü'.repeat(33)}@b`, `a@${'b'.repeat(64)}.c`, `a@${'b.'.repeat(150)}c`],
    ...['a@b.com ', ' a@b.com', 'a;b@c', 'a,b@c', 'a:b@c', 'a\tb@c'],
  ]
  for (const text of wrong) assert.equal(parseMailbox(text), null, JSON.stringify(text))
})

test('names, comments, groups, routes, addresses without brackets', () => {
  const cases: [string, string[]][] = [
    ['a@b', ['a@b']],
    ['A <a@b>, "B, C" <c@d>,, d@e', ['A <a@b>', 'B, C <c@d>', 'd@e']],
    ['a@b (The (real) A)', ['The (real) A <a@b>']],
    ['Friends: a@b, C <c@d>; e@f', ['a@b', 'C <c@d>', 'e@f']],
    ['undisclosed-recipients:;', []],
    ['<@x,@y:a@b>', ['a@b']],
    ['a . b @ c . d', ['a.b@c.d']],
    ['"a b"@c', ['"a b"@c']],
    ['<"a b"@c>', ['"a b"@c']],
    ['Ann a@b', ['Ann <a@b>']],
    ['=?utf-8?Q?Sm=C3=AFth,_A?= <a@b>', ['Smïth, A <a@b>']],
    ['"=?utf-8?Q?=C3=BC?=" <a@b>', ['ü <a@b>']],
    ['Jürgen <j@ü.example>', ['Jürgen <j@ü.example>']],
    ['nobody', ['nobody <>']],
    ['<>', []],
    ['MAILER-DAEMON <>', ['MAILER-DAEMON <>']],
    ['', []],
  ]
  for (const [given, expected] of cases) assert.deepEqual(list(given), expected, given)
})

test('what mailers break: commas in names, missing ends', () => {
  const cases: [string, string[]][] = [
    ['Smith, John <j@x>, B <b@x>', ['Smith, John <j@x>', 'B <b@x>']],
    ['A <a@b, C <c@d>', ['A <c@d>']],
    ['A <a@b', ['A <a@b>']],
    ['A <a@b, c@d', ['A <a@b>', 'c@d']],
    ['O"Brien <o@x>', ['OBrien <o@x>']],
    ['A (never ends <a@b>', ['A (never ends <a@b>']],
    ['<<a@b>>', ['> <a@b>']],
  ]
  for (const [given, expected] of cases) assert.deepEqual(list(given), expected, given)
})

test('spaces and control characters inside an address are not joined into one that nobody wrote', () => {
  const cases: [string, string[]][] = [
    ['<admin@legit imate.com>', ['admin@legit imate.com <>']],
    ['A <ad min@x.com>', ['A ad min@x.com <>']],
    ['<admin@legit(x)imate.com>', ['admin@legit imate.com <>']],
    ['admin@legit imate.com', ['imate.com <admin@legit>']],
    ['Ann B. ann@x.com', ['Ann B. <ann@x.com>']],
    ['<admin@legit\u00a0imate.com>', ['admin@legit\u00a0imate.com <>']],
    ['<admin@legit\x01imate.com>', ['admin@legit imate.com <>']],
    ['<admin@legit\x02imate.com>', ['admin@legit imate.com <>']],
    ['admin@legit\x7fimate.com', ['admin@legit imate.com <>']],
    ['A <admin@legit\x0bimate.com>', ['A admin@legit imate.com <>']],
    // RFC 5322 4.4 has white space around "@" and ".", and comments where white space may be.
    ['< a . b @ c . d >', ['a.b@c.d']],
    ['<a@c. d>', ['a@c.d']],
    ['<a(x)@(y)c(z).d>', ['a@c.d']],
    ['a@c(z).d', ['z <a@c.d>']],
    ['< @x, @y : "a b" @ c >', ['"a b"@c']],
  ]
  for (const [given, expected] of cases) {
    const found = parseAddressList(given).map(({ email, name }) => (name ? `${name} <${email}>` : email))
    assert.deepEqual(found, expected, given)
  }
})

test('two addresses are two, however they are dressed', () => {
  assert.deepEqual(list('"a@bank.example, x" <evil@x>'), ['a@bank.example, x <evil@x>'])
  assert.deepEqual(list('a@bank.example, x <evil@x>'), ['a@bank.example', 'x <evil@x>'])
  assert.deepEqual(list('=?utf-8?Q?=3Cceo=40bank=2Eexample=3E=2C?= <evil@x>'), ['<ceo@bank.example>, <evil@x>'])
})

test('bounds: addresses in a list, length of an address and of a name', () => {
  assert.equal(parseAddressList('a@b, '.repeat(5000)).length, ADDRESSES_MAX)
  assert.deepEqual(parseAddressList(`N <${'a'.repeat(400)}@b>`), [{ email: '', name: 'N' }])
  assert.equal(parseAddressList(`${'n'.repeat(5000)} <a@b>`)[0]!.name.length, 512)
})
