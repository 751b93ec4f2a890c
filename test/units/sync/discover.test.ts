// The servers of an address: known providers, SRV records, configuration files; what may not be believed is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostResult } from '../../../src/base/safe-fetch.ts'
import type { Config } from '../../../src/config/config.ts'
import { discoverServers, readAutoconfig } from '../../../src/sync/accounts/discover.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'

const MAIL = 'ana@firm.example'

const FILE = `<?xml version="1.0"?>
<clientConfig version="1.1"><emailProvider id="firm.example"><domain>firm.example</domain>
<incomingServer type="pop3"><hostname>pop.firm.example</hostname><port>995</port><socketType>SSL</socketType></incomingServer>
<incomingServer type="imap"><hostname>plain.firm.example</hostname><port>143</port><socketType>plain</socketType></incomingServer>
<incomingServer type="imap"><hostname>imap.%EMAILDOMAIN%</hostname><port>993</port><socketType>SSL</socketType>
<username>%EMAILLOCALPART%</username></incomingServer>
<outgoingServer type="smtp"><hostname>smtp.firm.example</hostname><port>587</port><socketType>STARTTLS</socketType>
<username>%EMAILADDRESS%</username></outgoingServer></emailProvider></clientConfig>`

function discover(zone: Zone, files: Record<string, string> = {}, email = MAIL, clientId = '') {
  const asked: string[] = []
  const get = async (url: string): Promise<PostResult> => {
    asked.push(url)
    const body = files[new URL(url).hostname] ?? null
    const isThere = body !== null
    return {
      status: isThere ? 200 : 404,
      body,
      retryAfter: null,
      accepted: isThere,
      mayAskToWait: false,
      problem: null,
      text: null,
    }
  }
  const deps = { resolver: zoneResolver(zone), config: { GOOGLE_CLIENT_ID: clientId } as Config, fetch: { get } }
  return discoverServers(deps, email).then((found) => ({ found, asked }))
}

test('known providers are found by the domain, and by the MX of a domain of their customers', async () => {
  const { found, asked } = await discover({}, {}, 'ana@gmail.com', 'client')
  assert.deepEqual([found.source, found.auth, found.imap?.host], ['known', 'google', 'imap.gmail.com'])
  assert.deepEqual(asked, [])
  assert.equal((await discover({}, {}, 'ana@gmail.com')).found.auth, 'password')
  const mx = (exchange: string): Zone => ({ 'firm.example': { MX: [{ priority: 10, exchange }] } })
  assert.equal((await discover(mx('firm-example.mail.protection.outlook.com'))).found.auth, 'microsoft')
  assert.equal((await discover(mx('notgoogle.com'))).found.source, 'none')
})

test('SRV records of the domain itself are believed, the best first', async () => {
  const record = (target: string, priority = 10) => ({ priority, weight: 0, port: 993, target })
  const zone: Zone = {
    '_imaps._tcp.firm.example': {
      SRV: [record('b.firm.example', 20), record('a.firm.example'), record('evil.example', 1)],
    },
    '_submission._tcp.firm.example': { SRV: [{ ...record('s.firm.example'), port: 587 }] },
  }
  assert.deepEqual((await discover(zone)).found, {
    ...{ auth: 'password', source: 'srv' },
    imap: { host: 'a.firm.example', port: 993, protocol: 'ssl', username: null },
    smtp: { host: 's.firm.example', port: 587, protocol: 'starttls', username: null },
  })
  const elsewhere: Zone = { '_imaps._tcp.firm.example': { SRV: [record('evil.example'), record('.')] } }
  assert.equal((await discover(elsewhere)).found.source, 'none')
})

test('configuration files are read over HTTPS, with TLS servers alone', async () => {
  const { found, asked } = await discover({}, { 'autoconfig.firm.example': FILE })
  assert.deepEqual(found, {
    ...{ auth: 'password', source: 'autoconfig' },
    imap: { host: 'imap.firm.example', port: 993, protocol: 'ssl', username: 'ana' },
    smtp: { host: 'smtp.firm.example', port: 587, protocol: 'starttls', username: null },
  })
  assert.ok(asked.length === 3 && asked.every((url) => url.startsWith('https://')))
})

for (const [what, xml] of [
  ['a page', '<html><body>Not found</body></html>'],
  ['nothing', ''],
  ['half a file', FILE.slice(0, 200)],
  ['a host that is none', FILE.replace('imap.%EMAILDOMAIN%', 'a b').replace('smtp.firm.example', 'evil/..')],
  ['ports that are none', FILE.replaceAll(/<port>\d+/g, '<port>99999')],
  [
    'entities without end',
    `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>${FILE.replaceAll('SSL', '&b;').replaceAll('STARTTLS', '&b;')}`,
  ],
  ['names of the prototype', '<clientConfig><__proto__><emailProvider/></__proto__><constructor/></clientConfig>'],
] as const) {
  test(`a configuration file with ${what} gives nothing`, async () => {
    assert.equal(await readAutoconfig(xml, MAIL), null)
  })
}
