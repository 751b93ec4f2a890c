// docs/design/internet.md §2: the states of a certificate against a scripted authority, with lost answers, limits and misbehaviour.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ACME_ANSWER_MAX } from '../../../src/acme/http.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/base/durations.ts'
import { openLog } from '../../../src/base/log.ts'
import { Vault } from '../../../src/base/secrets.ts'
import {
  AcmeCertificates,
  type CertificateStatus,
  type CertificatesDeps,
} from '../../../src/certificates/certificates.ts'
import type { Prove } from '../../../src/certificates/steps.ts'
import { selfSigned } from '../../../src/config/certificate.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { Db } from '../../../src/db/db.ts'
import { ManualClock } from '../../support/clock.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'
import { copyEmptyDatabase } from '../../support/empty-database.ts'
import { missingProgram } from '../../support/programs.ts'
import { ScriptedAuthority } from '../../support/scripted-authority.ts'

const HOST = 'mail.acme.test'
const SECOND = 'mx2.acme.test'
const ACCEPT: Prove = async () => null
const NO_NOTIFIER = { notify: () => {}, listen: () => () => {}, close: () => {} }
const foreign = await selfSigned(HOST, Date.UTC(2020, 0), Date.UTC(2040, 0))

describe('a certificate', { skip: missingProgram('openssl', ['version']) }, () => {
  let folder: string
  let authority: ScriptedAuthority
  let db: Db
  let clock: ManualClock
  let zone: Zone
  let isHeld: boolean
  let count = 0
  const vault = new Vault(Buffer.alloc(32, 7))

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mailstead-certificates-'))
  })
  beforeEach(async () => {
    await end()
    authority = await ScriptedAuthority.start()
    const file = join(folder, `${++count}.db`)
    await copyEmptyDatabase(file)
    db = new Db({ file })
    clock = new ManualClock(Date.now())
    zone = { [HOST]: { A: ['192.0.2.1'] } }
    isHeld = false
  })
  after(async () => {
    await end()
    await rm(folder, { recursive: true, force: true })
  })

  async function end(): Promise<void> {
    await authority?.[Symbol.asyncDispose]()
    await db?.close()
  }

  /** Opens them as a start of the process does: everything else is in rows. */
  function open(env: Record<string, string> = {}, more: Partial<CertificatesDeps> = {}): AcmeCertificates {
    const names = { ACME: 'on', ACME_DIRECTORY: authority.directory, MAIL_HOSTS: HOST, CLIENT_PROTOCOLS: ',' }
    return new AcmeCertificates({
      ...{ db, clock, vault, log: openLog('silent'), resolver: zoneResolver(zone), notifier: NO_NOTIFIER },
      config: loadConfig({ ...names, ...env }, join(folder, 'none.json')),
      guard: { isHeld: () => isHeld, expected: () => clock.now() },
      ...{ domainNames: () => [], random: () => 0.5 },
      ...more,
    })
  }

  const first = () => open().get(HOST)
  const isProven = ({ state }: CertificateStatus) => state === 'proven'
  const hasFailed = ({ failures }: CertificateStatus) => failures === 1

  async function stepUntil(
    certificates: AcmeCertificates,
    holds: (one: CertificateStatus) => boolean,
    prove = ACCEPT,
  ): Promise<CertificateStatus> {
    for (let steps = 0; steps < 40; steps++) {
      await certificates.step(prove)
      const [one] = certificates.list()
      if (one !== undefined && holds(one)) return one
      clock.advance(2000)
    }
    assert.fail(`it is ${JSON.stringify(certificates.list()[0])}`)
  }

  /** Orders another version, and waits until it is in use. */
  async function renewed(certificates = open(), { revoke = false } = {}): Promise<CertificateStatus> {
    const before = certificates.get(HOST).served!.n
    await certificates.renew(HOST, { revoke })
    return stepUntil(certificates, (one) => isProven(one) && one.served!.n !== before)
  }

  it('goes on after a lost answer to each request, with one certificate issued and its secrets sealed', async () => {
    const paths = ['/dir', '/account', '/order/', '/authz/', '/challenge/', '/finalize/', '/certificate/']
    for (const path of paths) {
      authority.lost.push(path)
      await stepUntil(open(), () => authority.lost.length === 0)
      await db.write((tx) => tx.run("UPDATE certificates SET failed_at = '[]', failures = 0, look_at = 0"))
    }
    await stepUntil(open(), isProven)
    assert.deepEqual([authority.count('/neworder'), authority.count('/finalize')], [1, 1])
    const sql = 'SELECT key_sealed FROM certificate_keys UNION ALL SELECT key_sealed FROM acme_accounts'
    const sealed = db.read.all<{ key_sealed: Uint8Array }>(sql)
    assert.equal(sealed.length, 2)
    for (const row of sealed) assert.doesNotMatch(Buffer.from(row.key_sealed).toString('latin1'), /PRIVATE KEY/)
    assert.equal(db.read.all('SELECT * FROM acme_challenges').length, 0)
  })

  it('is not used with another key or without a chain, and the version before stays', async () => {
    const { served } = await stepUntil(open(), isProven)
    for (const [chain, message] of [
      [() => foreign.cert, /is for another key/],
      [() => 'no certificate', /has 0 certificates/],
      [(pem: string) => pem.repeat(6), /has 12 certificates/],
      [(pem: string) => `${pem.slice(0, pem.indexOf('-----END'))}AAAA\n-----END CERTIFICATE-----`, /cannot be read/],
    ] as const) {
      authority.chain = chain
      await db.write((tx) => tx.run("UPDATE certificates SET failed_at = '[]', failures = 0"))
      await open().renew(HOST)
      const { reason, served: still } = await stepUntil(open(), hasFailed)
      assert.match(reason!, message)
      assert.equal(still!.n, served!.n)
    }
  })

  it('returns to the version before, when a connection does not prove the new one', async () => {
    const { served } = await stepUntil(open(), isProven)
    await open().renew(HOST)
    const failed = await stepUntil(open(), hasFailed, async () => 'the listener imaps does not serve it.')
    assert.match(failed.reason!, /not used: the listener imaps/)
    assert.deepEqual([failed.served!.n, failed.state], [served!.n, 'due'])
  })

  it('is renewed at two thirds of its life, at half of a short one, with the same key', async () => {
    const { dueAt, served } = await stepUntil(open(), isProven)
    const { notBefore, notAfter } = served!
    assert.equal(dueAt, Math.round(notBefore + (notAfter - notBefore) * (2 / 3 - 0.025)))
    assert.equal(open().hasRenewed(HOST), false)
    authority.days = 6
    const short = await renewed()
    const life = short.served!.notAfter - short.served!.notBefore
    assert.equal(short.dueAt, Math.round(short.served!.notBefore + life * (1 / 2 - 0.025)))
    assert.equal(short.served!.keyDigest, served!.keyDigest)
    assert.equal(open().hasRenewed(HOST), true)
    // By itself, when that time has come; the authority of the test has the real time.
    await db.write((tx) => tx.run('UPDATE certificates SET due_at = ?, look_at = 0', [clock.now()]))
    await stepUntil(open(), (one) => isProven(one) && one.served!.n > short.served!.n)
  })

  it('follows the renewal information of the authority, and says which certificate it replaces', async () => {
    const suggest = (from: number, to: number) => {
      const [start, end] = [from, to].map((ms) => new Date(clock.now() + ms).toISOString())
      authority.renewalInfo = { body: { suggestedWindow: { start, end } }, headers: { 'retry-after': '60' } }
    }
    suggest(10 * DAY_MS, 12 * DAY_MS)
    await stepUntil(open(), isProven)
    await open().step(ACCEPT)
    const { dueAt, lookAt, served } = first()
    assert.equal(Math.round((dueAt! - clock.now()) / DAY_MS), 11)
    assert.ok(lookAt <= clock.now() + MINUTE_MS)
    suggest(-2 * DAY_MS, -DAY_MS)
    clock.advance(MINUTE_MS)
    await stepUntil(open(), (one) => one.served!.n !== served!.n)
    const [, second] = authority.requests.filter(({ path }) => path === '/neworder')
    assert.match(String(second!.payload!.replaces), /^[\w-]{20,}\.[\w-]+$/)
  })

  it('keeps its date while renewal information is malformed', async () => {
    authority.renewalInfo = { body: { suggestedWindow: { start: 'soon', end: 'late' } } }
    const { dueAt } = await stepUntil(open(), isProven)
    await open().step(ACCEPT)
    assert.deepEqual([first().dueAt, first().failures], [dueAt, 0])
  })

  it('waits 1, 5 and 15 minutes after failures, then for the hour; a Retry-After is kept', async () => {
    authority.proof = { problem: { type: 'urn:ietf:params:acme:error:dns', detail: 'no\u0007 such\nname\u202e' } }
    const minutes: number[] = []
    for (let failure = 1; failure <= 3; failure++) {
      const { lookAt, reason } = await stepUntil(open(), ({ failures }) => failures === failure)
      assert.match(reason!, /could not prove mail\.acme\.test by http-01: no such name$/)
      minutes.push(Math.round((lookAt - clock.now()) / MINUTE_MS))
      // The authority of the test has the real time.
      clock.advance(MINUTE_MS)
      await db.write((tx) => tx.run('UPDATE certificates SET look_at = ?', [clock.now()]))
    }
    assert.deepEqual(minutes, [1, 5, 15])
    await open().step(ACCEPT)
    assert.match(first().reason!, /limits of the authority/)
    assert.ok(first().lookAt > clock.now() + 50 * MINUTE_MS)
    authority.refuse('/neworder', 'rateLimited', { status: 429, headers: { 'retry-after': '86000' } })
    await db.write((tx) => tx.run("UPDATE certificates SET failed_at = '[]', look_at = 0"))
    const { lookAt } = await stepUntil(open(), ({ failures }) => failures === 4)
    assert.equal(Math.round((lookAt - clock.now()) / 1000), 86_000)
  })

  it('is issued at most three times a week', async () => {
    await stepUntil(open(), isProven)
    await renewed()
    await renewed()
    const { at } = db.read.get<{ at: number }>('SELECT min(issued_at) AS at FROM certificate_versions')!
    await open().renew(HOST)
    await open().step(ACCEPT)
    assert.equal(first().lookAt, at + 7 * DAY_MS)
    assert.equal(authority.count('/neworder'), 3)
  })

  it('is not ordered while the clock is in doubt, or off that of the authority', async () => {
    isHeld = true
    assert.equal(await open().step(ACCEPT), 0)
    isHeld = false
    clock.set(Date.now() + 6 * MINUTE_MS)
    await open().step(ACCEPT)
    assert.match(first().reason!, /The clock differs from that of the authority by 6 minutes/)
    assert.equal(authority.count('/neworder'), 0)
  })

  it('waits for names that lead elsewhere or that CAA forbids, and orders the others', async () => {
    const again = async (env = {}) => {
      await db.write((tx) => tx.run('UPDATE certificates SET look_at = 0'))
      await open(env).step(ACCEPT)
      return first()
    }
    authority.meta = { caaIdentities: ['ours.test'] }
    const issue = (value: string) => [{ flags: 0, tag: 'issue', value }]
    zone.test = { CAA: issue('others.test') }
    const { reason } = await again()
    assert.match(reason ?? '', /CAA records of test do not allow .* Add: test CAA 0 issue "ours.test"/)
    for (const forbidden of [
      issue('ours.test; accounturi=https://x'),
      issue(';'),
      [{ flags: 128, tag: 'x', value: '' }],
    ]) {
      zone[HOST] = { A: ['192.0.2.1'], CAA: forbidden }
      assert.match((await again()).reason!, /CAA records of mail.acme.test/)
    }
    zone[HOST] = { A: ['192.0.2.1'], CAA: issue('OURS.test') }
    zone[SECOND] = { A: ['192.0.2.1'], AAAA: ['2001:db8::9'], CAA: issue('ours.test') }
    const two = { MAIL_HOSTS: `${HOST},${SECOND}` }
    await again(two)
    const { served } = await stepUntil(open(two), isProven)
    assert.deepEqual(served!.names, [HOST])
    zone[SECOND] = { A: ['192.0.2.1'], CAA: issue('ours.test') }
    await again(two)
    const both = await stepUntil(open(two), (one) => one.served!.names.length === 2)
    assert.deepEqual(both.served!.names, [HOST, SECOND])
  })

  it('fails alone, and goes when its name goes', async () => {
    const origin = 'https://app.acme.test'
    const certificates = open({ HTTPS_PORT: '443', APP_ORIGIN: origin, SEND_ORIGIN: origin })
    await stepUntil(certificates, isProven)
    assert.match(certificates.get('app.acme.test').reason!, /no address in DNS/)
    assert.ok(certificates.isProven(HOST) && !certificates.isProven('app.acme.test'))
    const fewer = open()
    await fewer.step(ACCEPT)
    assert.deepEqual(
      fewer.list().map(({ name }) => name),
      [HOST],
    )
  })

  it('gets a new key on demand, and the version before is revoked once the new one is proven', async () => {
    const { served } = await stepUntil(open(), isProven)
    const next = await renewed(open(), { revoke: true })
    assert.notEqual(next.served!.keyDigest, served!.keyDigest)
    const revoked = authority.requests.filter(({ path }) => path === '/revoke')
    assert.deepEqual(
      revoked.map(({ payload }) => payload!.reason),
      [1],
    )
    const row = db.read.get<{ state: string }>('SELECT state FROM certificate_versions WHERE n = ?', [served!.n])
    assert.equal(row!.state, 'revoked')
  })

  it('asks for the profile of the settings, and says which ones there are', async () => {
    authority.meta = { profiles: { classic: '90 days', shortlived: '6 days' } }
    const { reason } = await stepUntil(open({ ACME_PROFILE: 'longlived' }), hasFailed)
    assert.match(reason!, /no profile longlived: it has classic, shortlived/)
    const right = open({ ACME_PROFILE: 'shortlived' })
    await right.renew(HOST)
    await stepUntil(right, isProven)
    assert.equal(authority.requests.find(({ path }) => path === '/neworder')!.payload!.profile, 'shortlived')
  })

  it('is ordered first at the authority for tests, where one is known', async () => {
    await using staging = await ScriptedAuthority.start()
    await stepUntil(open({}, { rehearsals: new Map([[authority.directory, staging.directory]]) }), isProven)
    assert.deepEqual([staging.count('/neworder'), staging.count('/finalize')], [1, 0])
    assert.deepEqual([authority.count('/neworder'), authority.count('/finalize')], [1, 1])
  })

  it('opens another account, when the authority has forgotten the one it had', async () => {
    await stepUntil(open(), isProven)
    authority.refuse('/neworder', 'accountDoesNotExist')
    await open().renew(HOST)
    await stepUntil(open(), hasFailed)
    await open().renew(HOST)
    await stepUntil(open(), (one) => isProven(one) && one.failures === 0)
    assert.equal(authority.count('/account'), 2)
  })

  it('survives an authority that misbehaves: each failure is a sentence, and bounded', async () => {
    const json = 'application/json'
    const cases: [path: string, body: string, type: string, status: number, message: RegExp][] = [
      ['/dir', 'x'.repeat(ACME_ANSWER_MAX + 10), json, 200, /too large/],
      ['/dir', '[]', json, 200, /unusable directory/],
      ['/dir', '{"newNonce":"http://127.0.0.1/n"}', json, 200, /unusable directory/],
      ['/dir', '<html>', 'text/html', 502, /status 502/],
      ['/neworder', '{}', json, 201, /URL of the order/],
      ['/order/', '{"status":"odd"}', json, 200, /unusable order/],
      ['/authz/', '{"status":"pending"}', json, 200, /unusable authorization/],
      ['/certificate/', '{}', json, 200, /another type than PEM/],
    ]
    for (const [path, body, type, status, message] of cases) {
      authority.instead.push({
        path,
        reply: (_, res) => void res.writeHead(status, { 'content-type': type }).end(body),
      })
      const { reason } = await stepUntil(open(), hasFailed)
      assert.match(reason!, message, path)
      await db.write((tx) => tx.run("UPDATE certificates SET failed_at = '[]', failures = 0, look_at = 0"))
    }
  })

  it('gives an order up that is not decided within an hour', async () => {
    authority.proof = 'pending'
    await stepUntil(open(), ({ state }) => state === 'ordered')
    clock.advance(HOUR_MS + MINUTE_MS)
    const { reason, state } = await stepUntil(open(), hasFailed)
    assert.match(reason!, /did not decide on the order within an hour/)
    assert.equal(state, 'absent')
  })
})
