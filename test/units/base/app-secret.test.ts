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
  const other = (at: number) => (secret[at] === 'a' ? 'b' : 'a')
  for (let at = 0; at < secret.length; at++) {
    const typo = secret.slice(0, at) + other(at) + secret.slice(at + 1)
    assert.equal(readAppSecret(typo), null, `a wrong character at ${at} is noticed`)
  }
  const wrong = ['', secret.slice(1), `${secret}a`, `${secret}\0`, secret.replace(/.$/, 'l'), ' '.repeat(30) + secret]
  for (const text of [...wrong, `smk_${secret}`, 'x'.repeat(100_000)]) assert.equal(readAppSecret(text), null)
})
