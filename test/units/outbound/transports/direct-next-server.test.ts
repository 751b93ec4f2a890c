// What one mail server of a domain does not take now, the next one gets in the same attempt (RFC 5321 §5.1).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../../src/base/clock.ts'
import type { Answered, NotTried } from '../../../../src/outbound/model/transport.ts'
import { openDirect } from '../../../../src/outbound/transports/direct/direct.ts'
import { type AnyHandover, carrierConfig, handover, shortOutcomes, wordsOf } from '../../../support/carriers.ts'
import { type Names, type Zone, zoneResolver } from '../../../support/dns.ts'
import { type Answer, type ScriptPeer, startScript } from '../../../support/mail-server.ts'

const EHLO = '250-mx.script.test\r\n250 PIPELINING'

/** Hands one message for bob@out.test over. */
async function hand(port: number, zone: Zone, given: Partial<AnyHandover> = {}): Promise<Answered | NotTried> {
  const config = carrierConfig({ DIRECT_PORT: String(port) })
  const direct = openDirect({ clock: systemClock, config, resolver: zoneResolver(zone) })
  try {
    return await direct.hand(handover(given))
  } finally {
    await direct.close()
  }
}

const at = (...addresses: string[]): Names => ({ A: addresses })
const mx = (...exchanges: [number, string][]): Names => ({
  MX: exchanges.map(([priority, exchange]) => ({ priority, exchange })),
})

/** A server on its own address; `port` is shared by all. */
function callable(port: number, address: string, answers: Record<string, Answer> = {}) {
  return startScript((peer) => peer.talk({ EHLO, ...answers }), address, port)
}

/** Two servers of out.test on addresses of their own, the first with the answers given. */
async function pair(answers: Record<string, Answer>) {
  const first = await callable(0, '127.0.0.1', answers)
  const second = await callable(first.port, '127.0.0.2')
  const zone: Zone = {
    'out.test': mx([10, 'a.test'], [20, 'b.test']),
    // The other address of a server that has answered would say the same.
    'a.test': at('127.0.0.1', '127.0.0.3'),
    'b.test': at('127.0.0.2'),
  }
  return { first, second, zone, [Symbol.asyncDispose]: () => both(first, second) }
}

async function both(...servers: AsyncDisposable[]): Promise<void> {
  for (const server of servers) await server[Symbol.asyncDispose]()
}

const dropping = (_line: string, peer: ScriptPeer) => {
  peer.drop()
  return null
}

test('what one server puts off or drops the next one gets in the same attempt', async () => {
  const cases: Record<string, Answer>[] = [
    { RCPT: '451 4.3.0 Not now' },
    { RCPT: '450 4.2.0 Greylisted' },
    { DATA: '451 4.3.0 Not now' },
    { '.': '451 4.3.0 Not now' },
    { MAIL: dropping },
    { RCPT: dropping },
    { DATA: dropping },
    { '.': dropping },
    { '.': '421 4.3.2 Going down' },
  ]
  for (const answers of cases) {
    await using servers = await pair(answers)
    const handed = await hand(servers.first.port, servers.zone)
    const name = JSON.stringify(Object.entries(answers).map(([verb, answer]) => [verb, String(answer)]))
    assert.deepEqual(shortOutcomes(handed), ['sent'], name)
    assert.equal(handed.kind === 'answered' && handed.peer, 'b.test', name)
    assert.deepEqual([servers.first.connections, servers.second.connections], [1, 1], name)
  }
})

test('only those recipients go on that a server has put off', async () => {
  const said = new Map([
    ['ok', '250 2.1.5 Ok'],
    ['slow', '450 4.2.0 Not now'],
    ['gone', '550 5.1.1 Nobody'],
  ])
  await using servers = await pair({ RCPT: (line) => said.get(/<(.*)@/.exec(line)![1]!)! })
  const recipients = ['ok@out.test', 'slow@out.test', 'gone@out.test']
  assert.deepEqual(shortOutcomes(await hand(servers.first.port, servers.zone, { recipients })), [
    'sent',
    'sent',
    'never recipient',
  ])
  assert.deepEqual(
    servers.second.heard.filter((line) => line.startsWith('RCPT')),
    ['RCPT TO:<slow@out.test>'],
  )
})

test('when every server defers, the first reply is reported', async () => {
  await using servers = await pair({ RCPT: '450 4.2.0 Not now' })
  await both(servers.second)
  const handed = await hand(servers.first.port, servers.zone)
  assert.deepEqual(shortOutcomes(handed), ['later transient'])
  assert.equal(wordsOf(handed), '450 4.2.0 Not now')
})

test('at most two servers may hold the message with an unknown outcome', async () => {
  await using first = await callable(0, '127.0.0.1', { '.': dropping })
  await using second = await callable(first.port, '127.0.0.2', { '.': dropping })
  await using third = await callable(first.port, '127.0.0.3')
  const zone: Zone = {
    'out.test': mx([10, 'a.test'], [20, 'b.test'], [30, 'c.test']),
    'a.test': at('127.0.0.1'),
    'b.test': at('127.0.0.2'),
    'c.test': at('127.0.0.3'),
  }
  const handed = await hand(first.port, zone)
  assert.deepEqual(shortOutcomes(handed), ['later network'])
  assert.match(wordsOf(handed), /may have accepted it\.$/)
  assert.deepEqual([second.connections, third.connections], [1, 0])
})
