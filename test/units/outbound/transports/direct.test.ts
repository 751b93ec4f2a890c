// Mail to the servers of others: found by DNS, tried in order, secured where they offer it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { systemClock } from '../../../../src/base/clock.ts'
import { openResolver } from '../../../../src/base/resolver.ts'
import type { Answered, NotTried } from '../../../../src/outbound/model/transport.ts'
import { openDirect } from '../../../../src/outbound/transports/direct/direct.ts'
import { findRoute, HOSTS_MAX } from '../../../../src/outbound/transports/direct/route.ts'
import { CONNECT_MS } from '../../../../src/outbound/transports/smtp/limits.ts'
import {
  type AnyHandover,
  carrierConfig,
  firstVerdict,
  handover,
  MAIL,
  shortOutcomes,
  turns,
  wordsOf,
} from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { type Names, startDns, type Zone, zoneResolver } from '../../../support/dns.ts'
import {
  type Answer,
  certificateFor,
  type ScriptPeer,
  startDeafServer,
  startMailServer,
  startScript,
} from '../../../support/mail-server.ts'

const EHLO = '250-mx.script.test\r\n250 PIPELINING'

/** Hands one mail for bob@out.test over. */
async function hand(
  port: number,
  zone: Zone,
  given: Partial<AnyHandover> = {},
  env: Record<string, string> = {},
): Promise<Answered | NotTried> {
  const config = carrierConfig({ DIRECT_PORT: String(port), ...env })
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
const ONE: Zone = { 'out.test': mx([10, 'mx.out.test']), 'mx.out.test': at('127.0.0.1') }
/** Its aliases lead back to it. */
const LOOP: Zone = { 'out.test': { CNAME: 'pool.test' }, 'pool.test': { CNAME: 'out.test' } }

/** A server on its own address that notes that it was called; `port` is shared by all. */
async function callable(port: number, address: string, calls: string[], answers: Record<string, Answer> = {}) {
  return startScript(
    async (peer) => {
      calls.push(address)
      await peer.talk({ EHLO, ...answers })
    },
    address,
    port,
  )
}

test('a message arrives at the server that MX names', async () => {
  await using server = await startMailServer()
  const handed = await hand(server.port, ONE, { recipients: ['bob@out.test', 'eve@out.test'] })
  assert.deepEqual(shortOutcomes(handed), ['sent', 'sent'])
  assert.ok(handed.kind === 'answered')
  assert.equal(handed.confirmation, 'recipient_mx')
  assert.equal(handed.peer, 'mx.out.test')
  const [mail] = server.messages
  assert.deepEqual(mail!.to, ['bob@out.test', 'eve@out.test'])
  assert.equal(mail!.from, 'b+1@bounce.house.test')
  assert.deepEqual(mail!.bytes, MAIL)
})

test('servers are tried by preference, and the next where one cannot be had', async () => {
  const calls: string[] = []
  const refusing = async (peer: ScriptPeer) => {
    calls.push('127.0.0.2')
    peer.say('421 4.3.2 Not now')
    peer.end()
  }
  await using second = await startScript(refusing, '127.0.0.2')
  await using third = await callable(second.port, '127.0.0.3', calls)
  const zone: Zone = {
    'out.test': mx([30, 'c.out.test'], [10, 'a.out.test'], [20, 'b.out.test']),
    'a.out.test': at('127.0.0.1'),
    'b.out.test': at('127.0.0.2'),
    'c.out.test': at('127.0.0.3'),
  }
  const handed = await hand(second.port, zone)
  assert.deepEqual(shortOutcomes(handed), ['sent'])
  assert.equal(handed.kind === 'answered' && handed.peer, 'c.out.test')
  assert.deepEqual(calls, ['127.0.0.2', '127.0.0.3'])
  assert.equal(third.connections, 1)
})

test('every address of a server is tried, of both families', async () => {
  const calls: string[] = []
  await using server = await callable(0, '127.0.0.4', calls)
  const zone: Zone = {
    'out.test': mx([10, 'mx.out.test']),
    'mx.out.test': { A: ['127.0.0.3', '127.0.0.4'], AAAA: ['::1'] },
  }
  assert.deepEqual(shortOutcomes(await hand(server.port, zone)), ['sent'])
})

test('servers of the same preference are drawn', async () => {
  const zone: Zone = { 'out.test': mx([10, 'a.test'], [10, 'b.test'], [5, 'first.test']) }
  const seen = new Set<string>()
  for (let i = 0; i < 200 && seen.size < 2; i++) {
    const route = await findRoute(zoneResolver(zone), 'out.test', [])
    assert.ok(route.kind === 'hosts')
    assert.equal(route.hosts[0], 'first.test')
    seen.add(route.hosts.slice(1).join(' '))
  }
  assert.deepEqual([...seen].sort(), ['a.test b.test', 'b.test a.test'])
})

test('so many servers and no more', async () => {
  const many = Array.from({ length: 50 }, (_, i): [number, string] => [i, `mx${i}.test`])
  const route = await findRoute(zoneResolver({ 'out.test': mx(...many) }), 'out.test', [])
  assert.deepEqual(
    route.kind === 'hosts' && route.hosts,
    many.slice(0, HOSTS_MAX).map(([, host]) => host),
  )
})

test('what DNS says when there is no MX', async () => {
  await using server = await startMailServer()
  assert.deepEqual(
    shortOutcomes(await hand(server.port, { 'out.test': at('127.0.0.1') })),
    ['sent'],
    'the domain itself',
  )
  const alias: Zone = {
    'out.test': { CNAME: 'other.test' },
    'other.test': mx([10, 'mx.out.test']),
    'mx.out.test': at('127.0.0.1'),
  }
  assert.deepEqual(shortOutcomes(await hand(server.port, alias)), ['sent'], 'an alias')
  const cases: [Zone, string, string | null, string][] = [
    [{}, 'never recipient', '5.1.2', 'There is no domain out.test.'],
    [{ 'out.test': mx([0, '']) }, 'never recipient', '5.1.10', 'out.test accepts no mail (null MX).'],
    [{ 'out.test': { TXT: ['x'] } }, 'never recipient', '5.4.4', 'There is no host out.test.'],
    [{ 'out.test': mx([10, 'gone.test']) }, 'never recipient', '5.4.4', 'There is no host gone.test.'],
    [LOOP, 'never recipient', '5.4.4', 'The aliases (CNAME) of out.test form a loop in DNS.'],
    [
      { 'out.test': mx([10, 'mx.test']), 'mx.test': { CNAME: 'my.test' }, 'my.test': { CNAME: 'mx.test' } },
      'never recipient',
      '5.4.4',
      'The aliases (CNAME) of mx.test form a loop in DNS.',
    ],
    [{ 'out.test': { error: 'servfail' } }, 'later dns', null, 'DNS does not answer for out.test.'],
    [{ 'out.test': { error: 'silent' } }, 'later dns', null, 'DNS does not answer for out.test.'],
    [
      { 'out.test': mx([10, 'mx.out.test']), 'mx.out.test': { error: 'servfail' } },
      'later dns',
      null,
      'DNS does not answer for mx.out.test.',
    ],
  ]
  for (const [zone, verdict, enhancedCode, sentence] of cases) {
    const handed = await hand(server.port, zone)
    assert.deepEqual(shortOutcomes(handed), [verdict])
    assert.deepEqual(firstVerdict(handed).reply, { smtpCode: null, enhancedCode, text: sentence })
  }
})

test('a real name server: null MX, no such name, aliases in a loop, no answer', async () => {
  // Most recursive servers follow aliases themselves, and answer SERVFAIL for a loop.
  const follows = { error: { MX: 'servfail' } } as const
  await using dns = await startDns({
    ...{ 'null.test': mx([0, '.']), 'sick.test': { error: 'servfail' }, ...LOOP },
    'round.test': { CNAME: 'about.test', ...follows },
    'about.test': { CNAME: 'round.test' },
  })
  const resolver = openResolver({ servers: [dns.address], clock: systemClock })
  const kinds = ['null.test', 'gone.test', 'out.test', 'round.test', 'sick.test'].map((name) =>
    findRoute(resolver, name, []),
  )
  assert.deepEqual(
    (await Promise.all(kinds)).map((route) => ('enhancedCode' in route ? route.enhancedCode : route.kind)),
    ['5.1.10', '5.1.2', '5.4.4', '5.4.4', 'later'],
  )
  await resolver.close()
})

test('an address in brackets needs no DNS', async () => {
  await using server = await startMailServer()
  assert.deepEqual(shortOutcomes(await hand(server.port, {}, { recipients: ['bob@[127.0.0.1]'] })), ['sent'])
  assert.deepEqual(server.messages[0]!.to, ['bob@[127.0.0.1]'])
  const zone = zoneResolver({})
  assert.deepEqual(await findRoute(zone, '[ipv6:2001:db8::1]', []), { kind: 'hosts', hosts: ['2001:db8::1'] })
  assert.equal((await findRoute(zone, '[300.1.1.1]', [])).kind, 'never')
  assert.deepEqual(zone.queries, [])
})

test('mail loops are detected', async () => {
  await using server = await startScript((peer) => peer.talk({}, '220 mx.mailstead.test ESMTP'))
  const zone: Zone = {
    'mx.mailstead.test': at('127.0.0.1'),
    'near.test': at('127.0.0.1'),
    'out.test': mx([10, 'MX.mailstead.test'], [20, 'far.test']),
  }
  const own = await hand(server.port, zone)
  assert.deepEqual(shortOutcomes(own), ['never recipient'])
  assert.equal(firstVerdict(own).reply.enhancedCode, '5.4.6')
  assert.equal(server.connections, 0)
  const route = await findRoute(
    zoneResolver({ 'out.test': mx([5, 'near.test'], [10, 'mx.mailstead.test'], [20, 'far.test']) }),
    'out.test',
    ['mx.mailstead.test'],
  )
  assert.deepEqual(route, { kind: 'hosts', hosts: ['near.test'] }, 'only what is nearer')
  // Under another name, but it greets as we do.
  const hidden = await hand(server.port, { 'out.test': mx([10, 'near.test']), 'near.test': at('127.0.0.1') })
  assert.deepEqual(shortOutcomes(hidden), ['never recipient'])
  assert.equal(wordsOf(hidden), 'near.test greets with the name of this appliance: the message would loop.')
})

test('names that lead inside are not followed', async () => {
  await using server = await startMailServer()
  const strict = { ALLOW_PRIVATE_SMTP_HOSTS: 'false' }
  for (const recipients of [['bob@out.test'], ['bob@[127.0.0.1]'], ['bob@localhost']]) {
    const handed = await hand(server.port, { ...ONE, localhost: { TXT: ['x'] } }, { recipients }, strict)
    assert.deepEqual(shortOutcomes(handed), ['never recipient'])
    assert.match(wordsOf(handed), / is in a private network/)
  }
  assert.equal(server.connections, 0)
})

test('TLS where it is offered, whatever the certificate, and the log says how', async () => {
  const pair = await certificateFor('mx.out.test')
  await using server = await startMailServer({ ...pair })
  const unknown = await hand(server.port, ONE)
  assert.equal(server.messages[0]!.secure, true)
  assert.equal(wordsOf(unknown), '250 2.0.0 Ok: queued as 1 (TLSv1.3, certificate not verified)')
  setDefaultCACertificates([...getCACertificates('default'), pair.cert])
  assert.equal(wordsOf(await hand(server.port, ONE)), '250 2.0.0 Ok: queued as 2 (TLSv1.3, certificate verified)')
  await using clear = await startMailServer()
  assert.equal(wordsOf(await hand(clear.port, ONE)), '250 2.0.0 Ok: queued as 1 (without TLS)')
})

test('a failed handshake is not repeated: the message is sent in clear', async () => {
  const offer = '250-mx.script.test\r\n250 STARTTLS'
  const cases: Record<string, Answer>[] = [
    // Says yes and speaks no TLS, drops the line, puts words in clear behind its yes, or says no.
    {
      STARTTLS: async (_line, peer) => {
        peer.say('220 Go')
        await turns(5)
        return 'garbage in clear'
      },
    },
    {
      STARTTLS: (_line, peer) => {
        peer.drop()
        return null
      },
    },
    { STARTTLS: '220 Go\r\n250 Ok' },
    { STARTTLS: '454 4.7.0 Not available' },
  ]
  for (const answers of cases) {
    await using server = await startScript((peer) => peer.talk({ EHLO: offer, ...answers }))
    assert.deepEqual(shortOutcomes(await hand(server.port, ONE)), ['sent'])
    assert.equal(server.heard.filter((line) => line === 'STARTTLS').length, 1)
    assert.equal(server.connections, 'STARTTLS' in answers && answers.STARTTLS === '454 4.7.0 Not available' ? 1 : 2)
  }
})

test('a refusal of the message is final, a refusal of the connection is not', async () => {
  const calls: string[] = []
  await using first = await callable(0, '127.0.0.1', calls, { MAIL: '451 4.7.1 Slow down' })
  await using second = await callable(first.port, '127.0.0.2', calls, { RCPT: '550 5.1.1 Nobody' })
  await using third = await callable(first.port, '127.0.0.3', calls)
  const zone: Zone = {
    'out.test': mx([10, 'a.test'], [20, 'b.test'], [30, 'c.test']),
    'a.test': at('127.0.0.1'),
    'b.test': at('127.0.0.2'),
    'c.test': at('127.0.0.3'),
  }
  const handed = await hand(first.port, zone)
  assert.deepEqual(shortOutcomes(handed), ['never recipient'])
  assert.equal(wordsOf(handed), '550 5.1.1 Nobody')
  assert.deepEqual(calls, ['127.0.0.1', '127.0.0.2'])
  assert.equal(second.connections + third.connections, 1)
})

test('refusals without another server', async () => {
  const cases: [Record<string, Answer>, string | undefined, string, string][] = [
    [{ MAIL: '550 5.7.1 SPF fails' }, undefined, 'never recipient', '550 5.7.1 SPF fails'],
    [{ MAIL: '450 4.7.1 Too many mails' }, undefined, 'later throttled', '450 4.7.1 Too many mails'],
    [{}, '554 5.7.1 You are on a list', 'later transient', '554 5.7.1 You are on a list'],
    [{}, '521 5.3.2 No mail here', 'never recipient', '521 5.3.2 No mail here'],
    [{ '.': '554 5.7.1 Spam' }, undefined, 'never content', '554 5.7.1 Spam'],
  ]
  for (const [answers, greeting, verdict, words] of cases) {
    await using server = await startScript((peer) => peer.talk({ EHLO, ...answers }, greeting))
    const handed = await hand(server.port, ONE)
    assert.deepEqual(shortOutcomes(handed), [verdict], words)
    assert.equal(wordsOf(handed), words)
  }
})

test('connection refused', async () => {
  const server = await startScript(async () => {})
  await server[Symbol.asyncDispose]()
  const handed = await hand(server.port, ONE)
  assert.deepEqual(shortOutcomes(handed), ['later network'])
  assert.equal(wordsOf(handed), `mx.out.test (127.0.0.1, port ${server.port}) refuses connections.`)
})

test('after the timeout of a silent host the next one is tried', async () => {
  await using unlisten = await startDeafServer()
  await using server = await startScript((peer) => peer.talk({ EHLO }), '127.0.0.2', unlisten.port)
  const clock = new ManualClock()
  const zone: Zone = { ...ONE, 'mx.out.test': at('127.0.0.1', '127.0.0.2') }
  const config = carrierConfig({ DIRECT_PORT: String(unlisten.port) })
  const direct = openDirect({ clock, config, resolver: zoneResolver(zone) })
  const handing = direct.hand(handover())
  await turns(5)
  assert.equal(server.connections, 0)
  clock.advance(CONNECT_MS)
  assert.deepEqual(shortOutcomes(await handing), ['sent'])
  await direct.close()
})

test('the next message to the same server uses the same connection', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO }))
  const config = carrierConfig({ DIRECT_PORT: String(server.port) })
  const zone = { ...ONE, 'two.test': mx([10, 'mx.out.test']) }
  const direct = openDirect({ clock: systemClock, config, resolver: zoneResolver(zone) })
  for (const recipients of [['bob@out.test'], ['eve@two.test']]) {
    assert.deepEqual(shortOutcomes(await direct.hand(handover({ recipients }))), ['sent'])
  }
  assert.equal(server.connections, 1)
  await direct.close()
  await server.left()
})
