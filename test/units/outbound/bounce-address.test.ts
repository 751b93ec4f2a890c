// The address that reports come back to: it names its delivery, and only this appliance can make one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Vault } from '../../../src/base/secrets.ts'
import { parseMailbox } from '../../../src/mime/address.ts'
import {
  bounceAddress,
  isBounceDomain,
  isFeedbackAddress,
  readBounceAddress,
} from '../../../src/outbound/model/envelope-sender.ts'

const vault = new Vault(Buffer.alloc(32, 1))
const config = { MAIL_HOSTS: ['mx.house.test', 'mx2.house.test'] }

test('an address leads back to its delivery, in any case and under any of our names', () => {
  for (const n of [1, 35, 36, 1_000_000, 36 ** 9 - 1]) {
    const address = bounceAddress(vault, config, n)
    assert.match(address, /^b\+[0-9a-z]{24}@bounce\.mx\.house\.test$/)
    assert.equal(parseMailbox(address)?.email, address)
    const key = { of: 'delivery', n }
    assert.deepEqual(readBounceAddress(vault, config, address), key)
    assert.deepEqual(readBounceAddress(vault, config, address.toUpperCase()), key)
    assert.deepEqual(readBounceAddress(vault, config, address.replace('mx.house', 'mx2.house')), key)
  }
  assert.notEqual(bounceAddress(vault, config, 1).slice(11), bounceAddress(vault, config, 2).slice(11))
})

test('an address that an earlier version sent with leads back to its message', () => {
  // Made by version 0.1.0 for message 7 with this secret.
  const earlier = 'b+000000007itj0bz0dhctb573@bounce.mx.house.test'
  assert.deepEqual(readBounceAddress(vault, config, earlier), { of: 'message', n: 7 })
  assert.notEqual(bounceAddress(vault, config, 7), earlier)
})

test('what this house did not make leads nowhere', () => {
  const address = bounceAddress(vault, config, 7)
  const proof = address.slice(11, 26)
  const others = [
    address.replace('000000007', '000000008'),
    address.replace(proof, '0'.repeat(15)),
    address.replace(proof, proof.slice(0, 14)),
    address.replace(proof, `${proof}0`),
    address.replace('b+', 'c+'),
    address.replace('b+', 'b'),
    address.replace('bounce.', ''),
    address.replace('mx.house', 'mx3.house'),
    address.replace('@', '@x.'),
    '',
    '@',
    'b+@bounce.mx.house.test',
  ]
  for (const other of others) assert.equal(readBounceAddress(vault, config, other), null, other)
  assert.equal(readBounceAddress(new Vault(Buffer.alloc(32, 2)), config, address), null)
})

test('the address for complaints', () => {
  assert.ok(isFeedbackAddress(config, 'fbl@bounce.mx.house.test'))
  assert.ok(isFeedbackAddress(config, 'FBL@bounce.MX2.house.test'))
  for (const other of ['fbl@mx.house.test', 'fbl+x@bounce.mx.house.test', 'fbl@bounce.other.test']) {
    assert.equal(isFeedbackAddress(config, other), false, other)
  }
  assert.ok(isBounceDomain(config, 'Bounce.mx.house.test'))
  assert.equal(isBounceDomain(config, 'bounce.bounce.mx.house.test'), false)
})
