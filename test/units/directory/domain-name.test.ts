// Domain names: normalisation, and which names may be claimed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { checkDomainName, domainName, isPublicSuffix, isReserved } from '../../../src/directory/names/domain-name.ts'
import { failure } from '../../support/directory.ts'

const config = loadConfig(
  {
    MAIL_HOSTS: 'mx1.mailstead.test,mx2.mailstead.test',
    APP_ORIGIN: 'https://app.mailstead.test:8443',
    SEND_ORIGIN: 'https://send.mailstead.test',
    AGENT_MAILBOX_DOMAIN: 'agents.mailstead.test',
  },
  'no-settings-file.json',
)

test('names are normalised', () => {
  const forms: [string, string][] = [
    ['Example.COM', 'example.com'],
    ['müller.example', 'xn--mller-kva.example'],
    ['MÜLLER.example', 'xn--mller-kva.example'],
    ['xn--mller-kva.example', 'xn--mller-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['a-b.c1.example', 'a-b.c1.example'],
    ['_dmarc.example', '_dmarc.example'],
    ['localhost', 'localhost'],
  ]
  for (const [written, stored] of forms) assert.equal(domainName(written), stored, written)
})

test('invalid names are rejected', () => {
  const wrong = [
    '',
    '.',
    'example.com.',
    '.example.com',
    'a..example',
    '-a.example',
    'a-.example',
    'exa mple.com',
    'exa%6dple.com',
    'user@example.com',
    'example.com/path',
    'example.com:25',
    '127.0.0.1',
    '0x7f.1',
    '1.2.3',
    '[::1]',
    '::1',
    'xn--.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}example`,
    'a\u0000.example',
    'a\n.example',
    '＠.example',
    '１２７.0.0.1',
    'x'.repeat(1_000_000),
    'ü'.repeat(1_000_000),
  ]
  for (const written of wrong) assert.equal(domainName(written), null, written.slice(0, 40))
})

test('a team may claim host names only', () => {
  const refused: [string, string][] = [
    ['localhost', 'invalid_format'],
    ['com', 'invalid_format'],
    ['_x.example.com', 'invalid_format'],
    ['10.0.0.1', 'invalid_format'],
    ['a.b', 'too_small'],
    ['co.uk', 'forbidden_value'],
    ['CO.UK', 'forbidden_value'],
    ['公司.cn', 'forbidden_value'],
    ['foo.ck', 'forbidden_value'],
    ['mx1.mailstead.test', 'forbidden_value'],
    ['MX2.mailstead.test', 'forbidden_value'],
    ['app.mailstead.test', 'forbidden_value'],
    ['send.mailstead.test', 'forbidden_value'],
    ['agents.mailstead.test', 'forbidden_value'],
  ]
  for (const [name, code] of refused) {
    assert.throws(() => checkDomainName(name, config), failure('validation_error', { field: 'domain', code }), name)
  }
  for (const name of ['example.co.uk', 'mailstead.test', 'demo.test', 'mail.corp', 'x.github.io', 'github.io']) {
    assert.equal(checkDomainName(name, config), name)
  }
})

test('public suffixes and reserved names are recognised by their labels', () => {
  assert.ok(isPublicSuffix('co.uk'))
  assert.ok(!isPublicSuffix('example.co.uk'))
  for (const name of ['a.test', 'a.b.example', 'x.invalid', 'y.localhost']) assert.ok(isReserved(name), name)
  for (const name of ['example.com', 'test.com', 'a.testing', 'mytest']) assert.ok(!isReserved(name), name)
})
