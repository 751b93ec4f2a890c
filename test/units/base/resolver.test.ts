// The DNS client against a real server on loopback: answers, errors, cache, and peers that lie.

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { decode, encode } from 'dns-packet'
import { authoritiesOf } from '../../../src/base/authority.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { ALIAS_LOOP, openResolver } from '../../../src/base/resolver.ts'
import { ManualClock } from '../../support/clock.ts'
import { startDns, type Zone, zoneResolver } from '../../support/dns.ts'

/** Of a resolver whose time is not the subject: a busy machine may be slow. */
const PATIENT = { clock: systemClock, timeoutMs: 60_000 }

const code = (expected: string) => (error: { code?: string }) => error.code === expected

/** Lets the answer that is on its way arrive: turns of the loop until `ready` holds. */
async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise((done) => setImmediate(done))
}

const zone: Zone = {
  'a.test': {
    A: ['192.0.2.1', '192.0.2.2'],
    AAAA: ['2001:db8::1'],
    MX: [
      { priority: 10, exchange: 'mx.a.test' },
      { priority: 0, exchange: '.' },
    ],
    TXT: ['v=spf1 -all', ['two ', 'strings'], 'x'.repeat(600), '\xe9'],
    NS: ['ns.a.test'],
    ttl: 60,
  },
  '1.2.0.192.in-addr.arpa': { PTR: ['a.test'] },
  'alias.test': { CNAME: 'other.test', ttl: 30 },
  'other.test': { CNAME: 'a.test' },
  'loop.test': { CNAME: 'pool.test' },
  'pool.test': { CNAME: 'loop.test' },
  'astray.test': { CNAME: 'nobody.test' },
  'broken.test': { error: 'servfail' },
  'closed.test': { error: 'refused' },
  'mute.test': { error: 'silent' },
  'cut.test': { A: ['192.0.2.9'], error: 'truncate' },
  'big.test': { TXT: Array.from({ length: 50 }, (_, n) => `${n} ${'y'.repeat(200)}`) },
  'huge.test': { TXT: Array.from({ length: 230 }, () => 'z'.repeat(250)), ttl: 60 },
  'deep.empty.test': { A: ['192.0.2.7'] },
}

test('answers have the forms of node:dns', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  const local = zoneResolver(zone)
  for (const ask of [resolver.resolve.bind(resolver), resolver.fresh.bind(resolver), local.resolve]) {
    assert.deepEqual(await ask('A.test.', 'A'), ['192.0.2.1', '192.0.2.2'])
    assert.deepEqual(await ask('a.test', 'AAAA'), ['2001:db8::1'])
    assert.deepEqual(await ask('a.test', 'MX'), [
      { priority: 10, exchange: 'mx.a.test' },
      { priority: 0, exchange: '' },
    ])
    const txt = (await ask('a.test', 'TXT')) as string[][]
    assert.deepEqual(
      txt.map((strings) => strings.join('')),
      ['v=spf1 -all', 'two strings', 'x'.repeat(600), '\xe9'],
    )
    assert.equal(txt[2]!.length, 3)
    assert.deepEqual(await ask('a.test', 'NS'), ['ns.a.test'])
    assert.deepEqual(await ask('1.2.0.192.in-addr.arpa', 'PTR'), ['a.test'])
    assert.deepEqual(await ask('alias.test', 'A'), ['192.0.2.1', '192.0.2.2'])
    assert.deepEqual(await ask('alias.test', 'CNAME'), ['other.test'])
    await assert.rejects(ask('absent.test', 'A'), code('ENOTFOUND'))
    await assert.rejects(ask('astray.test', 'A'), code('ENOTFOUND'))
    await assert.rejects(ask('empty.test', 'A'), code('ENODATA'))
    await assert.rejects(ask('deep.empty.test', 'TXT'), code('ENODATA'))
    await assert.rejects(ask('broken.test', 'A'), code('ESERVFAIL'))
    await assert.rejects(ask('closed.test', 'A'), code('EREFUSED'))
  }
  await resolver.close()
})

test('names that cannot be asked for are refused before anything leaves', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  const bad = ['', '.', 'a..test', `${'x'.repeat(64)}.test`, 'é.test', 'a\0b.test', 'a\r\nb.test', 'x.'.repeat(128)]
  for (const name of bad) await assert.rejects(resolver.resolve(name, 'A'), code('EBADNAME'), JSON.stringify(name))
  await assert.rejects(resolver.resolve('a.test', 'ANY'), code('EBADQUERY'))
  assert.equal(dns.queries.length, 0)
  await resolver.close()
})

test('an alias without an end is a server failure', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  await assert.rejects(resolver.resolve('loop.test', 'A'), code(ALIAS_LOOP))
  assert.equal(dns.queries.length, 1)
  await resolver.close()
})

test('a truncated answer is asked for again over TCP', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  assert.deepEqual(await resolver.resolve('cut.test', 'A'), ['192.0.2.9'])
  assert.equal((await resolver.resolve('big.test', 'TXT')).length, 50)
  assert.deepEqual(
    dns.queries.map((query) => query.over),
    ['udp', 'tcp', 'udp', 'tcp'],
  )
  await resolver.close()
})

test('answers are kept for their TTL, refusals for the time of the SOA, and fresh() asks past them', async () => {
  await using dns = await startDns(structuredClone(zone))
  const clock = new ManualClock()
  const resolver = openResolver({ servers: [dns.address], clock })
  const asked = () => dns.queries.splice(0).length
  await resolver.resolve('a.test', 'A')
  await resolver.resolve('A.TEST', 'A')
  assert.equal(asked(), 1)
  clock.advance(59_999)
  await resolver.resolve('a.test', 'A')
  assert.equal(asked(), 0)
  await resolver.fresh('a.test', 'A')
  assert.equal(dns.queries.splice(0).filter(({ type }) => type === 'A').length, 2)
  clock.advance(1)
  await resolver.resolve('a.test', 'A')
  assert.equal(asked(), 1)

  dns.negativeTtl = 100_000
  await assert.rejects(resolver.resolve('late.test', 'A'), code('ENOTFOUND'))
  dns.zone['late.test'] = { A: ['192.0.2.3'] }
  await assert.rejects(resolver.resolve('late.test', 'A'), code('ENOTFOUND'))
  clock.advance(300_000)
  assert.deepEqual(await resolver.resolve('late.test', 'A'), ['192.0.2.3'])
  assert.equal(asked(), 2)

  // The least TTL of a chain holds for all of it: here 0 of the second alias.
  await resolver.resolve('alias.test', 'A')
  await resolver.resolve('alias.test', 'A')
  assert.equal(asked(), 2)
  await resolver.close()
})

test('cached() answers at once what resolve() would, for as long, and asks nothing', async () => {
  await using dns = await startDns(zone)
  dns.negativeTtl = 20
  const clock = new ManualClock()
  const resolver = openResolver({ servers: [dns.address], clock })
  assert.equal(resolver.cached!('a.test', 'A'), undefined)
  await resolver.resolve('a.test', 'A')
  await assert.rejects(resolver.resolve('absent.test', 'A'), code('ENOTFOUND'))
  await assert.rejects(resolver.resolve('broken.test', 'A'), code('ESERVFAIL'))
  const asked = dns.queries.length
  assert.deepEqual(resolver.cached!('A.Test.', 'A'), { records: ['192.0.2.1', '192.0.2.2'] })
  assert.deepEqual(resolver.cached!('absent.test', 'A'), { code: 'ENOTFOUND' })
  for (const [name, type] of [
    ['a.test', 'AAAA'],
    ['broken.test', 'A'],
    ['..', 'A'],
  ] as const) {
    assert.equal(resolver.cached!(name, type), undefined)
  }
  clock.advance(21_000)
  assert.equal(resolver.cached!('absent.test', 'A'), undefined)
  clock.advance(40_000)
  assert.equal(resolver.cached!('a.test', 'A'), undefined)
  assert.equal(dns.queries.length, asked)
  await resolver.close()
})

test('changes of a caller to its answer do not affect other callers', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  const first = (await resolver.resolve('a.test', 'TXT')) as string[][]
  first[0]!.push('forged')
  first.length = 1
  assert.deepEqual(((await resolver.resolve('a.test', 'TXT')) as string[][])[0], ['v=spf1 -all'])
  await resolver.close()
})

test('the cache is bounded in entries and does not take giants', async () => {
  const many: Zone = { ...zone }
  for (let n = 0; n < 2001; n++) many[`n${n}.test`] = { A: ['192.0.2.1'], ttl: 60 }
  await using dns = await startDns(many)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  await resolver.resolve('huge.test', 'TXT')
  await resolver.resolve('huge.test', 'TXT')
  assert.equal(dns.queries.filter((query) => query.over === 'tcp').length, 2)
  for (let n = 0; n < 2001; n++) await resolver.resolve(`n${n}.test`, 'A')
  dns.queries.length = 0
  await resolver.resolve('n2000.test', 'A')
  await resolver.resolve('n1.test', 'A')
  assert.equal(dns.queries.length, 0)
  await resolver.resolve('n0.test', 'A')
  assert.equal(dns.queries.length, 1)
  await resolver.close()
})

test('the same question asked by many at once leaves once', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('deep.empty.test', 'A')))
  assert.equal(dns.queries.length, 1)
  assert.deepEqual(new Set(answers).size, 50)
  await resolver.close()
})

test('a silent server costs its time twice and then is a timeout; the next server is asked in between', async () => {
  await using mute = await startDns(zone)
  await using good = await startDns({ 'mute.test': { A: ['192.0.2.4'] } })
  const clock = new ManualClock()
  const alone = openResolver({ servers: [mute.address], clock, timeoutMs: 1000 })
  const asking = assert.rejects(alone.resolve('mute.test', 'A'), code('ETIMEOUT'))
  for (let round = 1; round <= 2; round++) {
    await until(() => mute.queries.length === round)
    clock.advance(1000)
  }
  await asking
  assert.equal(mute.queries.length, 2)

  const pair = openResolver({ servers: [mute.address, good.address], clock, timeoutMs: 1000 })
  const answer = pair.resolve('mute.test', 'A')
  await until(() => mute.queries.length === 3)
  clock.advance(1000)
  assert.deepEqual(await answer, ['192.0.2.4'])
  await Promise.all([alone.close(), pair.close()])
})

test('a server that cannot is not asked twice and the next one is', async () => {
  await using bad = await startDns(zone)
  await using good = await startDns({ 'broken.test': { A: ['192.0.2.5'] } })
  const resolver = openResolver({ servers: [bad.address, good.address], ...PATIENT })
  assert.deepEqual(await resolver.resolve('broken.test', 'A'), ['192.0.2.5'])
  const alone = openResolver({ servers: [bad.address], ...PATIENT })
  bad.queries.length = 0
  await assert.rejects(alone.resolve('broken.test', 'A'), code('ESERVFAIL'))
  assert.equal(bad.queries.length, 1)
  await Promise.all([resolver.close(), alone.close()])
})

test('a closed port is reported as a refused connection', async () => {
  const dns = await startDns(zone)
  await dns.close()
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  await assert.rejects(resolver.resolve('a.test', 'A'), code('ECONNREFUSED'))
  await resolver.close()
})

test('close() calls off what is under way', async () => {
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], ...PATIENT })
  const asking = assert.rejects(resolver.resolve('mute.test', 'A'), code('ECANCELLED'))
  await until(() => dns.queries.length === 1)
  await resolver.close()
  await asking
})

/** A server whose datagrams a test writes itself. @param port 0: a free one */
async function scripted(answer: (query: Buffer) => Buffer[], chosen = 0) {
  const socket = createSocket('udp4')
  socket.bind(chosen, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.on('message', (query, peer) => {
    for (const reply of answer(query)) socket.send(reply, peer.port, peer.address)
  })
  return { port, socket, address: `127.0.0.1:${port}`, [Symbol.dispose]: () => void socket.close() }
}

function answerTo(query: Buffer, change: { id?: number; name?: string; address: string; type?: 'query' }): Buffer {
  const asked = decode(query)
  const name = change.name ?? asked.questions![0]!.name
  return encode({
    type: change.type ?? 'response',
    id: change.id ?? asked.id,
    questions: [{ type: 'A', name }],
    answers: [{ type: 'A', name, ttl: 60, data: change.address }],
  })
}

test('answers with the wrong id, question or direction, and garbage, are passed over', async () => {
  using liar = await scripted((query) => [
    answerTo(query, { id: (query.readUInt16BE(0) + 1) % 65536, address: '203.0.113.1' }),
    answerTo(query, { name: 'else.test', address: '203.0.113.2' }),
    answerTo(query, { type: 'query', address: '203.0.113.3' }),
    Buffer.from('garbage'),
    Buffer.concat([query.subarray(0, 2), Buffer.from([0x80, 0, 255, 255, 255, 255, 0, 0, 0, 0])]),
    answerTo(query, { address: '192.0.2.1' }),
  ])
  const resolver = openResolver({ servers: [liar.address], ...PATIENT })
  assert.deepEqual(await resolver.resolve('a.test', 'A'), ['192.0.2.1'])
  await resolver.close()
})

test('an answer from another address or port is never seen', async () => {
  const other = createSocket('udp4')
  other.bind(0, '127.0.0.1')
  await once(other, 'listening')
  const server = createSocket('udp4')
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  server.on('message', (query, peer) => {
    const forged = answerTo(query, { address: '203.0.113.1' })
    other.send(forged, peer.port, peer.address, () => {
      server.send(answerTo(query, { address: '192.0.2.1' }), peer.port, peer.address)
    })
  })
  const resolver = openResolver({ servers: [`127.0.0.1:${server.address().port}`], ...PATIENT })
  assert.deepEqual(await resolver.resolve('a.test', 'A'), ['192.0.2.1'])
  await resolver.close()
  other.close()
  server.close()
})

test('many wrong answers move the question to TCP', async () => {
  const tcp = createServer((socket) => {
    socket.on('data', (part: Buffer) => {
      const reply = answerTo(part.subarray(2), { address: '192.0.2.1' })
      const length = Buffer.from([reply.length >> 8, reply.length & 255])
      // In pieces: a stream keeps no borders.
      socket.write(length.subarray(0, 1))
      setImmediate(() => socket.end(Buffer.concat([length.subarray(1), reply])))
    })
  })
  // First the stream's port: connections of other tests use up free ports of TCP, few use those of UDP.
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const wrongAnswers = (query: Buffer) =>
    Array.from({ length: 20 }, (_, n) =>
      answerTo(query, { id: (query.readUInt16BE(0) + 1 + n) % 65536, address: '203.0.113.1' }),
    )
  using liar = await scripted(wrongAnswers, (tcp.address() as AddressInfo).port)
  const resolver = openResolver({ servers: [liar.address], ...PATIENT })
  assert.deepEqual(await resolver.resolve('a.test', 'A'), ['192.0.2.1'])
  await resolver.close()
  tcp.close()
})

test('a server that does not know EDNS is asked without it', async () => {
  let plain = 0
  using old = await scripted((query) => {
    const asked = decode(query)
    if ((asked.additionals?.length ?? 0) > 0)
      return [encode({ type: 'response', id: asked.id, flags: 1, questions: asked.questions })]
    plain++
    return [answerTo(query, { address: '192.0.2.1' })]
  })
  const resolver = openResolver({ servers: [old.address], ...PATIENT })
  assert.deepEqual(await resolver.resolve('a.test', 'A'), ['192.0.2.1'])
  assert.equal(plain, 1)
  await resolver.close()
})

test('an answer that ends in an alias is followed to the next question, not for ever', async () => {
  const asked: string[] = []
  using server = await scripted((query) => {
    const packet = decode(query)
    const name = packet.questions![0]!.name
    asked.push(name)
    const next = `x${name}`
    return [
      encode({
        type: 'response',
        id: packet.id,
        questions: packet.questions,
        answers:
          name === 'xxend.test' ? [{ type: 'A', name, data: '192.0.2.1' }] : [{ type: 'CNAME', name, data: next }],
      }),
    ]
  })
  const resolver = openResolver({ servers: [server.address], ...PATIENT })
  assert.deepEqual(await resolver.resolve('end.test', 'A'), ['192.0.2.1'])
  asked.length = 0
  await assert.rejects(resolver.resolve('never.test', 'A'), code(ALIAS_LOOP))
  assert.ok(asked.length <= 9, String(asked.length))
  await resolver.close()
})

test('servers are given as ip, ip:port or [ipv6]:port', () => {
  for (const server of ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:53']) {
    assert.ok(openResolver({ servers: [server], ...PATIENT }))
  }
  assert.throws(() => openResolver({ servers: ['dns.test'], ...PATIENT }), /is not a name server/)
})

test('fresh() asks the authoritative servers, and the configured ones when there are none', async () => {
  await using usual = await startDns({ 'a.test': { TXT: ['old'], ttl: 60 }, 'alias.test': { CNAME: 'a.test' } })
  await using zone = await startDns({ 'a.test': { TXT: ['new'] }, 'broken.test': { error: 'servfail' } })
  zone.zone['alias.test'] = { CNAME: 'elsewhere.example' }
  zone.zone['elsewhere.example'] = { error: 'refused' }
  const gone = await startDns({})
  await gone.close()
  const at = (address: string) => {
    return { address: '127.0.0.1', port: Number(address.split(':')[1]), name: 'ns1.zone.example' }
  }
  const asked: string[] = []
  let noted: [server: string | null, error: string | null][] = []
  const fresh = async (authorities: string[], name = 'a.test') => {
    noted = []
    const resolver = openResolver({
      servers: [usual.address],
      clock: systemClock,
      authorities: async (host) => {
        asked.push(host)
        return authorities.map(at)
      },
    })
    assert.deepEqual(await resolver.resolve('a.test', 'TXT'), [['old']])
    const answer = await resolver.fresh(name, 'TXT', ({ server, ms, error }) => {
      assert.ok(ms >= 0)
      noted.push([server, error])
    })
    await resolver.close()
    return answer
  }
  const zoneServer = 'ns1.zone.example'
  assert.deepEqual(await fresh([zone.address]), [['new']])
  assert.deepEqual(noted, [[zoneServer, null]])
  assert.deepEqual(await fresh([gone.address, zone.address]), [['new']])
  assert.deepEqual(noted, [
    [zoneServer, 'ECONNREFUSED'],
    [zoneServer, null],
  ])
  assert.deepEqual(await fresh([gone.address]), [['old']])
  assert.deepEqual(noted.at(-1), [null, null], 'the address of the own resolver is not shown')
  assert.deepEqual(await fresh([]), [['old']])
  await assert.rejects(fresh([zone.address], 'absent.test'), code('ENOTFOUND'))
  // Who cannot say is passed over, and so is an alias into another zone.
  await assert.rejects(fresh([zone.address], 'broken.test'), code('ENOTFOUND'))
  assert.deepEqual(noted, [
    [zoneServer, 'ESERVFAIL'],
    [null, null],
  ])
  assert.deepEqual(await fresh([zone.address], 'alias.test'), [['old']])
  assert.equal(asked.length, 7)
})

test('the servers of a zone are found upwards from the name, at public addresses only', async () => {
  const local = zoneResolver({
    'a.test': { NS: ['ns1.a.test', 'ns2.a.test', 'ns3.a.test', 'ns4.a.test', 'ns5.a.test'] },
    'ns1.a.test': { A: ['198.41.0.4', '10.0.0.1', '127.0.0.1', '169.254.1.1', '100.64.0.1', '192.168.0.1'] },
    'ns2.a.test': { AAAA: ['2001:503:ba3e::2:30', '::1', 'fd00::1', '::ffff:10.0.0.1'] },
    'ns3.a.test': { A: ['198.41.0.5', '198.41.0.6', '198.41.0.7'] },
    'b.test': { NS: ['ns.b.test'] },
    'deep.c.test': { error: 'servfail' },
    'c.test': { NS: ['ns1.a.test'] },
    test: { NS: ['ns1.a.test'] },
  })
  const addresses = async (name: string) => (await authoritiesOf(name, local.resolve)).map(({ address }) => address)
  const expected = ['198.41.0.4', '2001:503:ba3e::2:30', '198.41.0.5', '198.41.0.6']
  assert.deepEqual(await addresses('_dmarc.x.y.a.test'), expected)
  assert.deepEqual(
    (await authoritiesOf('a.test', local.resolve)).map(({ name }) => name),
    ['ns1.a.test', 'ns2.a.test', 'ns3.a.test', 'ns3.a.test'],
  )
  assert.ok(!local.queries.some(({ name }) => name === 'ns5.a.test'))
  assert.deepEqual(await addresses('b.test'), [])
  assert.deepEqual(await addresses('deep.c.test'), [])
  // The servers of a whole top-level domain only refer to others.
  assert.deepEqual(await addresses('absent.test'), [])
})
