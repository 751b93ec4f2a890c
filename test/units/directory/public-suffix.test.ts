// Public suffixes cannot be claimed: names of our own, and the test vectors of the Public Suffix List where the fixtures are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { checkDomainName } from '../../../src/directory/names/domain-name.ts'
import { fixtureBytes, fixtures } from '../../support/fixtures.ts'

const FILE = 'psl/test_psl.txt'
const config = loadConfig({ MAIL_HOSTS: 'mx.mailstead.test' }, 'no-such-file.json')

/** Rules of one label and of several, one with a wildcard and its exception, and names beyond ASCII. */
const SUFFIXES = ['com', 'uk', 'co.uk', 'CO.UK', 'co.jp', 'kobe.jp', 'x.kobe.jp', '公司.cn']
const BELOW = [
  ...['shop.com', 'mail.shop.com', 'shop.co.uk', 'SHOP.co.uk', 'shop.co.jp', 'city.kobe.jp', 'shop.x.kobe.jp'],
  // A suffix of a private section belongs to somebody, who can prove it.
  ...['github.io', 'team.github.io', 'shop.公司.cn', 'täst.de'],
]

const lines = fixtures(FILE) ? fixtureBytes(FILE).toString('utf8').split('\n') : []
const foreign = lines.flatMap((line) => {
  const match = /^checkPublicSuffix\('([^']*)', (null|'[^']*')\);/.exec(line.trim())
  return match ? [{ name: match[1]!, isSuffix: match[2] === 'null' }] : []
})
const own = [...SUFFIXES.map((name) => ({ name, isSuffix: true })), ...BELOW.map((name) => ({ name, isSuffix: false }))]

test('a public suffix is refused, a name below one is accepted', () => {
  for (const { name, isSuffix } of [...own, ...foreign]) {
    if (isSuffix) assert.throws(() => checkDomainName(name, config), { code: 'validation_error' }, name)
    else assert.doesNotThrow(() => checkDomainName(name, config), name)
  }
})
