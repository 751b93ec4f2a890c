// The page after signing in is one of this server, whatever the address says.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextPage } from '../../../web/src/base/next-page.ts'

const ORIGIN = 'https://mail.example'
const after = (next: string) => nextPage(`?next=${encodeURIComponent(next)}`, ORIGIN)

test('a page of this server is gone back to', () => {
  for (const page of ['/console', '/console/team_1/delivery?status=failed', '/me/passkeys#add']) {
    assert.equal(after(page), page)
  }
  assert.equal(nextPage('', ORIGIN), '/console')
})

test('nothing leads to another server or to a script', () => {
  const hostile = [
    '//evil.example',
    '/\\evil.example',
    '/\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\\\\evil.example',
  ]
  for (const next of [...hostile, 'https://evil.example', 'javascript:alert(1)', 'console', '//[', '']) {
    assert.equal(after(next), '/console', next)
  }
})
