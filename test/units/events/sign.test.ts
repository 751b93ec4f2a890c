// Webhook signatures: test vectors and third-party verifiers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { headersOf, newSigningSecret, signature } from '../../../src/events/webhooks/sign.ts'

const BODY =
  '{"id":"evt_4k9d2m7q1x8c5v0b3n6z2p7a","type":"service.test","created_at":"2030-01-02T03:04:05.000Z",' +
  '"api_version":"1.0.0","team_id":"team_0a1b2c3d4e5f6g7h8i9j0k1l","data":{"message":"ping"}}'
const event = { id: 'evt_4k9d2m7q1x8c5v0b3n6z2p7a', type: 'service.test', body: BODY }

test('the test vector of the decisions verifies', () => {
  assert.equal(Buffer.byteLength(BODY), 189)
  assert.equal(
    signature('whsec_testtesttesttesttesttesttesttest', BODY),
    'sha256=94cb99b06995f09e5c97eb79c64889d2cfaa8e0bde8493da58cee834ee0c6041',
  )
})

test('a secret is letters and digits that every base64 decoder accepts', () => {
  for (let i = 0; i < 50; i++) assert.match(newSigningSecret(), /^whsec_[0-9A-Za-z]{44}$/)
})

test('five lines of plain Node verify a request', () => {
  const secret = newSigningSecret()
  const headers = headersOf({ event, attempt: 1, now: Date.now(), secret, previousSecret: null })
  const expected = `sha256=${createHmac('sha256', secret).update(Buffer.from(BODY)).digest('hex')}`
  const given = Buffer.from(headers['X-Service-Signature']!)
  assert.ok(given.length === expected.length && timingSafeEqual(given, Buffer.from(expected)))
})

const PYTHON = `
import hashlib, hmac, sys
secret, given, body = sys.argv[1], sys.argv[2], sys.stdin.buffer.read()
expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
sys.exit(0 if hmac.compare_digest(expected, given) else 1)
`
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed'

test('five lines of Python verify a request', { skip: noPython }, () => {
  const secret = newSigningSecret()
  const check = (given: string) => spawnSync('python3', ['-c', PYTHON, secret, given], { input: BODY }).status
  assert.equal(check(signature(secret, BODY)), 0)
  assert.equal(check(signature(newSigningSecret(), BODY)), 1)
})

test('a verifier of Standard Webhooks accepts a request, also under the old secret of a rotation', () => {
  const [secret, previousSecret] = [newSigningSecret(), newSigningSecret()]
  const headers = headersOf({ event, attempt: 2, now: Date.now(), secret, previousSecret })
  for (const known of [secret, previousSecret]) {
    assert.deepEqual(new Webhook(known).verify(BODY, headers), JSON.parse(BODY))
  }
  assert.throws(() => new Webhook(newSigningSecret()).verify(BODY, headers), /No matching signature/)
  assert.throws(() => new Webhook(secret).verify(`${BODY} `, headers), /No matching signature/)
  assert.equal(headers['X-Service-Signature-Previous'], signature(previousSecret, BODY))
  assert.equal(headers['X-Service-Delivery-Attempt'], '2')
})

test('the signature is the HMAC-SHA-256 of RFC 4231 §4.3', () => {
  // The one case whose key and data are text, as those of a webhook are.
  assert.equal(
    signature('Jefe', 'what do ya want for nothing?'),
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})
