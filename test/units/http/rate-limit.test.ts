// How many requests are let through, and who they are counted for (docs/design/http.md §9).

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Limits } from '../../../src/directory/names/limits.ts'
import { RateLimit, SOURCE_LIMIT } from '../../../src/http/rate-limit.ts'
import { Sources } from '../../../src/http/source.ts'
import { Throttle } from '../../../src/http/throttle.ts'
import { ManualClock } from '../../support/clock.ts'
import { call, openHttpFixture, type Reply } from './http-fixture.ts'
import { memory, samples } from './samples.ts'

const ID = `mdom_${'x'.repeat(24)}`
const left = ({ headers }: Reply) => [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]
const open = (env: Record<string, string> = {}, more: Parameters<typeof openHttpFixture>[1] = {}) =>
  openHttpFixture(samples(memory()), { ...more, env })

describe('a credential', () => {
  test('has its requests per minute on both origins together, then 429 until the minute ends', async () => {
    await using fixture = await open({ RATE_LIMIT_PER_MINUTE: '3' })
    fixture.clock.advance(12_345)
    assert.deepEqual(left(await fixture.call('/api/v1/filter')), ['3', '2'])
    assert.deepEqual(left(await call(`${fixture.send}/api/v1/both`)), ['3', '1'])
    assert.deepEqual(left(await fixture.call('/api/v1/filter', { headers: { 'if-none-match': '*' } })), ['3', '0'])
    const over = await fixture.call('/api/v1/filter')
    assert.deepEqual([over.status, over.json.error.code, over.json.error.retryable], [429, 'rate_limit_exceeded', true])
    assert.deepEqual(left(over), ['3', '0'])
    assert.equal(over.headers.get('x-ratelimit-reset'), String(Date.UTC(2026, 0, 1, 0, 1) / 1000))
    assert.equal(over.headers.get('retry-after'), '48')
    assert.equal((await fixture.call('/api/v1/filter', { key: 'reader' })).status, 200, 'another key of the team')
    fixture.clock.advance(47_654)
    assert.equal((await fixture.call('/api/v1/filter')).headers.get('retry-after'), '1')
    fixture.clock.advance(1)
    assert.deepEqual(left(await fixture.call('/api/v1/filter')), ['3', '2'])
  })

  test('pays for HEAD and for errors, not for OPTIONS', async () => {
    await using fixture = await open({ RATE_LIMIT_PER_MINUTE: '9' })
    await fixture.call('/api/v1/filter', { method: 'HEAD' })
    await fixture.call('/api/v1/nothing')
    await fixture.call('/api/v1/things?limit=x')
    await fixture.call('/api/v1/filter', { method: 'OPTIONS' })
    assert.deepEqual(left(await fixture.call('/api/v1/filter')), ['9', '5'])
  })

  test('gets 404 for an unknown path before 429', async () => {
    await using fixture = await open({ RATE_LIMIT_PER_MINUTE: '1' })
    await fixture.call('/api/v1/filter')
    assert.equal((await fixture.call('/api/v1/nothing')).status, 404)
    assert.equal((await fixture.call('/api/v1/filter')).status, 429)
  })
})

describe('an address without a valid credential', () => {
  test('has its own smaller number, whatever it asks for', async () => {
    await using fixture = await open()
    const asks: [path: string, key: string | null, status: number][] = [
      ['/healthz', null, 200],
      ['/api/v1/filter', null, 401],
      ['/api/v1/filter', 'nobody', 401],
      ['/nothing', null, 404],
    ]
    for (const [path, key, status] of asks) {
      const reply = await fixture.call(path, { key })
      assert.equal(reply.status, status)
      assert.equal(reply.headers.get('x-ratelimit-limit'), String(SOURCE_LIMIT))
    }
    for (let n = asks.length; n < SOURCE_LIMIT; n++) await fixture.call('/healthz', { key: null })
    assert.equal((await fixture.call('/healthz', { key: null })).status, 429)
    const cold = await fixture.call('/api/v1/filter', { key: 'nobody' })
    assert.deepEqual([cold.status, cold.headers.has('retry-after')], [429, true], 'guessing keys is bounded too')
    assert.equal((await fixture.call('/api/v1/filter')).status, 200, 'a valid key is not held up by its neighbours')
    assert.equal((await fixture.call('/healthz', { key: null, method: 'OPTIONS' })).status, 204)
  })
})

describe('counts', () => {
  test('survive a restart within the minute, not beyond', async () => {
    const clock = new ManualClock()
    await using first = await open({ RATE_LIMIT_PER_MINUTE: '5' }, { clock })
    await first.call('/api/v1/filter')
    await first.call('/api/v1/filter')
    await first.call('/healthz', { key: null })
    await first.stop()
    await using second = await open({ RATE_LIMIT_PER_MINUTE: '5' }, { clock, folder: first.folder })
    assert.deepEqual(left(await second.call('/api/v1/filter')), ['5', '2'])
    assert.deepEqual(left(await second.call('/healthz', { key: null })), ['120', '118'])
    await second.stop()
    clock.advance(60_000)
    await using third = await open({ RATE_LIMIT_PER_MINUTE: '5' }, { clock, folder: first.folder })
    assert.deepEqual(left(await third.call('/api/v1/filter')), ['5', '4'])
  })

  test('are written every five seconds, and old minutes are forgotten', async () => {
    await using fixture = await open()
    const limits = new Limits(fixture.db)
    const rate = new RateLimit(fixture.clock, limits, 600)
    const failures: unknown[] = []
    rate.start((error) => failures.push(error))
    rate.take('key_a', () => '')
    rate.take('key_a', () => '')
    const minute = fixture.clock.now()
    assert.deepEqual(limits.load(minute), [])
    fixture.clock.advance(5_000)
    await rate.flush()
    assert.deepEqual({ ...limits.load(minute)[0] }, { subject: 'key_a', windowStart: minute, count: 2 })
    fixture.clock.advance(60_000)
    rate.take('key_b', () => '')
    await rate.stop()
    assert.deepEqual(limits.load(minute), [])
    assert.deepEqual(failures, [])
  })

  test('of a flood of addresses take bounded memory: the last ones share one', async () => {
    const rate = new RateLimit(
      new ManualClock(),
      { load: async () => [], save: async () => {} } as unknown as Limits,
      600,
    )
    for (let n = 0; n < 100_000; n++) rate.take(null, () => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
    for (let n = 0; n < SOURCE_LIMIT; n++) rate.take(null, () => `2001:db8:${n}::/64`)
    assert.equal(rate.take(null, () => 'new.one').over, true)
    assert.equal(rate.take(null, () => '10.0.0.1').remaining, SOURCE_LIMIT - 2, 'known ones keep theirs')
    assert.equal(rate.take('key', () => '').remaining, 599)
  })
})

describe('the source address', () => {
  const cases: [what: string, trusted: string[], peer: string, forwarded: string | undefined, source: string][] = [
    ['the peer', [], '192.0.2.1', undefined, '192.0.2.1'],
    ['anybody can write a header', [], '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['a trusted proxy is believed', ['192.0.2.1'], '192.0.2.1', '198.51.100.7', '198.51.100.7'],
    ['by range', ['192.0.2.0/24'], '192.0.2.9', '198.51.100.7', '198.51.100.7'],
    ['an untrusted one is not', ['192.0.2.1'], '192.0.2.2', '198.51.100.7', '192.0.2.2'],
    ['the right-most untrusted hop counts', ['192.0.2.1'], '192.0.2.1', '10.0.0.1, 198.51.100.7', '198.51.100.7'],
    ['trusted hops are skipped', ['192.0.2.0/24'], '192.0.2.1', '198.51.100.7, 192.0.2.5', '198.51.100.7'],
    ['all trusted: the first', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an unreadable hop ends the chain', ['10.0.0.0/8'], '10.0.0.1', '198.51.100.7, unknown', '10.0.0.1'],
    ['a hop with a port', ['10.0.0.1'], '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['IPv6 by its /64', [], '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
    ['IPv6 in brackets with a port', ['::1'], '::1', '[2001:db8::7]:443', '2001:db8:0:0::/64'],
    ['IPv4 in IPv6', ['10.0.0.1'], '::ffff:10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['a zone is dropped', [], 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
    ['no octal, no short forms', ['10.0.0.1'], '10.0.0.1', '0177.1', '10.0.0.1'],
    ['no peer', [], '', undefined, 'unknown'],
  ]
  for (const [what, trusted, peer, forwarded, source] of cases) {
    test(what, () => assert.equal(new Sources(trusted).of(peer, forwarded), source))
  }

  test('a chain of ten thousand hops is read from its end only', () => {
    const hops = `${'10.0.0.9, '.repeat(10_000)}10.0.0.2`
    assert.equal(new Sources(['10.0.0.0/8']).of('10.0.0.1', hops), '10.0.0.9')
  })

  test('is counted, and passed to the handler', async () => {
    await using fixture = await open({ TRUSTED_PROXIES: '127.0.0.1' })
    const from = (address: string) => fixture.call('/healthz', { key: null, headers: { 'x-forwarded-for': address } })
    const first = await from('198.51.100.1')
    assert.deepEqual([first.json.source, left(first)], ['198.51.100.1', ['120', '119']])
    assert.deepEqual(left(await from('198.51.100.1')), ['120', '118'])
    assert.deepEqual(left(await from('198.51.100.2')), ['120', '119'])
  })
})

describe('the pace of one resource', () => {
  test('is kept for its owner alone', async () => {
    await using fixture = await open()
    const verify = (id: string, key = 'root') => fixture.call(`/api/v1/things/${id}/verify`, { method: 'POST', key })
    assert.equal((await verify(ID)).status, 200)
    fixture.clock.advance(3_000)
    const soon = await verify(ID)
    assert.deepEqual(
      [soon.status, soon.json.error.code, soon.headers.get('retry-after')],
      [429, 'rate_limit_exceeded', '7'],
    )
    assert.deepEqual(left(soon), ['600', '598'])
    assert.equal((await verify(`mdom_${'y'.repeat(24)}`)).status, 200)
    assert.equal((await verify(ID, 'other')).status, 200, 'one team cannot use up the throttle of another')
    fixture.clock.advance(7_000)
    assert.equal((await verify(ID)).status, 200)
  })

  test('counts within a sliding time and forgets the longest untouched', () => {
    const clock = new ManualClock()
    const paces = new Throttle(clock)
    const pace = { times: 2, seconds: 10 }
    paces.admit('a', pace)
    clock.advance(6_000)
    paces.admit('a', pace)
    assert.throws(() => paces.admit('a', pace), { retryAfter: 4 })
    clock.advance(4_000)
    paces.admit('a', pace)
    assert.throws(() => paces.admit('a', pace), { retryAfter: 6 })
    for (let n = 0; n < 10_000; n++) paces.admit(`b${n}`, pace)
    paces.admit('a', pace)
  })
})
