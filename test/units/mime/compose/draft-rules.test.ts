// What may be sent to whom: addresses, names, subjects and bodies at the API's edge, with everything that was ever smuggled in them.

import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import {
  BODY_MAX,
  checkBodies,
  checkEmail,
  checkRecipient,
  checkSubject,
} from '../../../../src/mime/compose/draft-rules.ts'
import { failure } from '../../../support/directory.ts'
import { fixtureBytes, fixtureJson, fixturesMissing } from '../../../support/fixtures.ts'

const refused = (run: () => unknown, field: string, code: string) =>
  assert.throws(run, failure('validation_error', { field, code }))

describe('an address', () => {
  it('comes back in its one form', () => {
    const rows: [string, string][] = [
      ['bob@x.test', 'bob@x.test'],
      ['Bob.Lee+news@X.Test', 'Bob.Lee+news@x.test'],
      ["o'neil!#$%&*+-/=?^_`{|}~@x.test", "o'neil!#$%&*+-/=?^_`{|}~@x.test"],
      ['bob@bücher.test', 'bob@xn--bcher-kva.test'],
      ['bob@例え.テスト', 'bob@xn--r8jz45g.xn--zckzah'],
      ['"bob"@x.test', 'bob@x.test'],
      ['"two..dots"@x.test', '"two..dots"@x.test'],
      ['"dot."@x.test', '"dot."@x.test'],
      [`${'l'.repeat(64)}@x.test`, `${'l'.repeat(64)}@x.test`],
    ]
    for (const [given, expected] of rows) assert.equal(checkEmail('to.email', given), expected)
    assert.deepEqual(checkRecipient('to', { email: 'B@X.test', name: 'Jörg 👋' }), {
      email: 'B@x.test',
      name: 'Jörg 👋',
    })
    for (const name of ['', null, undefined]) assert.equal(checkRecipient('to', { email: 'b@x.test', name }).name, '')
    assert.equal(checkRecipient('to', { email: 'b@x.test', name: 'a\tb\u{1b}[0m\ud800' }).name, 'a b [0m\ufffd')
  })

  it('is refused with what could be read as another one, or as its end', () => {
    const injections = [
      '"b@b.ex>\r\nRCPT TO:<z@z.ex"',
      'a@a.ex, z@z.ex',
      'a@a.ex,z@z.ex',
      'a@a.ex;z@z.ex',
      'a@a.ex z@z.ex',
      '<a@a.ex>',
      'a@a.ex><z@z.ex',
      'A <a@a.ex>',
      '"a@a.ex, z"@z.ex',
      '"a@a.ex>, <z"@z.ex',
      '"a b"@x.test',
      '"a\\"b"@x.test',
      '"<"@x.test',
      '"(c)"@x.test',
      '""@x.test',
      '@relay.ex:a@a.ex',
      'a%b@c@d.ex',
      'a@a.ex\r\nBcc: z@z.ex',
      'a@a.ex\n',
      '\ta@a.ex',
      'a@a.ex\0',
      'a@a.ex\0.z.ex',
      ' a@a.ex',
      'a@a.ex ',
      'group: a@a.ex;',
      '(c)a@a.ex',
      'a@a.ex(c)',
      'a@a.ex\u2028',
      'a@a。ex\r',
      'a@ａ.ex/z',
      'a@z.ex%00.a.ex',
      'a\u200b@a.ex',
      'a@a\u200b .ex',
      'jörg@a.ex',
      'ａ@a.ex',
      'a@[127.0.0.1]',
      'a@[IPv6:::1]',
      'a@127.0.0.1',
      'a@2130706433',
      'a@１２７.０.０.１',
      'a@a.ex.123',
      'a@localhost',
      'a@com',
      'a@a..ex',
      'a@.ex',
      'a@a.ex.',
      'a@-a.ex',
      'a@a_b.ex',
      '.a@a.ex',
      'a.@a.ex',
      'a..b@a.ex',
      'a',
      'a@',
      '@a.ex',
      '@',
      '',
    ]
    for (const email of injections) {
      refused(() => checkRecipient('cc.3', { email, name: '' }), 'cc.3.email', 'invalid_format')
    }
    refused(() => checkEmail('return_path', `${'l'.repeat(65)}@x.test`), 'return_path', 'invalid_format')
    refused(() => checkEmail('return_path', `l@${'d'.repeat(250)}.test`), 'return_path', 'too_big')
    refused(() => checkEmail('return_path', 'x'.repeat(1e6)), 'return_path', 'too_big')
  })

  it('has a name without line breaks, of at most 255 characters', () => {
    for (const name of ['a\rb', 'a\nb', 'a\0b', 'Bob\r\nBcc: z@z.ex', 'Bob <b@b.ex>\r\nRCPT TO:<z@z.ex>']) {
      refused(() => checkRecipient('from', { email: 'a@a.ex', name }), 'from.name', 'invalid_format')
    }
    const long = '👋'.repeat(255)
    assert.equal(checkRecipient('to', { email: 'a@a.ex', name: long }).name, long)
    for (const name of [`${long}x`, 'x'.repeat(256), 'x'.repeat(1e6)]) {
      refused(() => checkRecipient('to', { email: 'a@a.ex', name }), 'to.name', 'too_big')
    }
  })
})

/** What RFC 5321 allows and we do not send to, with the reason. */
const NOT_SENT_TO = new Map([
  ['test@255.255.255.255', 'an IP address in disguise'],
  ['"\\""@iana.org', 'quotes inside quotes'],
  ['"\\\\"@iana.org', 'a backslash'],
  ['test@[IPv6:1111:2222:3333:4444:5555:6666:7777:8888]', 'no domain'],
  ['test@[IPv6:1111:2222:3333:4444:5555::8888]', 'no domain'],
  ['test@org', 'no dot'],
])
const VALID = ['ISEMAIL_VALID_CATEGORY', 'ISEMAIL_DNSWARN', 'ISEMAIL_RFC5321']

function takes(email: string): boolean {
  try {
    return checkEmail('to.email', email) !== ''
  } catch {
    return false
  }
}

test('isemail.json', { skip: fixturesMissing('address/isemail.json') }, () => {
  const rows = fixtureJson<{ address: string; category: string }[]>('address/isemail.json')
  assert.ok(rows.length > 80)
  for (const { address, category } of rows) {
    assert.equal(takes(address), VALID.includes(category) && !NOT_SENT_TO.has(address), JSON.stringify(address))
  }
})

/** Why one of flanker's valid addresses is refused, null when it is taken. */
function notSentTo(address: string): string | null {
  if (/^".*[^\w.+-].*"@/.test(address.replace(/\\(.)/g, '$1'))) return 'a quoted part others may read differently'
  if (/[<(]/.test(address)) return 'more than the address'
  if (/[^\x00-\x7f].*@/.test(address)) return 'letters beyond ASCII in front of the @'
  if (/@[^.]*$/.test(address)) return 'no dot'
  return /[.][0-9]+$/.test(address) ? 'a number in place of a top-level domain' : null
}

test('flanker', { skip: fixturesMissing('address/flanker-mailbox_valid.txt') }, () => {
  const lines = (file: string) =>
    fixtureBytes(`address/flanker-mailbox_${file}.txt`)
      .toString()
      .split('\n')
      .map((line) => line.replace(/\s{2,}#.*$/, ''))
      .filter((line) => line.trim() !== '')
  for (const address of lines('invalid')) assert.equal(takes(address), false, address)
  const valid = lines('valid')
  assert.ok(valid.length > 60)
  for (const address of valid) assert.equal(takes(address), notSentTo(address) === null, address)
})

describe('a subject', () => {
  it('has one line of 1 to 998 characters', () => {
    for (const subject of ['a', 'Größe 👋', 'x'.repeat(998), '👋'.repeat(998), ' a ', 'a\u2028b']) {
      assert.equal(checkSubject('subject', subject), subject)
    }
    assert.equal(checkSubject('subject', 'a\tb\x7f\ud83d'), 'a b \ufffd')
    for (const subject of ['a\rb', 'a\nb', 'a\r\nBcc: z@z.ex', 'a\0', '\n']) {
      refused(() => checkSubject('subject', subject), 'subject', 'invalid_format')
    }
    refused(() => checkSubject('subject', ''), 'subject', 'too_small')
    for (const subject of ['x'.repeat(999), '👋'.repeat(999), 'x'.repeat(2000)]) {
      refused(() => checkSubject('subject', subject), 'subject', 'too_big')
    }
  })
})

describe('the bodies', () => {
  it('are one or two; an empty one counts as absent', () => {
    assert.deepEqual(checkBodies({ text: 'a', html: '' }), { textBody: 'a', htmlBody: null })
    assert.deepEqual(checkBodies({ text: '', html: '<p>' }), { textBody: null, htmlBody: '<p>' })
    assert.deepEqual(checkBodies({ text: ' \0\ud800', html: null }), { textBody: ' \0\ud800', htmlBody: null })
    for (const given of [{}, { text: '' }, { text: '', html: null }]) {
      assert.throws(() => checkBodies(given), failure('missing_parameter', { field: 'html_body', code: 'required' }))
    }
    refused(() => checkBodies({ text: 'x'.repeat(BODY_MAX + 1) }), 'text_body', 'too_big')
    refused(() => checkBodies({ html: 'x'.repeat(BODY_MAX + 1) }), 'html_body', 'too_big')
  })
})
