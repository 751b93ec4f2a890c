// Setting up a mail program by an address alone: Thunderbird, Outlook and Apple ask over HTTP, without a credential.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, beforeEach, test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'

const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  env: { CLIENT_HOST: 'imap.in.test', CLIENT_PROTOCOLS: 'imaps,submissions' },
})
after(() => appliance.close())
// All documents share the limit of a source.
beforeEach(() => clock.advance(60_000))
const team = await appliance.team()
await team.domain('in.test')
await team.domain('bücher.test')
await team.mailbox('ana@in.test')

const CONFIG = '/mail/config-v1.1.xml'
const WELL_KNOWN = '/.well-known/autoconfig/mail/config-v1.1.xml'
const XML = '/autodiscover/autodiscover.xml'
const OUTLOOK = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a'

interface Response {
  status: number
  type: string
  text: string
}

/** With a Host of the caller's choice, which fetch does not allow. */
function ask(
  path: string,
  {
    host,
    method = 'GET',
    body,
    headers = {},
  }: {
    host?: string
    method?: string
    body?: string
    headers?: Record<string, string>
  } = {},
): Promise<Response> {
  return new Promise((done, failed) => {
    const named = host === undefined ? {} : { host }
    const sent = request(appliance.origin + path, { method, headers: { ...named, ...headers } }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      done({ status: response.statusCode!, type: response.headers['content-type'] ?? '', text })
    })
    sent.on('error', failed)
    sent.end(body)
  })
}

function discover(
  email: string,
  { path = XML, schema = OUTLOOK, type = 'text/xml; charset=utf-8' } = {},
): Promise<Response> {
  const body = `<Autodiscover><Request><EMailAddress>${email}</EMailAddress><AcceptableResponseSchema>${schema}</AcceptableResponseSchema></Request></Autodiscover>`
  // Programs that know a password send it along.
  const headers = { 'content-type': type, authorization: 'Basic YW5hOnNlY3JldA==' }
  return ask(path, { method: 'POST', body, headers })
}

test('Thunderbird finds the settings by the address, the Host, or both', async () => {
  const byAddress = await ask(`${CONFIG}?emailaddress=ana%40in.test`)
  assert.equal(byAddress.status, 200)
  assert.equal(byAddress.type, 'text/xml; charset=utf-8')
  assert.match(
    byAddress.text,
    /<emailProvider id="in\.test">[\s\S]*<hostname>imap\.in\.test<\/hostname>\s*<port>993<\/port>/,
  )
  for (const [path, host] of [
    [CONFIG, 'autoconfig.in.test'],
    [CONFIG, 'AutoConfig.In.Test:8080'],
    [WELL_KNOWN, 'in.test'],
    // The name of the MX of a domain leads here as well: the address decides.
    [`${CONFIG}?emailaddress=ana@in.test`, 'autoconfig.elsewhere.test'],
    [`${WELL_KNOWN}?emailaddress=not.here@IN.test`, 'autoconfig.in.test'],
    [`${WELL_KNOWN}?emailaddress=%25EMAILADDRESS%25@in.test`, 'in.test'],
  ] as const) {
    assert.deepEqual(await ask(path, { host }), byAddress, `${path} at ${host}`)
  }
  const international = await ask(`${CONFIG}?emailaddress=${encodeURIComponent('ana@bücher.test')}`)
  assert.match(international.text, /<domain>xn--bcher-kva\.test<\/domain>/)
})

test('domains that are not verified here are not found, in every form', async () => {
  const pending = await appliance.call('POST', '/domains', team.key, { domain: 'pending-shop.com' })
  assert.equal(pending.status, 201)
  const strangers = ['ana@elsewhere.test', 'ana@pending-shop.com', 'ana@', 'ana@-x-', `ana@${'a'.repeat(250)}.test`, '']
  for (const email of strangers) {
    const query = encodeURIComponent(email)
    assert.equal((await ask(`${CONFIG}?emailaddress=${query}`)).status, 404, email)
    assert.equal((await ask(`/autodiscover/autodiscover.json?Email=${query}`)).status, 404, email)
    assert.equal((await discover(email)).status, 404, email)
  }
  for (const host of ['elsewhere.test', 'autoconfig.elsewhere.test', 'autoconfig.', '[::1]'])
    assert.equal((await ask(WELL_KNOWN, { host })).status, 404, host)
  assert.equal((await ask('/mail-setup/profile.mobileconfig?address=ana%40elsewhere.test')).status, 404)
})

/** Identifiers in a profile follow from the address. */
const withoutIds = (response: Response) => JSON.stringify(response).replaceAll(/[0-9a-f]{8}-?[0-9a-f-]{8,27}/g, '')

test('whether an address exists makes no difference', async () => {
  const same = async (get: (email: string) => Promise<Response>) => {
    const known = await get('ana@in.test')
    const unknown = await get('xyz@in.test')
    assert.deepEqual(JSON.parse(withoutIds(unknown).replaceAll('xyz', 'ana')), JSON.parse(withoutIds(known)))
  }
  await same((email) => ask(`${CONFIG}?emailaddress=${email}`))
  await same((email) => ask(`/autodiscover/autodiscover.json?Email=${email}&Protocol=AutodiscoverV1`))
  await same((email) => ask(`/mail-setup/profile.mobileconfig?address=${email}`))
  await same((email) => discover(email))
})

test('Outlook finds the settings by POST, whatever the case of the path', async () => {
  const found = await discover('ana@in.test')
  assert.equal(found.status, 200)
  assert.equal(found.type, 'text/xml; charset=utf-8')
  assert.match(
    found.text,
    /<Type>IMAP<\/Type>\s*<Server>imap\.in\.test<\/Server>\s*<Port>993<\/Port>\s*<LoginName>ana@in\.test</,
  )
  for (const path of [
    '/Autodiscover/Autodiscover.xml',
    '/AutoDiscover/AutoDiscover.xml',
    '/AUTODISCOVER/AUTODISCOVER.XML',
  ])
    assert.deepEqual(await discover('ana@in.test', { path }), found, path)
  assert.deepEqual(await discover('ana@in.test', { type: 'application/xml' }), found)
  const mobile = 'http://schemas.microsoft.com/exchange/autodiscover/mobilesync/responseschema/2006'
  const other = await discover('ana@in.test', { schema: mobile })
  assert.equal(other.status, 404)
  assert.match(other.text, /<ErrorCode>601<\/ErrorCode>/)
  assert.match((await discover('ana@elsewhere.test')).text, /<ErrorCode>500<\/ErrorCode>/)
  assert.equal((await ask(XML)).status, 405)
})

test('a request of Outlook has at most 16 KiB', async () => {
  const request = (bytes: number) => discover(`ana@in.test</EMailAddress>${' '.repeat(bytes)}<x>`)
  assert.equal((await request(15_000)).status, 200)
  const large = await request(17_000)
  assert.equal(large.status, 413)
  assert.match(large.text, /<Error /)
})

test('the second version of Autodiscover leads to the first', async () => {
  const url = `${appliance.origin}${XML}`
  for (const query of [
    'Email=ana@in.test&Protocol=AutodiscoverV1&RedirectCount=1',
    'email=ana%40in.test&protocol=autodiscoverv1',
  ]) {
    const { status, text } = await ask(`/autodiscover/autodiscover.json?${query}`)
    assert.deepEqual([status, JSON.parse(text)], [200, { Protocol: 'AutodiscoverV1', Url: url }])
  }
  for (const path of ['/autodiscover/autodiscover.json/v1.0', '/Autodiscover/Autodiscover.json/V1.0']) {
    for (const query of ['?Protocol=AutodiscoverV1', '?protocol=autodiscoverv1&RedirectCount=1', '']) {
      const { status, text } = await ask(`${path}/ana%40in.test${query}`)
      assert.deepEqual([status, JSON.parse(text)], [200, { Protocol: 'AutodiscoverV1', Url: url }], path + query)
    }
    const rest = await ask(`${path}/ana@in.test?Protocol=Rest`)
    assert.deepEqual([rest.status, JSON.parse(rest.text).ErrorCode], [400, 'ProtocolNotSupported'])
    assert.equal((await ask(`${path}/ana@nowhere.test?Protocol=AutodiscoverV1`)).status, 404)
  }
  const other = await ask('/Autodiscover/autodiscover.json?Email=ana@in.test&Protocol=ActiveSync')
  assert.deepEqual([other.status, JSON.parse(other.text).ErrorCode], [400, 'ProtocolNotSupported'])
})

test('a page says what to enter', async () => {
  const { status, text } = await ask('/mail-setup')
  assert.equal(status, 200)
  assert.match(text, /<td>Incoming \(IMAP\)<\/td><td><code>imap\.in\.test<\/code><\/td><td>993<\/td><td>TLS \(SSL\)</)
  assert.match(text, /<td>Outgoing \(SMTP\)<\/td><td><code>imap\.in\.test<\/code><\/td><td>465</)
  assert.match(text, /<form method="get" action="\/mail-setup\/profile\.mobileconfig">/)
  assert.doesNotMatch(text, /<script/)
})

test('the profile is downloaded as what Apple devices open; an address that is none is refused', async () => {
  const path = '/mail-setup/profile.mobileconfig?address='
  const { headers, status } = await fetch(`${appliance.origin}${path}ana%2Bx%40in.test`)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/x-apple-aspen-config; charset=utf-8')
  assert.match(headers.get('content-disposition')!, /^attachment; filename="mail\.mobileconfig"$/)
  for (const wrong of ['', 'ana', '%3Cb%3E@in.test', 'a@b@in.test']) {
    const { status: answered, text } = await ask(path + wrong)
    assert.deepEqual([answered, text.includes('<b>')], [422, false], wrong)
  }
})

test('60 requests of a source in a minute are answered', async () => {
  const path = `${CONFIG}?emailaddress=ana@in.test`
  for (let times = 0; times < 20; times++) {
    assert.equal((await ask(path)).status, 200)
    assert.equal((await ask('/mail-setup')).status, 200)
    assert.equal((await discover('ana@in.test')).status, 200)
  }
  for (const one of [path, '/mail-setup', '/autodiscover/autodiscover.json']) assert.equal((await ask(one)).status, 429)
  clock.advance(60_000)
  assert.equal((await ask(path)).status, 200)
})
