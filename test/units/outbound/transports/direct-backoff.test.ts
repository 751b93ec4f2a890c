// Hosts and destinations that fail are remembered for all messages, and are tried again in time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DirectTransport } from '../../../../src/outbound/model/transport.ts'
import { BACKOFF_MAX_MS, BACKOFF_MS, Backoff, NAMES_MAX } from '../../../../src/outbound/transports/direct/backoff.ts'
import { openDirect } from '../../../../src/outbound/transports/direct/direct.ts'
import { PROBE_WAIT_MS, PROBES_MAX, REQUEUE_MS } from '../../../../src/outbound/transports/direct/host-gate.ts'
import { SmtpError } from '../../../../src/outbound/transports/smtp/errors.ts'
import { GREETING_MS } from '../../../../src/outbound/transports/smtp/limits.ts'
import { ownReply } from '../../../../src/outbound/transports/smtp/reply.ts'
import {
  type AnyHandover,
  carrierConfig,
  firstVerdict,
  handover,
  shortOutcomes,
  turns,
  wordsOf,
} from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { type Zone, zoneResolver } from '../../../support/dns.ts'
import { type Answer, type ScriptPeer, startScript } from '../../../support/mail-server.ts'

const EHLO = '250-mx.script.test\r\n250 PIPELINING'

/** So many domains behind one server, under a name of its own for each. */
function zoneOf(domains: number): Zone {
  const names = Array.from({ length: domains }, (_, i) => `d${i}.test`)
  const records = names.flatMap((name) => [
    [name, { MX: [{ priority: 10, exchange: `mx.${name}` }] }],
    [`mx.${name}`, { A: ['127.0.0.1'] }],
  ])
  return Object.fromEntries(records) as Zone
}

function openFor(
  port: number,
  zone: Zone,
): { direct: DirectTransport; clock: ManualClock; lent: string[] } & {
  send(domain: string, given?: Partial<AnyHandover>): ReturnType<DirectTransport['hand']>
} {
  const clock = new ManualClock()
  const lent: string[] = []
  const config = carrierConfig({ DIRECT_PORT: String(port) })
  const direct = openDirect({ clock, config, resolver: zoneResolver(zone) })
  const send = (domain: string, given: Partial<AnyHandover> = {}) => {
    const message = handover({ recipients: [`bob@${domain}`], ...given })
    const lend: AnyHandover['lend'] = (use) => {
      lent.push(domain)
      return message.lend(use)
    }
    return direct.hand({ ...message, lend })
  }
  return { direct, clock, lent, send }
}

test('a host that never greets costs two connections, and lends no bytes', async () => {
  await using server = await startScript((peer) => peer.closed())
  const { direct, clock, lent, send } = openFor(server.port, zoneOf(30))
  const handing = Array.from({ length: 300 }, (_, i) => send(`d${i % 30}.test`))
  await server.connected(PROBES_MAX)
  await turns()
  clock.advance(PROBE_WAIT_MS)
  const others = await Promise.all(handing.slice(PROBES_MAX))
  assert.deepEqual(new Set(others.flatMap(shortOutcomes)), new Set(['not tried yet']))
  assert.deepEqual(
    new Set(others.map((handed) => handed.kind === 'not_tried' && handed.until)),
    new Set([clock.now() + REQUEUE_MS]),
  )
  // Whoever comes while the probes still wait is sent away at once.
  assert.deepEqual(shortOutcomes(await send('d5.test')), ['not tried yet'])
  clock.advance(GREETING_MS)
  const probes = await Promise.all(handing.slice(0, PROBES_MAX))
  assert.deepEqual(new Set(probes.flatMap(shortOutcomes)), new Set(['later network']))
  const later = await send('d7.test')
  assert.deepEqual(shortOutcomes(later), ['not tried network'])
  assert.match(wordsOf(later), /did not answer within 60 seconds, before its greeting\.$/)
  assert.equal(later.kind === 'not_tried' && later.until, clock.now() + BACKOFF_MS)
  assert.equal(server.connections, PROBES_MAX)
  assert.deepEqual(lent, [])
  await direct.close()
})

test('messages whose attempt failed wait until the host may be tried again', async () => {
  await using server = await startScript(async (peer) => {
    peer.say('421 4.3.2 Not now')
    peer.end()
  })
  const { clock, send } = openFor(server.port, zoneOf(1))
  const handed = await send('d0.test')
  const verdict = firstVerdict(handed)
  assert.equal(verdict.kind === 'later' && verdict.notBefore, clock.now() + BACKOFF_MS)
})

test('a host that works again works for all, at once and with all connections', async () => {
  let isDead = true
  await using server = await startScript(async (peer) => {
    if (isDead) return peer.drop()
    await peer.talk({ EHLO })
  })
  const { direct, clock, send } = openFor(server.port, zoneOf(8))
  assert.deepEqual(shortOutcomes(await send('d0.test')), ['later network'])
  isDead = false
  assert.deepEqual(shortOutcomes(await send('d1.test')), ['not tried network'])
  assert.equal(server.connections, 1)
  clock.advance(BACKOFF_MS)
  const all = await Promise.all(Array.from({ length: 40 }, (_, i) => send(`d${i % 8}.test`)))
  assert.deepEqual(new Set(all.flatMap(shortOutcomes)), new Set(['sent']))
  await direct.close()
})

test('what the operator wants tried now is tried now', async () => {
  await using server = await startScript(async (peer) => peer.drop())
  const { send } = openFor(server.port, { ...zoneOf(1), 'sick.test': { error: 'servfail' } })
  assert.deepEqual(shortOutcomes(await send('d0.test')), ['later network'])
  assert.deepEqual(shortOutcomes(await send('d0.test', { isUrgent: true })), ['later network'])
  assert.equal(server.connections, 2)
  for (const isUrgent of [false, true])
    assert.deepEqual(shortOutcomes(await send('sick.test', { isUrgent })), ['later dns'])
})

test('a healthy server of lower preference is used while the first one is backed off', async () => {
  await using dead = await startScript(async (peer) => peer.drop())
  await using alive = await startScript((peer) => peer.talk({ EHLO }), '127.0.0.2', dead.port)
  const { direct, send } = openFor(dead.port, {
    'out.test': {
      MX: [
        { priority: 10, exchange: 'a.test' },
        { priority: 20, exchange: 'b.test' },
      ],
    },
    'a.test': { A: ['127.0.0.1'] },
    'b.test': { A: ['127.0.0.2'] },
  })
  for (let i = 0; i < 3; i++) assert.deepEqual(shortOutcomes(await send('out.test')), ['sent'])
  assert.deepEqual([dead.connections, alive.connections], [1, 1])
  await direct.close()
})

test('a host that falls silent in the middle of a message is remembered, too', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO, RCPT: null }))
  const { clock, send } = openFor(server.port, zoneOf(2))
  const handing = send('d0.test')
  await server.until('RCPT')
  clock.advance(GREETING_MS * 2)
  assert.deepEqual(shortOutcomes(await handing), ['later network'])
  assert.deepEqual(shortOutcomes(await send('d1.test')), ['not tried network'])
})

test('of a destination are remembered its DNS and its wish for less mail, not what is said of one message', async () => {
  const cases: [Record<string, Answer>, string, number][] = [
    [{ MAIL: '450 4.7.1 Too many mails' }, 'not tried throttled', 1],
    [{ MAIL: '451 4.1.8 Who are you' }, 'later transient', 2],
    [{ RCPT: '450 4.2.1 The user receives mail too quickly, slow down' }, 'later throttled', 2],
  ]
  for (const [answers, second, times] of cases) {
    await using server = await startScript((peer: ScriptPeer) => peer.talk({ EHLO, ...answers }))
    const { direct, send } = openFor(server.port, zoneOf(1))
    await send('d0.test')
    assert.deepEqual(shortOutcomes(await send('d0.test')), [second])
    assert.equal(server.heard.filter((line) => line.startsWith('MAIL')).length, times)
    await direct.close()
  }
  const zone: Zone = { 'sick.test': { error: 'servfail' } }
  const { clock, send } = openFor(9, zone)
  assert.deepEqual(shortOutcomes(await send('sick.test')), ['later dns'])
  assert.deepEqual(shortOutcomes(await send('sick.test')), ['not tried dns'])
  clock.advance(BACKOFF_MS)
  assert.deepEqual(shortOutcomes(await send('sick.test')), ['later dns'])
})

test('pauses grow up to a bound, failures side by side count once, and so many names are remembered', () => {
  const clock = new ManualClock()
  const backoff = new Backoff(clock)
  const error = new SmtpError('lost', 'connect', ownReply('Gone.'))
  const pauses: number[] = []
  for (let i = 0; i < 7; i++) {
    backoff.fail('a', error)
    backoff.fail('a', error)
    pauses.push(backoff.get('a')!.until - clock.now())
    clock.advance(pauses.at(-1)!)
    assert.equal(backoff.get('a'), null)
  }
  assert.deepEqual(
    pauses.map((ms) => ms / BACKOFF_MS),
    [1, 2, 4, 8, 15, 15, 15],
  )
  assert.equal(pauses.at(-1), BACKOFF_MAX_MS)
  backoff.succeed('a')
  backoff.fail('a', error)
  assert.equal(backoff.get('a')!.until - clock.now(), BACKOFF_MS)
  for (let i = 0; i < NAMES_MAX + 100; i++) backoff.fail(`n${i}`, error)
  assert.equal(backoff.size, NAMES_MAX)
})
