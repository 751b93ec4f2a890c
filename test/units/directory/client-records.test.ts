// The DNS records for mail programs: what is recommended, and what counts as found.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientListener } from '../../../src/config/client-listeners.ts'
import type { Config } from '../../../src/config/config.ts'
import { checkClientRecords, clientRecords } from '../../../src/directory/names/client-records.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'

function configOf(served: ClientListener[], more: Partial<Config> = {}): Config {
  const names = { MAIL_HOSTS: ['mx.mail.example'], CLIENT_HOST: '', APP_ORIGIN: 'https://app.mail.example' }
  return { ...names, CLIENT_PUBLIC_PORTS: [993, 143, 1465, 587, 4190], CLIENT_PROTOCOLS: served, ...more } as Config
}

const valuesOf = (config: Config) => clientRecords('a.org', config).map(({ name, value }) => `${name} ${value}`)

test('protocols that are not served are declared so; a trial has no name for its documents', () => {
  assert.deepEqual(valuesOf(configOf(['imaps', 'submissions', 'managesieve'], { CLIENT_HOST: 'imap.mail.example' })), [
    '_imaps._tcp.a.org 0 1 993 imap.mail.example',
    '_imap._tcp.a.org 0 0 0 .',
    '_submissions._tcp.a.org 0 1 1465 imap.mail.example',
    '_submission._tcp.a.org 0 0 0 .',
    '_sieve._tcp.a.org 0 1 4190 imap.mail.example',
    '_autodiscover._tcp.a.org 0 1 443 app.mail.example',
    'autoconfig.a.org app.mail.example',
    'autodiscover.a.org app.mail.example',
  ])
  const port = valuesOf(configOf(['imaps'], { APP_ORIGIN: 'https://app.mail.example:8443' }))
  assert.ok(port.includes('_autodiscover._tcp.a.org 0 1 8443 app.mail.example'))
  assert.ok(port.includes('_imaps._tcp.a.org 0 1 993 mx.mail.example'))
  for (const origin of ['http://127.0.0.1:8080', 'http://[::1]:8080', 'http://localhost:8080'])
    assert.equal(valuesOf(configOf(['imaps'], { APP_ORIGIN: origin })).length, 5, origin)
  assert.deepEqual(valuesOf(configOf([])), [])
})

test('a record is found by its target; priority and weight are free', async () => {
  const records = clientRecords('a.org', configOf(['imaps', 'imap']))
  const check = async (zone: Zone) =>
    Object.fromEntries(
      (await checkClientRecords(zoneResolver(zone), records)).map(({ name, ok, found }) => [
        name.split('.')[0],
        ok ? 'ok' : found,
      ]),
    )
  const srv = (port: number, target: string) => ({ SRV: [{ priority: 5, weight: 3, port, target }] })
  assert.deepEqual(await check({}), {
    ...{ _imaps: [], _imap: [], _submissions: 'ok', _submission: 'ok', _sieve: 'ok' },
    ...{ _autodiscover: [], autoconfig: [], autodiscover: [] },
  })
  const zone: Zone = {
    '_imaps._tcp.a.org': srv(993, 'MX.mail.example'),
    '_imap._tcp.a.org': srv(1143, 'mx.mail.example'),
    '_submissions._tcp.a.org': srv(465, 'smtp.isp.net'),
    '_submission._tcp.a.org': { SRV: [{ priority: 0, weight: 0, port: 0, target: '.' }] },
    '_sieve._tcp.a.org': { error: 'servfail' },
    'autoconfig.a.org': { CNAME: 'App.mail.example' },
    'autodiscover.a.org': { A: ['192.0.2.1'] },
    'app.mail.example': { A: ['192.0.2.1', '192.0.2.2'] },
  }
  assert.deepEqual(await check(zone), {
    ...{ _imaps: 'ok', _imap: ['5 3 1143 mx.mail.example'], _submissions: ['5 3 465 smtp.isp.net'] },
    ...{ _submission: 'ok', _sieve: 'ok', _autodiscover: [], autoconfig: 'ok', autodiscover: 'ok' },
  })
  zone['autoconfig.a.org'] = { CNAME: 'autoconfig.isp.net' }
  zone['autodiscover.a.org'] = { A: ['192.0.2.9'] }
  const other = await check(zone)
  assert.deepEqual([other.autoconfig, other.autodiscover], [['autoconfig.isp.net'], ['192.0.2.9']])
})
