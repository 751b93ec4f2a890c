// Public suffixes cannot be claimed: the test vectors of the Public Suffix List.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { checkDomainName } from '../../../src/directory/names/domain-name.ts'
import { fixtureBytes, fixtures, fixturesMissing } from '../../support/fixtures.ts'

const FILE = 'psl/test_psl.txt'
const config = loadConfig({}, 'no-such-file.json')
const skip = fixturesMissing(FILE)
const lines = fixtures(FILE) ? fixtureBytes(FILE).toString('utf8').split('\n') : []
const checks = lines.flatMap((line) => {
  const match = /^checkPublicSuffix\('([^']*)', (null|'[^']*')\);/.exec(line.trim())
  return match ? [{ name: match[1]!, isSuffix: match[2] === 'null' }] : []
})

test('a public suffix is refused, a name below one is accepted', { skip }, () => {
  assert.ok(checks.length >= 39, `${checks.length} checks`)
  for (const { name, isSuffix } of checks) {
    if (isSuffix) assert.throws(() => checkDomainName(name, config), { code: 'validation_error' }, name)
    else assert.doesNotThrow(() => checkDomainName(name, config), name)
  }
})
