// Outcomes that are used again: while their questions have the same answers, and never otherwise.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { KnownOutcomes } from '../../../src/auth/known-outcomes.ts'
import { arrival } from '../../support/arrivals.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'

/** A check that asks for a second name only when the first has records, and counts how often it runs. */
function counted(zone: Zone) {
  const known = new KnownOutcomes<string>()
  const runs: string[] = []
  const resolver = zoneResolver(zone)
  const check = async (key = 'key', isLasting = true) => {
    const before = resolver.queries.length
    const outcome = await known.get(
      key,
      resolver,
      async (resolve) => {
        runs.push(key)
        const texts = async (name: string) => (await resolve(name, 'TXT').catch(() => [])).join()
        const first = await texts('one.test')
        return first === '' ? 'nothing' : `${first} ${await texts('two.test')}`
      },
      () => isLasting,
    )
    return { outcome, asked: resolver.queries.slice(before).map(({ name }) => name) }
  }
  return { check, runs }
}

test('an outcome is used again, and its questions are asked each time', async () => {
  const zone: Zone = { 'one.test': { TXT: ['a'] } }
  const { check, runs } = counted(zone)
  for (let time = 0; time < 3; time++) {
    assert.deepEqual(await check(), { outcome: 'a ', asked: ['one.test', 'two.test'] })
  }
  assert.equal(runs.length, 1)
  await check('other')
  assert.deepEqual(runs, ['key', 'other'])
})

test('another answer leads to another evaluation, which asks no question twice', async () => {
  const zone: Zone = { 'one.test': { TXT: ['a'] } }
  const { check, runs } = counted(zone)
  await check()
  zone['two.test'] = { TXT: ['b'] }
  assert.deepEqual(await check(), { outcome: 'a b', asked: ['one.test', 'two.test'] })
  zone['one.test'] = { TXT: [['a', 'b']] }
  zone['two.test'] = {}
  assert.equal((await check()).outcome, 'a,b ')
  zone['one.test'] = {}
  assert.deepEqual(await check(), { outcome: 'nothing', asked: ['one.test'] })
  assert.equal(runs.length, 4)
})

test('what a temporary error has led to, does not last, or is large is not kept', async () => {
  const zone: Zone = { 'one.test': { TXT: ['a'] }, 'two.test': { error: 'servfail' } }
  const { check, runs } = counted(zone)
  await check()
  await check()
  assert.equal(runs.length, 2)
  zone['two.test'] = {}
  await check('key', false)
  await check()
  assert.equal(runs.length, 4)
  // A name server that fails now must not be answered for from memory.
  zone['one.test'] = { error: 'servfail' }
  assert.equal((await check()).outcome, 'nothing')
  zone['one.test'] = { TXT: [Array.from({ length: 20 }, () => 'x'.repeat(255))] }
  await check()
  await check()
  assert.equal(runs.length, 7)
})

test('at most 500 outcomes are kept', async () => {
  const { check, runs } = counted({})
  for (let index = 0; index <= 500; index++) await check(`key ${index}`)
  await check('key 500')
  assert.equal(runs.length, 501)
  await check('key 0')
  assert.equal(runs.length, 502)
})

test('a known result of SPF names the sender it is given for, and follows the records', async () => {
  const zone: Zone = { 'sender.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } }
  const spf = async (mailFrom: string, remoteAddress = '192.0.2.1') => {
    const given = arrival({ mailFrom, remoteAddress, helo: 'mx.known.test' })
    const { verdict } = await authenticate(Buffer.from('Subject: x\r\n\r\n'), given, zoneResolver(zone))
    assert.ok(verdict.dns.some(({ name, type }) => name === 'sender.test' && type === 'TXT') || mailFrom === '')
    return `${verdict.spf} ${verdict.spfReason}`
  }
  const passed = (sender: string) => `pass domain of ${sender} designates 192.0.2.1 as permitted sender`
  for (const sender of ['ann@sender.test', 'ben+1@sender.test', '"a$&@b"@sender.test']) {
    assert.equal(await spf(sender), passed(sender))
  }
  assert.match(await spf('eve@sender.test', '192.0.2.2'), /^fail .*eve@sender\.test/)
  assert.match(await spf('max@sender.test', '192.0.2.2'), /^fail .*max@sender\.test/)
  assert.match(await spf(''), /^none mx\.known\.test/)
  zone['sender.test'] = { TXT: ['v=spf1 ip4:192.0.2.9 ~all'] }
  assert.match(await spf('ann@sender.test'), /^softfail .*ann@sender\.test/)
  zone['sender.test'] = { TXT: ['v=spf1 exists:%{l}.hosts.test ~all'] }
  zone['ann.hosts.test'] = { A: ['127.0.0.2'] }
  assert.match(await spf('ann@sender.test'), /^pass/)
  assert.match(await spf('eve@sender.test'), /^softfail/)
})
