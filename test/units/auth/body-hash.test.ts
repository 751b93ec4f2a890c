// Bodies as DKIM hashes them: the forms of RFC 6376, their limits, and bodies made to be slow.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { BodyHash, hashRelaxed, hashSimple } from '../../../src/auth/body-hash.ts'

function hashed(form: typeof hashSimple, body: string, limit = Infinity): { hash: string; of: number; in: number } {
  const hash = new BodyHash('sha256', limit)
  form(Buffer.from(body, 'latin1'), [hash])
  return { hash: hash.digest('base64'), of: hash.bodyHashedBytes, in: hash.canonicalizedLength }
}

function plain(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'latin1')).digest('base64')
}

test('canonical forms of a body', () => {
  const cases: [body: string, simple: string, relaxed: string][] = [
    ['', '\r\n', ''],
    ['\r\n', '\r\n', ''],
    ['\r\n\r\n\r\n', '\r\n', ''],
    [' ', ' \r\n', ''],
    [' \r\n\t\r\n', ' \r\n\t\r\n', ''],
    // RFC 6376 3.4.5.
    [' C \r\nD \t E\r\n\r\n\r\n', ' C \r\nD \t E\r\n', ' C\r\nD E\r\n'],
    ['\r\n\r\nx', '\r\n\r\nx\r\n', '\r\n\r\nx\r\n'],
    ['x \r\n \r\ny', 'x \r\n \r\ny\r\n', 'x\r\n\r\ny\r\n'],
    ['x\ry\r\n\rz\r', 'x\ry\r\n\rz\r\r\n', 'x\ry\r\n\rz\r\r\n'],
    ['x\ny\n\n', 'x\r\ny\r\n', 'x\r\ny\r\n'],
    ['\xe9\xa0 \0\r\n', '\xe9\xa0 \0\r\n', '\xe9\xa0 \0\r\n'],
  ]
  for (const [body, simple, relaxed] of cases) {
    assert.equal(hashed(hashSimple, body).hash, plain(simple), JSON.stringify(body))
    assert.equal(hashed(hashRelaxed, body).hash, plain(relaxed), JSON.stringify(body))
    assert.equal(hashed(hashRelaxed, body).in, relaxed.length)
  }
})

test('a limit hashes the first bytes and counts all', () => {
  const whole = 'one two\r\n\r\nthree\r\n'
  for (let limit = 0; limit <= whole.length + 1; limit++) {
    const expected = { hash: plain(whole.slice(0, limit)), of: Math.min(limit, whole.length), in: whole.length }
    assert.deepEqual(hashed(hashSimple, `${whole}\r\n`, limit), expected)
    assert.deepEqual(hashed(hashRelaxed, `${whole}\r\n`.replace(' ', ' \t '), limit), expected)
  }
})

test('bodies larger than a piece', () => {
  for (const line of ['x'.repeat(70_000), 'a b\t c  ', '', 'word '.repeat(30_000)]) {
    const body = `${`${line}\r\n`.repeat(50)}end\r\n`
    const relaxed = body.replace(/[ \t]+/g, ' ').replace(/ \r\n/g, '\r\n')
    assert.equal(hashed(hashRelaxed, body).hash, plain(relaxed))
    assert.equal(hashed(hashSimple, body).hash, plain(body))
  }
})
