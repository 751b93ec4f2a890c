// The form of app passwords.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupedAppSecret, newAppSecret, readAppSecret } from '../../../src/base/app-secret.ts'

test('an app password has 20 characters that cannot be mistaken for others, and two spellings', () => {
  const secrets = new Set(Array.from({ length: 200 }, newAppSecret))
  assert.equal(secrets.size, 200)
  for (const secret of secrets) {
    assert.match(secret, /^[a-hjkmnp-z2-9]{20}$/)
    assert.match(groupedAppSecret(secret), /^(\w{5}-){3}\w{5}$/)
    assert.equal(readAppSecret(secret), secret)
    assert.equal(readAppSecret(groupedAppSecret(secret)), secret)
  }
  const used = new Set([...secrets].flatMap((secret) => [...secret]))
  assert.equal(used.size, 31)
})

test('case, spaces and hyphens do not matter; anything else is no app password', () => {
  const secret = newAppSecret()
  assert.equal(readAppSecret(` ${secret.toUpperCase().replace(/(.{4})/g, '$1 ')}`), secret)
  const wrong = ['', secret.slice(1), `${secret}a`, `${secret}\0`, secret.replace(/.$/, 'l'), ' '.repeat(30) + secret]
  for (const text of [...wrong, `smk_${secret}`, 'x'.repeat(100_000)]) assert.equal(readAppSecret(text), null)
})

test('of wrong characters one in 961 passes the check', () => {
  const typos = Array.from({ length: 100 }, newAppSecret).flatMap((secret) =>
    Array.from(secret, (character, at) => secret.slice(0, at) + (character === 'a' ? 'b' : 'a') + secret.slice(at + 1)),
  )
  const passed = typos.filter((typo) => readAppSecret(typo) !== null)
  // Two of 2,000 are expected.
  assert.ok(passed.length < 20, `${passed.length} of ${typos.length}`)
})
