// Which addresses lie inside, in every form they can be written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublicAddress } from '../../../src/base/public-address.ts'

test('addresses of the open network', () => {
  for (const address of [
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '2001:4860:4860::8888',
    '2620:fe::fe',
    '::ffff:8.8.8.8',
  ]) {
    assert.equal(isPublicAddress(address), true, address)
  }
})

test('addresses that lie inside, or nowhere', () => {
  const inside = [
    ...['127.0.0.1', '127.255.255.254', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '100.127.255.255', '0.0.0.0', '0.1.2.3', '192.0.2.1', '198.18.0.1'],
    ...['224.0.0.1', '255.255.255.255', '240.0.0.1', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12::1'],
    ...['fec0::1', 'ff02::1', '2001:db8::1', '100::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::10.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '2002:7f00:1::', '2002:808:808::', '2001::1'],
  ]
  for (const address of inside) assert.equal(isPublicAddress(address), false, address)
})

test('of IPv6 only 2000::/3 is open, without its special ranges', () => {
  const special = [
    // IPv4-compatible and IPv4-translated (RFC 4291 2.5.5.1, RFC 2765), a local-use NAT64 prefix (RFC 8215).
    ...['::127.0.0.1', '::8.8.8.8', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8', '64:ff9b:1:2::8.8.8.8'],
    // Unassigned, and what was assigned once.
    ...['1::1', '200::1', '1fff:ffff::1', '4000::1', '5f00::1', '8000::1', 'c000::1', 'f000::1', 'fe00::1'],
    // Special ranges inside: benchmarking, ORCHID, AS112, AMT, documentation.
    ...['2001:2::1', '2001:10::1', '2001:20::1', '2001:3::1', '2001:4:112::1', '2620:4f:8000::1', '3fff::1'],
    '2001:4860:4860::8888%eth0',
  ]
  for (const address of special) assert.equal(isPublicAddress(address), false, address)
})

test('decimal, octal, hexadecimal and short forms are evaluated by their value', () => {
  for (const text of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '192.168.257']) {
    assert.equal(isPublicAddress(text), false, text)
  }
})

test('what is no address', () => {
  for (const text of ['', 'localhost', '1.2.3.4.5', '256.1.1.1', '[::1]', '8.8.8.8 ', '8.8.8.8/8', '8.8.8.8:25']) {
    assert.equal(isPublicAddress(text), false, text)
  }
})
