// Mail to the servers of others under their TLS policies: MTA-STS (RFC 8461) and DANE (RFC 7672).

import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { systemClock } from '../../../../src/base/clock.ts'
import type { Resolver } from '../../../../src/base/resolver.ts'
import type { StsState } from '../../../../src/outbound/tls/sts-policies.ts'
import { openDirect } from '../../../../src/outbound/transports/direct/direct.ts'
import type { StsMode } from '../../../../src/tls-policy/sts.ts'
import { carrierConfig, firstVerdict, handover, shortOutcomes, wordsOf } from '../../../support/carriers.ts'
import { type Names, type Zone, zoneResolver } from '../../../support/dns.ts'
import {
  certificateFor,
  type MailServer,
  type ScriptPeer,
  startMailServer,
  startScript,
} from '../../../support/mail-server.ts'
import { issueCertificate } from '../../../support/tls-authority.ts'

const folder = await mkdtemp(join(tmpdir(), 'mailstead-tls-'))
after(() => rm(folder, { recursive: true }))
const trusted = await certificateFor('mx.out.test')
const expired = await certificateFor('mx.out.test', { from: -9, until: -2 })
const unknown = await certificateFor('mx.out.test')
const elsewhere = await certificateFor('mx.else.test')
setDefaultCACertificates([...getCACertificates('default'), trusted.cert, expired.cert, elsewhere.cert])

const mx = (...hosts: string[]): Names => ({
  MX: hosts.map((exchange, index) => ({ priority: (index + 1) * 10, exchange })),
})
const HOST: Names = { A: ['127.0.0.1'] }
const ZONE: Zone = { 'out.test': mx('mx.out.test'), 'free.test': mx('mx.out.test'), 'mx.out.test': HOST }

/** Says that every answer was validated, but those of names without DNSSEC. */
function validating(zone: Zone, unsigned: readonly string[] = []): Resolver {
  const resolver = zoneResolver(zone)
  return {
    ...resolver,
    async authenticated(name, type) {
      const own = { isAuthentic: !unsigned.includes(name), name }
      try {
        return { ...own, records: await resolver.resolve(name, type), code: null }
      } catch (error) {
        return { ...own, records: [], code: (error as { code: string }).code }
      }
    },
  }
}

const policy = (mode: StsMode, ...hosts: string[]): StsState => ({
  kind: 'policy',
  policy: { mode, mx: hosts.length === 0 ? ['mx.out.test'] : hosts, maxAge: 86_400 },
})

/** Direct delivery to servers at one port, with a policy of out.test. */
function opened(port: number, { sts, resolver = zoneResolver(ZONE) }: { sts?: StsState; resolver?: Resolver } = {}) {
  const none: StsState = { kind: 'none' }
  const policies = { of: async (domain: string) => (domain === 'out.test' && sts ? sts : none) }
  const config = carrierConfig({ DIRECT_PORT: String(port) })
  const direct = openDirect({ clock: systemClock, config, resolver, policies })
  return {
    hand: (recipient = 'bob@out.test') => direct.hand(handover({ recipients: [recipient] })),
    [Symbol.asyncDispose]: () => direct.close(),
  }
}

async function handOnce(port: number, given: Parameters<typeof opened>[1] = {}) {
  await using direct = opened(port, given)
  return direct.hand()
}

const tlsa = (cert: string, { usage = 3, selector = 1, match = 1 } = {}): Names => {
  const certificate = new X509Certificate(cert)
  const content = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
  const data =
    match === 0
      ? content
      : createHash(match === 1 ? 'sha256' : 'sha512')
          .update(content)
          .digest()
  return { TLSA: [`${usage} ${selector} ${match} ${data.toString('hex')}`] }
}

test('an enforced policy is met by a valid certificate, and the log says which policy required it', async () => {
  await using server = await startMailServer({ ...trusted })
  const handed = await handOnce(server.port, { sts: policy('enforce') })
  assert.equal(
    wordsOf(handed),
    '250 2.0.0 Ok: queued as 1 (TLSv1.3, certificate verified, as MTA-STS of out.test requires)',
  )
})

test('what an enforced policy refuses is deferred with the reason in a sentence, and never sent in clear', async () => {
  const day = new X509Certificate(expired.cert).validToDate
  const date = `${day.getUTCDate()} ${day.toLocaleString('en-GB', { month: 'long', timeZone: 'UTC' })} ${day.getUTCFullYear()}`
  const needs = 'MTA-STS of out.test requires a valid certificate for mx.out.test; it'
  const cases: [{ cert?: string; key?: string }, string, string][] = [
    [{}, '4.7.4', 'MTA-STS of out.test requires TLS: mx.out.test does not offer STARTTLS on this port.'],
    [unknown, '4.7.5', `${needs} is signed by itself.`],
    [expired, '4.7.5', `${needs} expired on ${date}.`],
    [elsewhere, '4.7.5', `${needs} is for another name.`],
  ]
  for (const [pair, code, sentence] of cases) {
    await using server: MailServer = await startMailServer(pair)
    const handed = await handOnce(server.port, { sts: policy('enforce') })
    assert.deepEqual(shortOutcomes(handed), ['later tls_policy'])
    assert.deepEqual(firstVerdict(handed).reply, { smtpCode: null, enhancedCode: code, text: sentence })
    assert.equal(server.messages.length, 0)
  }
  await using server = await startMailServer({ ...trusted })
  const unnamed = await handOnce(server.port, { sts: policy('enforce', 'mx.else.test') })
  assert.equal(firstVerdict(unnamed).reply.text, 'MTA-STS of out.test does not name mx.out.test as a mail server.')
  assert.equal(server.connections, 0)
})

test('a server that aborts or refuses TLS gets no message under a policy', async () => {
  const offer = '250-mx.script.test\r\n250 STARTTLS'
  for (const answer of ['220 Go\r\n250 Ok', '454 4.7.0 Not available']) {
    await using server = await startScript((peer) => peer.talk({ EHLO: offer, STARTTLS: answer }))
    assert.equal((await handOnce(server.port, { sts: policy('enforce') })).kind, 'answered')
    assert.deepEqual(
      server.heard.filter((line) => line.startsWith('MAIL')),
      [],
    )
  }
})

test('a pooled connection that was not verified is not used under a policy, and its failure holds up nobody', async () => {
  await using server = await startMailServer({ ...unknown })
  await using direct = opened(server.port, { sts: policy('enforce') })
  assert.deepEqual(shortOutcomes(await direct.hand('eve@free.test')), ['sent'])
  assert.deepEqual(shortOutcomes(await direct.hand()), ['later tls_policy'])
  assert.deepEqual(shortOutcomes(await direct.hand('eve@free.test')), ['sent'])
  assert.equal(server.connections, 2, 'that of the other domain was used again')
  assert.equal(server.messages.length, 2)
})

test('the next server of the domain is used when one does not meet the policy', async () => {
  const backup = await certificateFor('mx2.out.test')
  setDefaultCACertificates([...getCACertificates('default'), backup.cert])
  const secured = async (_line: string, peer: ScriptPeer) => {
    peer.say('220 Go')
    await peer.startTls(backup)
    return null
  }
  await using first = await startScript((peer) => peer.talk())
  const offer = { EHLO: '250-mx2.out.test\r\n250 STARTTLS', STARTTLS: secured }
  await using second = await startScript((peer) => peer.talk(offer), '127.0.0.2', first.port)
  const zone: Zone = {
    'out.test': mx('mx.out.test', 'mx2.out.test'),
    'mx.out.test': HOST,
    'mx2.out.test': { A: ['127.0.0.2'] },
  }
  const given = { sts: policy('enforce', '*.out.test'), resolver: zoneResolver(zone) }
  assert.deepEqual(shortOutcomes(await handOnce(first.port, given)), ['sent'])
  assert.deepEqual([first.connections, second.connections], [1, 1])
  assert.ok(!first.heard.some((line) => line.startsWith('MAIL')))
})

test('a policy that is only tested refuses nothing, and the log says what it would refuse', async () => {
  await using server = await startMailServer({ ...unknown })
  const handed = await handOnce(server.port, { sts: policy('testing') })
  assert.deepEqual(shortOutcomes(handed), ['sent'])
  assert.match(
    wordsOf(handed),
    /\(TLSv1\.3, certificate not verified\); MTA-STS of out\.test, now testing, would refuse this server: its certificate is signed by itself$/,
  )
})

test('DANE accepts the certificate of the record, whatever its name and issuer, and no other', async () => {
  await using server = await startMailServer({ ...elsewhere })
  const at = `_${server.port}._tcp.mx.out.test`
  for (const kind of [{}, { selector: 0 }, { match: 2 }, { match: 0 }]) {
    const resolver = validating({ ...ZONE, [at]: tlsa(elsewhere.cert, kind) })
    assert.match(
      wordsOf(await handOnce(server.port, { resolver })),
      /certificate matches TLSA, as DANE of mx\.out\.test requires\)$/,
    )
  }
  const other = validating({ ...ZONE, [at]: tlsa(unknown.cert) })
  const handed = await handOnce(server.port, { resolver: other, sts: policy('enforce') })
  assert.deepEqual(shortOutcomes(handed), ['later tls_policy'])
  const sentence = 'DANE requires a certificate that matches the TLSA records of mx.out.test; mx.out.test has another.'
  assert.deepEqual(firstVerdict(handed).reply, { smtpCode: null, enhancedCode: '4.7.5', text: sentence })
})

test('a certificate below an authority of the record needs the name of the server', async () => {
  const { authority, cert, key } = await issueCertificate(folder)
  const [root, leaf, secret] = await Promise.all([authority, cert, key].map((file) => readFile(file, 'utf8')))
  await using server = await startMailServer({ cert: leaf! + root!, key: secret! })
  const records = tlsa(root!, { usage: 2 })
  for (const [host, outcome] of [
    ['localhost', 'sent'],
    ['mx.out.test', 'later tls_policy'],
  ] as const) {
    const zone: Zone = { 'out.test': mx(host), [host]: HOST, [`_${server.port}._tcp.${host}`]: records }
    assert.deepEqual(shortOutcomes(await handOnce(server.port, { resolver: validating(zone) })), [outcome], host)
  }
  // The same records of an authority that is in no chain.
  const zone: Zone = {
    'out.test': mx('localhost'),
    localhost: HOST,
    [`_${server.port}._tcp.localhost`]: tlsa(trusted.cert, { usage: 2 }),
  }
  assert.deepEqual(shortOutcomes(await handOnce(server.port, { resolver: validating(zone) })), ['later tls_policy'])
})

test('DANE and MTA-STS together', async () => {
  await using server = await startMailServer({ ...unknown })
  const at = `_${server.port}._tcp.mx.out.test`
  const zone = { ...ZONE, [at]: tlsa(unknown.cert) }
  const unusable = { ...ZONE, [at]: tlsa(unknown.cert, { usage: 1 }) }
  const failing: Zone = { ...ZONE, [at]: { error: 'servfail' } }
  const cases: [string, Resolver, StsMode | null, string][] = [
    ['signed MX: DANE decides alone', validating(zone), 'enforce', 'sent'],
    ['unsigned MX: both must hold', validating(zone, ['out.test']), 'enforce', 'later tls_policy'],
    ['unsigned MX and DANE alone', validating(zone, ['out.test']), null, 'sent'],
    ['unusable records: any certificate', validating(unusable), null, 'sent'],
    ['unusable records: MTA-STS decides', validating(unusable), 'enforce', 'later tls_policy'],
    ['no answer for TLSA: the host is skipped', validating(failing), null, 'later tls_policy'],
    ['no answer of an unsigned host', validating(failing, ['mx.out.test']), null, 'sent'],
    ['TLSA without DNSSEC', validating(failing, ['mx.out.test', at]), null, 'sent'],
    ['a resolver that is not trusted', zoneResolver(zone), 'enforce', 'later tls_policy'],
  ]
  for (const [title, resolver, mode, outcome] of cases) {
    const sts = mode === null ? {} : { sts: policy(mode) }
    assert.deepEqual(shortOutcomes(await handOnce(server.port, { resolver, ...sts })), [outcome], title)
  }
  await using clear = await startMailServer()
  const demanding: Zone = { ...ZONE, [`_${clear.port}._tcp.mx.out.test`]: tlsa(unknown.cert, { usage: 1 }) }
  const refused = await handOnce(clear.port, { resolver: validating(demanding) })
  const needed = 'DANE of mx.out.test requires TLS: mx.out.test does not offer STARTTLS on this port.'
  assert.equal(firstVerdict(refused).reply.text, needed)
})
