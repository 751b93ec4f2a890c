// Patterns of sender filters: syntax, normalisation, matching.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { matchRule, normalPattern } from '../../../src/directory/domains/filter-pattern.ts'

describe('normalisation', () => {
  const good: [string, string][] = [
    ['User@Example.COM', 'user@example.com'],
    ['user+tag@example.com', 'user+tag@example.com'],
    ['@Example.com', '@example.com'],
    ['example.com', 'example.com'],
    ['*.example.com', '*.example.com'],
    ['@*.Example.com', '@*.example.com'],
    ['*@example.com', '*@example.com'],
    ['prefix*@example.com', 'prefix*@example.com'],
    ['*suffix@example.com', '*suffix@example.com'],
    ['a*b@example.com', 'a*b@example.com'],
    ["o'neil!#$%&@example.com", "o'neil!#$%&@example.com"],
    ['root@localhost', 'root@localhost'],
    ['*.xyz', '*.xyz'],
    ['@müller.example', '@xn--mller-kva.example'],
    ['jürgen@müller.example', 'jürgen@xn--mller-kva.example'],
    ['bounce@mail_1.example.com', 'bounce@mail_1.example.com'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ]
  for (const [written, stored] of good) it(`takes ${written}`, () => assert.equal(normalPattern(written), stored))

  const wrong = [
    '',
    '@',
    '*',
    '*@',
    '*.',
    'word',
    '*@*',
    '*@*.example.com',
    'user@*.example.com',
    '@user@example.com',
    'a*b*c@example.com',
    '**@example.com',
    'exa*mple.com',
    '*example.com',
    'user@exam*ple.com',
    '*.*.example.com',
    'user@',
    'user@example..com',
    'user@.example.com',
    'user@example.com.',
    'us er@example.com',
    '"user"@example.com',
    '<user@example.com>',
    'user@example.com,other@example.com',
    'user@127.0.0.1',
    'user@[127.0.0.1]',
    '.*@example.com|x',
    '/spam/',
    'user\n@example.com',
    'user\u0000@example.com',
    `${'a'.repeat(65)}@example.com`,
    `${'a'.repeat(321)}`,
  ]
  for (const written of wrong) {
    it(`refuses ${JSON.stringify(written).slice(0, 40)}`, () => assert.equal(normalPattern(written), null))
  }
})

describe('matching', () => {
  const rows: [pattern: string, email: string, expected: boolean][] = [
    ['user@example.com', 'user@example.com', true],
    ['user@example.com', 'USER@EXAMPLE.COM', true],
    ['user@example.com', 'user+tag@example.com', true],
    ['user@example.com', '"user"@example.com', true],
    ['user@example.com', '"user+tag"@example.com', true],
    ['user@example.com', 'other@example.com', false],
    ['user@example.com', 'user@sub.example.com', false],
    ['user@example.com', 'xuser@example.com', false],
    ['user@example.com', '"x@user"@example.com', false],
    ['user+tag@example.com', 'user+tag@example.com', true],
    ['user+tag@example.com', 'user@example.com', false],
    ['user+tag@example.com', 'user+tag2@example.com', false],
    ['@example.com', 'any@example.com', true],
    ['@example.com', 'any@notexample.com', false],
    ['@example.com', 'any@sub.example.com', false],
    ['example.com', 'any@EXAMPLE.com', true],
    ['example.com', 'example.com@other.com', false],
    ['*.example.com', 'any@sub.example.com', true],
    ['*.example.com', 'any@a.b.example.com', true],
    ['*.example.com', 'any@example.com', false],
    ['*.example.com', 'any@subexample.com', false],
    ['@*.example.com', 'any@sub.example.com', true],
    ['@*.example.com', 'any@example.com', false],
    ['*@example.com', 'any@example.com', true],
    ['*@example.com', 'any@sub.example.com', false],
    ['prefix*@example.com', 'prefix@example.com', true],
    ['prefix*@example.com', 'prefix-1@example.com', true],
    ['prefix*@example.com', 'prefix+tag@example.com', true],
    ['prefix*@example.com', 'xprefix@example.com', false],
    ['*suffix@example.com', 'my-suffix+tag@example.com', true],
    ['aba*aba@example.com', 'aba@example.com', false],
    ['aba*aba@example.com', 'abaaba@example.com', true],
    ['a*+b@example.com', 'axx+b@example.com', true],
    ['a*+b@example.com', 'axx@example.com', false],
    ['@xn--mller-kva.example', 'a@müller.example', true],
    ['*.xyz', 'spam@any.xyz', true],
    ['user@example.com', 'user', false],
    ['user@example.com', '', false],
    ['user@example.com', '@example.com', false],
    ['@example.com', '@example.com', false],
    ['+x@example.com', '+x@example.com', true],
  ]
  for (const [pattern, email, expected] of rows) {
    it(`${pattern} ${expected ? 'matches' : 'does not match'} ${email}`, () => {
      assert.equal(normalPattern(pattern), pattern, 'the pattern is in stored spelling')
      assert.equal(matchRule(pattern, email), expected)
    })
  }

  it('compares plain text for any sender address', () => {
    const long = 'a'.repeat(100_000)
    for (const email of [`${long}@example.com`, `${long}@${long}`, `"${'\\a'.repeat(50_000)}"@example.com`, long]) {
      assert.equal(matchRule('a*a*b@example.com'.replace('*a', ''), email), false)
    }
    assert.equal(matchRule('a*a@example.com', `${long}@example.com`), true)
  })
})
