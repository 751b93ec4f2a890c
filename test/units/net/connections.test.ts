// Connections are counted by source, and sources are distinguished by the prefixes providers assign.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionCounter, isListed, plainAddress, sourceOf } from '../../../src/net/connections.ts'

test('an IPv6 /64 is one source, IPv4 in IPv6 is IPv4', () => {
  assert.equal(sourceOf('2001:db8:1:2:3:4:5:6'), sourceOf('2001:db8:1:2::1'))
  assert.notEqual(sourceOf('2001:db8:1:2::1'), sourceOf('2001:db8:1:3::1'))
  assert.equal(sourceOf('::ffff:192.0.2.1'), sourceOf('192.0.2.1'))
  assert.notEqual(sourceOf('192.0.2.1'), sourceOf('192.0.2.2'))
  assert.equal(plainAddress('::ffff:192.0.2.1'), '192.0.2.1')
})

test('counts up to the limits and forgets who left', () => {
  const connections = new ConnectionCounter({ total: 3, perAddress: 2 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => connections.open()),
    [true, true, true, false],
  )
  const leave = connections.count('192.0.2.1')
  assert.ok(leave)
  assert.ok(connections.count('192.0.2.1'))
  assert.equal(connections.count('192.0.2.1'), null)
  assert.ok(connections.count('192.0.2.2'))
  leave()
  assert.ok(connections.count('192.0.2.1'))
  connections.close()
  assert.equal(connections.open(), true)
})

test('finds an address in a list of addresses and ranges', () => {
  assert.equal(isListed('192.0.2.1', ['192.0.2.1']), true)
  assert.equal(isListed('::ffff:192.0.2.1', ['192.0.2.0/24']), true)
  assert.equal(isListed('192.0.3.1', ['192.0.2.0/24', '2001:db8::/32']), false)
  assert.equal(isListed('2001:db8::9', ['192.0.2.0/24', '2001:db8::/32']), true)
  assert.equal(isListed('2001:db8::9', ['2001:DB8:0::9']), true)
  assert.equal(isListed('not an address', ['0.0.0.0/0']), false)
})
