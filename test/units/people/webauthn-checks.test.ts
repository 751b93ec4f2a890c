// Public keys of passkeys that are no point of their curve or too short, and answers that another site's page embeds.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { isOwnPage, isSoundKey } from '../../../src/people/webauthn-checks.ts'

type Jwk = Record<string, string>
const jwkOf = (type: 'ec' | 'ed25519' | 'rsa', modulusLength = 2048): Jwk => {
  const pair =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength })
        : generateKeyPairSync('ed25519')
  return pair.publicKey.export({ format: 'jwk' }) as Jwk
}
const bytes = (text: string | undefined) => Buffer.from(text!, 'base64url')
const ec = ({ x, y }: Jwk) =>
  new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytes(x)],
    [-3, bytes(y)],
  ])
const okp = (x: Buffer) =>
  new Map<number, unknown>([
    [1, 1],
    [3, -8],
    [-1, 6],
    [-2, x],
  ])
const rsa = (n: Buffer, e: Buffer) =>
  new Map<number, unknown>([
    [1, 3],
    [3, -257],
    [-1, n],
    [-2, e],
  ])
const littleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()

test('keys that devices make are sound', () => {
  for (let times = 0; times < 20; times++) {
    assert.ok(isSoundKey(ec(jwkOf('ec'))))
    assert.ok(isSoundKey(okp(bytes(jwkOf('ed25519').x))))
  }
  const { n, e } = jwkOf('rsa')
  assert.ok(isSoundKey(rsa(bytes(n), bytes(e))))
})

test('a point off its curve is none', () => {
  const key = jwkOf('ec')
  const moved = bytes(key.y)
  moved[31]! ^= 1
  assert.equal(isSoundKey(ec({ ...key, y: moved.toString('base64url') })), false)
  assert.equal(isSoundKey(new Map([...ec(key), [-1, 2]])), false, 'another curve')
  // Half of all y coordinates have no point (RFC 8032 §5.1.3); 2 is the smallest of them.
  assert.equal(isSoundKey(okp(littleEndian(2n))), false)
  assert.equal(isSoundKey(okp(littleEndian(2n ** 255n - 19n))), false, 'not below the order of the field')
  assert.equal(isSoundKey(okp(littleEndian(3n).subarray(1))), false, 'a byte is missing')
})

test('an RSA key has 2048 bits or more, and an odd exponent above 1', () => {
  const short = jwkOf('rsa', 1024)
  assert.equal(isSoundKey(rsa(bytes(short.n), bytes(short.e))), false)
  const { n } = jwkOf('rsa')
  for (const exponent of [1, 2]) assert.equal(isSoundKey(rsa(bytes(n), Buffer.from([exponent]))), false)
  assert.equal(isSoundKey(new Map([[3, -37]])), false, 'an algorithm that was not offered')
})

test('an answer from a page that another site embeds is not of ours', () => {
  const dataOf = (more: object) =>
    Buffer.from(JSON.stringify({ type: 'webauthn.get', origin: 'https://mail.example', ...more })).toString('base64url')
  assert.ok(isOwnPage(dataOf({})))
  assert.ok(isOwnPage(dataOf({ crossOrigin: false })))
  for (const more of [{ crossOrigin: true }, { topOrigin: 'https://evil.example' }, { crossOrigin: 'true' }]) {
    assert.equal(isOwnPage(dataOf(more)), false, JSON.stringify(more))
  }
  assert.equal(isOwnPage('e30x'), false)
})
