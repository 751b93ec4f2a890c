// What the first set-up finds out and plans: addresses, ports, settings, and the records as a zone file.

import assert from 'node:assert/strict'
import { createPublicKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { sha256 } from '../../../src/base/secrets.ts'
import { selfSigned } from '../../../src/config/certificate.ts'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { dnsRecords } from '../../../src/directory/domains/dns-records.ts'
import type { Domain } from '../../../src/directory/domains/domain-record.ts'
import { checkListings } from '../../../src/maintenance/doctor/listings.ts'
import { confirmedName, findOwnAddresses, sendsOverIpv6 } from '../../../src/maintenance/quickstart/own-addresses.ts'
import { planSettings } from '../../../src/maintenance/quickstart/plan.ts'
import { checkFreePorts } from '../../../src/maintenance/quickstart/ports.ts'
import { isSigned } from '../../../src/maintenance/quickstart/published.ts'
import { issuerOf, setupRecords, zoneFile } from '../../../src/maintenance/quickstart/records.ts'
import { zoneResolver } from '../../support/dns.ts'

const settings = (env: Record<string, string> = {}): Config =>
  loadConfig({ DATA_DIR: '/nowhere', ...env }, '/nowhere.json')
const FOUR = { address: '198.41.0.4', isIpv6: false, names: ['mail.harbour.org'], isSure: true }
const SIX = { address: '2001:500:2f::f', isIpv6: true, names: [], isSure: true }

test('addresses are those of the interfaces, else those of the name, and lead back to a name', async () => {
  const zone = {
    'mail.harbour.org': { A: ['198.41.0.4', '10.0.0.1'] },
    '4.0.41.198.in-addr.arpa': { PTR: ['mail.harbour.org'] },
  }
  const resolver = zoneResolver(zone)
  const host = 'mail.harbour.org'
  const behind = await findOwnAddresses(resolver, { options: [], interfaces: [], host })
  assert.deepEqual(behind, [FOUR])
  const direct = await findOwnAddresses(resolver, { options: [], interfaces: ['2001:500:2f::f'], host })
  assert.deepEqual(direct, [SIX])
  assert.equal(await confirmedName(resolver, behind, 'harbour.org'), host)
  assert.equal(await confirmedName(zoneResolver({}), behind, 'harbour.org'), undefined, 'the name does not lead back')
})

test('mail leaves over IPv6 where it has a reverse name, or where there is nothing else', () => {
  assert.equal(sendsOverIpv6([FOUR, SIX]), false)
  assert.equal(sendsOverIpv6([FOUR, { ...SIX, names: ['six.harbour.org'] }]), true)
  assert.equal(sendsOverIpv6([SIX]), true)
})

test('settings are planned where they differ, and those set elsewhere are named', () => {
  const input = { host: 'mail.harbour.org', email: 'ana@harbour.org', addresses: [FOUR], keepsPorts: false }
  const fresh = planSettings(settings(), input)
  assert.deepEqual([fresh.settings.SMTP_PORT, fresh.settings.HTTPS_PORT, fresh.settings.ACME], [25, 443, 'on'])
  assert.deepEqual(fresh.planned.MAIL_HOSTS, ['mail.harbour.org'])
  const fixed = planSettings(settings({ MAIL_HOSTS: 'mx.harbour.org', SMTP_PORT: '25' }), input)
  assert.equal(fixed.settings.MAIL_HOSTS, undefined)
  assert.deepEqual(
    fixed.findings.map(({ level, says }) => `${level} ${says}`),
    ['warn MAIL_HOSTS is mx.harbour.org: the environment has it.'],
  )
  assert.deepEqual(planSettings(fresh.planned, input).settings, {}, 'a second run plans nothing')
  assert.deepEqual(planSettings(settings(), { ...input, host: 'mail.home.test' }).settings, {
    MAIL_HOSTS: ['mail.home.test'],
  })
  const proxied = planSettings(settings({ TRUSTED_PROXIES: '127.0.0.1' }), { ...input, keepsPorts: true })
  assert.equal(proxied.settings.HTTPS_PORT, undefined, 'HTTPS is the business of the proxy')
})

test('a port is free, served by Mailstead, or taken by a program that is named', async () => {
  const other = createServer((socket) => socket.resume().end('220 old.harbour.org ESMTP Postfix\r\n'))
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const env = { SMTP_PORT: String(port), SMTP_BIND: '127.0.0.1', HTTP_PORT: '0', CLIENT_BIND: '127.0.0.1' }
  const unused = { IMAPS_PORT: '0', SUBMISSIONS_PORT: '0', SUBMISSION_PORT: '0', MANAGESIEVE_PORT: '0' }
  const config = settings({ ...env, ...unused })
  const [taken] = await checkFreePorts(config, config, false)
  assert.equal(taken!.level, 'fail')
  assert.match(taken!.says, /taken by another program: it greets with "220 old\.harbour\.org ESMTP Postfix"/)
  const [served] = await checkFreePorts(config, config, true)
  assert.equal(served!.says, `Port ${port} (receiving mail) is served by Mailstead.`)
  await new Promise((done) => other.close(done))
  const [free] = await checkFreePorts(config, config, false)
  assert.equal(free!.level, 'ok')
})

test('a signed zone gets a TLSA record of the key, and long texts are cut into strings', async () => {
  const { cert } = await selfSigned('mail.harbour.org', 0, Date.UTC(2100, 0, 1))
  const config = settings({ MAIL_HOSTS: 'mail.harbour.org', APP_ORIGIN: 'https://mail.harbour.org', ACME: 'on' })
  const dkim = [{ name: 's1._domainkey.harbour.org', value: `v=DKIM1; k=rsa; p=${'A'.repeat(392)}` }]
  const input = { name: 'harbour.org', token: 'x', dkim, sesTokens: null, mtaStsMode: 'testing' as const }
  const domain = { name: 'harbour.org', records: dnsRecords(input, config) } as unknown as Domain
  const records = setupRecords({ config, domain, addresses: [FOUR, SIX], tlsaKey: cert, issuer: issuerOf(config) })
  const key = createPublicKey(new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'pem' }))
  const digest = sha256(key.export({ type: 'spki', format: 'der' })).toString('hex')
  const lines = zoneFile(records)
  assert.ok(lines.includes(`_25._tcp.mail.harbour.org.\tIN\tTLSA\t3 1 1 ${digest}`), lines.join('\n'))
  assert.ok(lines.includes('mail.harbour.org.\tIN\tCAA\t0 issue "letsencrypt.org"'), lines.join('\n'))
  assert.ok(lines.includes('harbour.org.\tIN\tMX\t10 mail.harbour.org.'), lines.join('\n'))
  const long = lines.find((line) => line.startsWith('s1._domainkey'))!
  const strings = [...long.matchAll(/"([^"]*)"/g)].map(([, text]) => text!)
  assert.deepEqual([strings.length, strings[0]!.length, strings.join('')], [2, 255, dkim[0]!.value])
  assert.equal(await isSigned(zoneResolver({ 'harbour.org': { DS: [7] } }), 'mail.harbour.org'), true)
  assert.equal(await isSigned(zoneResolver({ 'harbour.org': {} }), 'mail.harbour.org'), false)
})

test('a list is believed after its test only', async () => {
  const tests = { '2.0.0.127.psbl.surriel.com': { A: ['127.0.0.2'] } }
  const listed = zoneResolver({
    ...tests,
    '4.0.41.198.psbl.surriel.com': { A: ['127.0.0.2'] },
    'bl.spamcop.net': { A: ['127.0.0.2'] },
  })
  const findings = await checkListings(listed, [FOUR.address, '10.0.0.1'])
  assert.deepEqual(
    findings.map(({ says }) => says),
    [
      'Spamhaus ZEN was not checked: it does not answer this resolver.',
      'SpamCop was not checked: it does not answer this resolver.',
      'PSBL lists 198.41.0.4.',
    ],
  )
  assert.deepEqual(await checkListings(listed, ['10.0.0.1']), [])
})
