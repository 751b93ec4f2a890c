// How much is done for one mail to strangers, and how much is kept of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../../../../src/base/clock.ts'
import type { DirectTransport } from '../../../../src/outbound/model/transport.ts'
import { openDirect } from '../../../../src/outbound/transports/direct/direct.ts'
import { SEARCH_MS } from '../../../../src/outbound/transports/direct/search.ts'
import { HOST_CONNECTIONS_MAX, KEPT_SERVERS_MAX } from '../../../../src/outbound/transports/direct/servers.ts'
import { findAddresses } from '../../../../src/outbound/transports/smtp/addresses.ts'
import { ADDRESSES_MAX } from '../../../../src/outbound/transports/smtp/limits.ts'
import { carrierConfig, handover, shortOutcomes, turns } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { type Names, type Zone, zoneResolver } from '../../../support/dns.ts'
import { startScript } from '../../../support/mail-server.ts'

const EHLO = '250-mx.script.test\r\n250 PIPELINING'
/** All of 127/8 is this machine. */
const address = (n: number) => `127.0.${1 + Math.floor(n / 200)}.${1 + (n % 200)}`

function openFor(port: number, zone: Zone, clock: Clock = systemClock): DirectTransport {
  const config = carrierConfig({ DIRECT_PORT: String(port) })
  return openDirect({ clock, config, resolver: zoneResolver(zone) })
}

/** A domain with so many servers of so many addresses each. */
function crowd(servers: number, each: number): Zone {
  const hosts = Array.from({ length: servers }, (_, i) => `mx${i}.out.test`)
  const records = hosts.map((host, i) => [host, { A: Array.from({ length: each }, (_, j) => address(i * each + j)) }])
  return { 'out.test': { MX: hosts.map((exchange) => ({ priority: 1, exchange })) }, ...Object.fromEntries(records) }
}

test('the number of addresses per host is limited, over both families', async () => {
  const A = Array.from({ length: 50 }, (_, i) => address(i))
  const AAAA = Array.from({ length: 50 }, (_, i) => `2606:4700::${i + 1}`)
  const found = await findAddresses(zoneResolver({ 'mx.test': { A, AAAA } }), 'mx.test', true)
  assert.ok(found.kind === 'found')
  assert.deepEqual(
    found.addresses,
    [0, 1, 2, 3, 4].flatMap((i) => [A[i], AAAA[i]]),
  )
  assert.equal(found.addresses.length, ADDRESSES_MAX)
})

test('the number of addresses tried per message is limited, regardless of the number of servers', async () => {
  await using server = await startScript(async (peer) => {
    peer.say('421 4.3.2 Not now')
    peer.end()
  }, '0.0.0.0')
  const direct = openFor(server.port, crowd(4, 4))
  assert.deepEqual(shortOutcomes(await direct.hand(handover())), ['later transient'])
  assert.equal(server.connections, ADDRESSES_MAX)
  await direct.close()
})

test('no further server is tried after the time limit', async () => {
  const clock = new ManualClock()
  await using server = await startScript(async (peer) => {
    await turns(2)
    clock.advance(SEARCH_MS / 2)
    peer.say('421 4.3.2 Not now')
    peer.end()
  }, '0.0.0.0')
  const direct = openFor(server.port, crowd(5, 2), clock)
  const [said] = shortOutcomes(await direct.hand(handover()))
  assert.match(said!, /^later /)
  assert.equal(server.connections, 2)
  await direct.close()
})

test('the number of connections per server is limited, across domains', async () => {
  let open = 0
  let most = 0
  await using server = await startScript(async (peer) => {
    most = Math.max(most, ++open)
    await peer.talk({ EHLO })
    open--
  })
  const names = Array.from({ length: 40 }, (_, i) => `d${i}.test`)
  const MX = [{ priority: 1, exchange: 'mx.out.test' }]
  const zone: Zone = { 'mx.out.test': { A: ['127.0.0.1'] }, ...Object.fromEntries(names.map((name) => [name, { MX }])) }
  const direct = openFor(server.port, zone)
  const handed = await Promise.all(names.map((name) => direct.hand(handover({ recipients: [`bob@${name}`] }))))
  assert.deepEqual(new Set(handed.flatMap(shortOutcomes)), new Set(['sent']))
  assert.equal(most, HOST_CONNECTIONS_MAX)
  await direct.close()
})

test('the number of servers with idle connections is limited', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO }), '0.0.0.0')
  const count = KEPT_SERVERS_MAX + 30
  const names = Array.from({ length: count }, (_, i): [string, Names] => [`d${i}.test`, { A: [address(i)] }])
  const direct = openFor(server.port, Object.fromEntries(names))
  for (const [name] of names) {
    assert.deepEqual(shortOutcomes(await direct.hand(handover({ recipients: [`bob@${name}`] }))), ['sent'])
  }
  assert.equal(server.connections, count)
  assert.ok(server.open <= KEPT_SERVERS_MAX + 1, String(server.open))
  await direct.close()
  await server.left()
})
