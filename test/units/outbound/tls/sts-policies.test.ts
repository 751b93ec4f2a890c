// MTA-STS policies are fetched, kept and refreshed as RFC 8461 says, whatever their hosts do.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/base/durations.ts'
import { openLog } from '../../../../src/base/log.ts'
import { SafeFetch } from '../../../../src/base/safe-fetch.ts'
import { StsPolicies } from '../../../../src/outbound/tls/sts-policies.ts'
import { ManualClock } from '../../../support/clock.ts'
import { type Zone, zoneResolver } from '../../../support/dns.ts'
import { fixtureJson, fixturesMissing } from '../../../support/fixtures.ts'
import { certificateFor } from '../../../support/mail-server.ts'
import { openSendingAppliance } from '../../../support/sending-appliance.ts'

const log = openLog('silent')
const pair = await certificateFor('mta-sts.out.test')
setDefaultCACertificates([...getCACertificates('default'), pair.cert])
const appliance = await openSendingAppliance()
after(() => appliance[Symbol.asyncDispose]())
let answer: RequestListener = (_req, res) => res.end()
const server = createServer(pair, (req, res) => {
  requests.push(req.url!)
  answer(req, res)
})
const requests: string[] = []
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
after(() => server.closeAllConnections())
after(() => server.close())

const record = (id: string): Zone[string] => ({ TXT: [`v=STSv1; id=${id};`] })
const HOST = { 'mta-sts.out.test': { A: ['127.0.0.1'] } }

/** Policies over the real client, at the port of the server here instead of 443. */
async function policies(zone: Zone, clock: ManualClock, totalMs = 30_000) {
  await appliance.app.db.write((tx) => tx.run('DELETE FROM tls_policies'))
  requests.length = 0
  const resolver = zoneResolver(zone)
  const real = new SafeFetch({ resolver, log, allowPrivate: true, totalMs })
  const fetch = {
    request: (url: string, asked: Parameters<SafeFetch['request']>[1], most: number) => {
      assert.match(url, /^https:\/\/mta-sts\.[a-z0-9.-]+\/\.well-known\/mta-sts\.txt$/)
      return real.request(Object.assign(new URL(url), { port: String(port) }).href, asked, most)
    },
  }
  const sts = new StsPolicies({ db: appliance.app.db, clock, log, resolver, fetch })
  return { sts, [Symbol.asyncDispose]: () => real.close() }
}

const text =
  (body: string): RequestListener =>
  (_req, res) => {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8')
    res.end(body)
  }
const POLICY = 'version: STSv1\nmode: enforce\nmx: mx.out.test\nmax_age: 604800\n'

test('a policy is fetched once, kept without its record, and refreshed each day', async () => {
  const clock = new ManualClock()
  const zone: Zone = { ...HOST, '_mta-sts.out.test': record('1') }
  await using open = await policies(zone, clock)
  const { sts } = open
  answer = text(POLICY)
  const expected = { kind: 'policy', policy: { mode: 'enforce', mx: ['mx.out.test'], maxAge: 604800 } }
  assert.deepEqual(await Promise.all([sts.of('out.test'), sts.of('out.test')]), [expected, expected])
  assert.deepEqual(requests, ['/.well-known/mta-sts.txt'], 'messages together fetch it once')
  delete zone['_mta-sts.out.test']
  answer = (_req, res) => res.destroy()
  assert.deepEqual(await sts.of('out.test'), expected, 'DNS was tampered with')
  clock.advance(DAY_MS + 1)
  assert.deepEqual(await sts.of('out.test'), expected)
  while (requests.length < 2) await once(server, 'request')
  clock.advance(5 * DAY_MS)
  assert.deepEqual(await sts.of('out.test'), expected, 'a failed refresh changes nothing')
  clock.advance(DAY_MS)
  assert.deepEqual(await sts.of('out.test'), { kind: 'none' }, 'until its end')
})

test('another id brings the new policy at once; mode none ends it', async () => {
  const clock = new ManualClock()
  const zone: Zone = { ...HOST, '_mta-sts.out.test': record('1') }
  await using open = await policies(zone, clock)
  answer = text(POLICY)
  await open.sts.of('out.test')
  zone['_mta-sts.out.test'] = record('2')
  answer = text('version: STSv1\nmode: none\nmax_age: 86400\n')
  assert.deepEqual(await open.sts.of('out.test'), { kind: 'none' })
  assert.equal(requests.length, 2)
})

test('a host that never had a policy holds up nothing, and is asked again after 5 minutes, then 10', async () => {
  const clock = new ManualClock()
  await using open = await policies({ ...HOST, '_mta-sts.out.test': record('1') }, clock)
  const failures = []
  answer = (_req, res) => res.writeHead(404).end()
  for (const ms of [0, 4 * MINUTE_MS, MINUTE_MS, 9 * MINUTE_MS, MINUTE_MS, HOUR_MS]) {
    clock.advance(ms)
    const state = await open.sts.of('out.test')
    failures.push([state.kind, requests.length])
  }
  assert.deepEqual(
    failures,
    [1, 1, 2, 2, 3, 4].map((count) => ['unfetched', count]),
  )
})

test('hosts that lie: redirect, wrong type, huge, slow, wrong certificate, private', async () => {
  const clock = new ManualClock()
  const redirect: RequestListener = (req, res) =>
    res.writeHead(301, { Location: `https://${req.headers.host}/x` }).end()
  const html: RequestListener = (_req, res) => res.setHeader('Content-Type', 'text/html').end(POLICY)
  const huge = text(`${POLICY}${`ext: ${'x'.repeat(990)}\n`.repeat(100)}`)
  const slow: RequestListener = (_req, res) =>
    void res.writeHead(200, { 'Content-Type': 'text/plain' }).write('version')
  const cases: [string, RequestListener, string, RegExp][] = [
    ['out.test', redirect, 'sts-policy-fetch-error', /status 301/],
    ['out.test', html, 'sts-policy-fetch-error', /not text\/plain/],
    ['out.test', huge, 'sts-policy-invalid', /too long/],
    ['out.test', slow, 'sts-policy-fetch-error', /not complete/],
    ['other.test', text(POLICY), 'sts-webpki-invalid', /./],
    ['gone.test', text(POLICY), 'sts-policy-fetch-error', /could not be resolved/],
  ]
  const zone: Zone = { ...HOST, 'mta-sts.other.test': { A: ['127.0.0.1'] } }
  for (const [domain, listener, failure, why] of cases) {
    await using open = await policies(
      { ...zone, [`_mta-sts.${domain}`]: record('1') },
      clock,
      listener === slow ? 1000 : undefined,
    )
    answer = listener
    const state = await open.sts.of(domain)
    assert.ok(state.kind === 'unfetched', `${failure} ${why}`)
    assert.equal(state.failure, failure)
    assert.match(state.problem, why)
  }
  assert.equal(requests.length, 0, 'the name that does not exist was not asked')
})

interface Scenario {
  domain: string
  txt: string | null
  http_status?: number
  content_type?: string
  body: string | null
  expected: 'VALID' | 'NONE' | 'FETCH_ERROR'
}

test('scenarios of postfix-mta-sts-resolver', { skip: fixturesMissing('mta-sts') }, async () => {
  const kinds = { VALID: 'policy', NONE: 'none', FETCH_ERROR: 'unfetched' }
  for (const { domain, txt, body, expected, ...rest } of fixtureJson<Scenario[]>('mta-sts/resolver-scenarios.json')) {
    const zone: Zone = { ...HOST, '_mta-sts.out.test': txt === null ? {} : { TXT: [txt] } }
    await using open = await policies(zone, new ManualClock())
    // A certificate for another name is the case of a test above.
    answer = (_req, res) => {
      if (domain.startsWith('bad-cert') || body === null) return void res.destroy()
      res.writeHead(rest.http_status!, { 'Content-Type': rest.content_type }).end(body)
    }
    assert.equal((await open.sts.of('out.test')).kind, kinds[expected], domain)
  }
})
