// Connections are counted by source, and sources are distinguished by the prefixes providers assign.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import {
  ConnectionCounter,
  type ConnectionSource,
  isListed,
  networkOf,
  plainAddress,
  readSource,
  sourceOf,
} from '../../../src/net/connections.ts'

test('an IPv6 /64 is one source, IPv4 in IPv6 is IPv4', () => {
  assert.equal(sourceOf('2001:db8:1:2:3:4:5:6'), sourceOf('2001:db8:1:2::1'))
  assert.notEqual(sourceOf('2001:db8:1:2::1'), sourceOf('2001:db8:1:3::1'))
  assert.equal(sourceOf('::ffff:192.0.2.1'), sourceOf('192.0.2.1'))
  assert.notEqual(sourceOf('192.0.2.1'), sourceOf('192.0.2.2'))
  assert.equal(plainAddress('::ffff:192.0.2.1'), '192.0.2.1')
})

test('a source is in the network of its prefix', () => {
  const bits = { ipv4: 24, ipv6: 48 }
  assert.equal(networkOf(sourceOf('2001:db8:1:2::1'), bits), networkOf(sourceOf('2001:db8:1:ffff::9'), bits))
  assert.equal(networkOf(sourceOf('2001:db8:1:2::1'), bits), '2001:db8:1::/48')
  assert.notEqual(networkOf(sourceOf('2001:db8:1:2::1'), bits), networkOf(sourceOf('2001:db8:2:2::1'), bits))
  assert.equal(networkOf('192.0.2.77', bits), '192.0.2.0/24')
  assert.equal(networkOf('unknown', bits), 'unknown')
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

test('counts the connections of a mailbox; ending a count twice ends one', () => {
  const connections = new ConnectionCounter({ total: 9, perAddress: 9, perMailbox: 2 })
  const leave = connections.countMailbox('mbx_a')!
  assert.ok(connections.countMailbox('mbx_a'))
  assert.equal(connections.countMailbox('mbx_a'), null)
  assert.ok(connections.countMailbox('mbx_b'))
  leave()
  leave()
  assert.ok(connections.countMailbox('mbx_a'))
  assert.equal(connections.countMailbox('mbx_a'), null)
  const unlimited = new ConnectionCounter({ total: 1, perAddress: 1 })
  for (let n = 0; n < 100; n++) assert.ok(unlimited.countMailbox('mbx_a'))
})

test('the source is the peer, or the client that a trusted proxy names', async () => {
  const found: (ConnectionSource | null)[] = []
  let from: string[] = []
  const server = createServer(async (socket) => {
    found.push(await readSource(socket, { from, clock: systemClock }))
    socket.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const connectWith = async (...bytes: (string | Buffer)[]) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const own = socket.localPort
    for (const each of bytes) socket.write(each)
    await once(socket.resume(), 'close')
    return { own, source: found.at(-1) }
  }
  const plain = await connectWith('PROXY TCP4 192.0.2.7 198.51.100.1 9 25\r\n')
  assert.deepEqual(plain.source, { address: '127.0.0.1', port: plain.own, tls: false }, 'nobody else is believed')
  from = ['127.0.0.0/8']
  const named = await connectWith('PROXY TCP6 ::ffff:192.0.2.7 ::1 9 25\r\n')
  assert.deepEqual(named.source, { address: '192.0.2.7', port: 9, tls: false })
  const health = await connectWith('PROXY UNKNOWN\r\n')
  assert.deepEqual(health.source, { address: '127.0.0.1', port: health.own, tls: false })
  const header = '0d0a0d0a000d0a515549540a2111001400000000000000000000000020000501000000 00'.replace(' ', '')
  const marked = await connectWith(Buffer.from(header, 'hex'))
  assert.deepEqual(marked.source, { address: '0.0.0.0', port: 0, tls: true })
  assert.equal((await connectWith('EHLO client.test\r\n')).source, null)
  server.close()
})
