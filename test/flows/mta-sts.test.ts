// MTA-STS from both sides: the policy of a domain here is served at port 443, set to enforce after a look, and obeyed by a sender.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { openResolver } from '../../src/base/resolver.ts'
import { openGuardedDirect } from '../../src/outbound/transports/direct/direct.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { carrierConfig, handover, shortOutcomes, wordsOf } from '../support/carriers.ts'
import { missingProgram } from '../support/programs.ts'
import { issueCertificate } from '../support/tls-authority.ts'

const FIRST_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start'

/** For node:test's `skip`: policies are fetched at port 443 (RFC 8461 §3.3). */
function portMissing(): false | string {
  if (process.getuid?.() === 0 || Number(readFileSync(FIRST_PORT, 'utf8')) <= 443) return false
  return 'port 443 needs root'
}

describe('MTA-STS', { skip: portMissing() || missingProgram('openssl', ['version']) }, () => {
  // An address of its own: other tests may use port 443 at the same time.
  const address = `127.${randomInt(2, 250)}.${randomInt(250)}.${randomInt(2, 250)}`
  let folder: string
  let appliance: TestAppliance
  let team: TestTeam
  let id: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mailstead-sts-'))
    const hosts = ['mx.in.test', 'app.in.test', 'mta-sts.in.test']
    const { authority, cert, key } = await issueCertificate(folder, hosts)
    const tls = { EXTRA_CA_FILE: authority, TLS_CERT_FILE: cert, TLS_KEY_FILE: key }
    const origins = { HTTPS_PORT: '443', APP_ORIGIN: 'https://app.in.test', SEND_ORIGIN: 'https://app.in.test' }
    const at = { HTTP_BIND: address, SMTP_BIND: address, MAIL_HOSTS: 'mx.in.test', ALLOW_PRIVATE_SMTP_HOSTS: 'true' }
    const A = [address]
    appliance = await startAppliance({
      env: { ...tls, ...origins, ...at },
      zone: { 'mx.in.test': { A }, 'app.in.test': { A }, 'mta-sts.in.test': { CNAME: 'app.in.test' } },
    })
    team = await appliance.team()
    id = await team.domain('in.test')
    await team.mailbox('bob@in.test')
  })
  after(async () => {
    await appliance?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Over HTTPS at the address of the appliance. */
  function asked(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${team.key}`, 'content-type': 'application/json' }
    const options = { host: address, port: 443, path, method, headers, servername: 'app.in.test' }
    return new Promise((resolve, reject) => {
      const asking = request({ ...options, headers: { ...headers, host: 'app.in.test' } }, (res) => {
        let text = ''
        res.setEncoding('utf8').on('data', (part) => (text += part))
        res.on('end', () => resolve({ status: res.statusCode!, text }))
      })
      asking.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
  const path = () => `/api/v1/domains/${id}/mta-sts`
  const record = async () => {
    const { text } = await asked('GET', `/api/v1/domains/${id}`)
    return (JSON.parse(text).data.dns_records.tls as { name: string; value: string }[])[0]!
  }

  it('is in testing at first, and not enforced while mail would not arrive', async () => {
    const { text } = await asked('GET', path())
    const { mode, policy, checks } = JSON.parse(text).data
    assert.equal(mode, 'testing')
    assert.equal(policy, 'version: STSv1\r\nmode: testing\r\nmx: mx.in.test\r\nmax_age: 86400\r\n')
    assert.deepEqual(
      checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ check }: { check: string }) => check),
      ['record', 'mx'],
      text,
    )
    const refused = await asked('PUT', path(), { mode: 'enforce' })
    assert.equal(refused.status, 409)
    assert.match(refused.text, /_mta-sts\.in\.test has no record\. Publish: v=STSv1; id=[0-9a-f]{24}/)
    appliance.dns.zone['in.test'] = {
      MX: [
        { priority: 10, exchange: 'mx.in.test' },
        { priority: 20, exchange: 'old.in.test' },
      ],
    }
    appliance.dns.zone['_mta-sts.in.test'] = { TXT: [(await record()).value] }
    assert.match(
      (await asked('PUT', path(), { mode: 'enforce' })).text,
      /old\.in\.test of in\.test is not in MAIL_HOSTS/,
    )
  })

  it('is enforced after a look, and the record gets another id', async () => {
    appliance.dns.zone['in.test'] = { MX: [{ priority: 10, exchange: 'mx.in.test' }] }
    const before = await record()
    const set = await asked('PUT', path(), { mode: 'enforce' })
    assert.equal(set.status, 200, set.text)
    assert.equal(JSON.parse(set.text).data.mta_sts_mode, 'enforce')
    const next = await record()
    assert.notEqual(next.value, before.value)
    appliance.dns.zone[next.name] = { TXT: [next.value] }
  })

  it('is obeyed by a sender, which fetches it from there', async () => {
    const { app, ports, dns } = appliance
    const resolver = openResolver({ servers: [dns.address], clock: systemClock })
    const config = carrierConfig({ DIRECT_PORT: String(ports.smtp) })
    const { db, log } = app
    const direct = openGuardedDirect({ clock: systemClock, config, resolver, db, log })
    const sent = await direct.hand(handover({ recipients: ['bob@in.test'] }))
    assert.deepEqual(shortOutcomes(sent), ['sent'])
    assert.match(wordsOf(sent), /certificate verified, as MTA-STS of in\.test requires\)$/)
    dns.zone['in.test'] = { MX: [{ priority: 10, exchange: 'other.in.test' }] }
    dns.zone['other.in.test'] = { A: [address] }
    delete dns.zone['_mta-sts.in.test']
    const moved = await direct.hand(handover({ recipients: ['bob@in.test'] }))
    assert.equal(wordsOf(moved), 'MTA-STS of in.test does not name other.in.test as a mail server.')
    await direct.close()
    await resolver.close()
  })
})
