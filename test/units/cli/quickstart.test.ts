// `mailstead quickstart`: from an empty folder to a server whose records are all there, with a scripted name server.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { type LocalDns, type Names, startDns, type Zone } from '../../support/dns.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'

const ADDRESS = '198.41.0.4'
const SIX = '2001:500:2f::f'
const HOST = 'mail.harbour.org'
const ARGUMENTS = ['quickstart', 'ana@harbour.org', '--address', ADDRESS, '--address', SIX, '--keep-ports']
/** The world around the domain: reverse names, a large mail service, and lists that pass their test. */
const WORLD: Zone = {
  '4.0.41.198.in-addr.arpa': { PTR: [HOST] },
  '2.0.0.127.bl.spamcop.net': { A: ['127.0.0.2'] },
  '4.0.41.198.bl.spamcop.net': { A: ['127.0.0.2'] },
  '2.0.0.127.psbl.surriel.com': { A: ['127.0.0.2'] },
  'zen.spamhaus.org': {},
  '2.0.0.127.zen.spamhaus.org': { A: ['127.255.255.254'] },
}

let root: string
let dns: LocalDns
let service: MailServer
let cli: Commands
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-quickstart-'))
  service = await startMailServer()
  const large = { 'gmail.com': { MX: [{ priority: 5, exchange: '127.0.0.1' }] } }
  dns = await startDns({ ...WORLD, ...large, 'harbour.org': { MX: [{ priority: 1, exchange: 'mx.old-host.net' }] } })
  cli = new Commands({ DATA_DIR: join(root, 'data'), DNS_SERVERS: dns.address, DIRECT_PORT: String(service.port) })
})
after(async () => {
  await dns.close()
  await service[Symbol.asyncDispose]()
  await rm(root, { recursive: true })
})

const findingsOf = (json: Json, check: string): string[] =>
  json.findings.filter((one: Json) => one.check === check).map((one: Json) => `${one.level} ${one.says}`)

test('without a yes it says what it found and would do, and changes nothing', async () => {
  const { code, out, err } = await cli.run(...ARGUMENTS)
  assert.equal(code, 1)
  assert.match(err[0]!, /Nothing was changed\. Run it again with --yes/)
  assert.ok(out.includes('+    MAIL_HOSTS=mail.harbour.org'), out.join('\n'))
  assert.ok(out.includes('+    APP_ORIGIN=https://mail.harbour.org'), out.join('\n'))
  assert.equal(existsSync(join(root, 'data', 'mail.db')), false)
  assert.equal(existsSync(join(root, 'data', 'settings.json')), false)
})

test('an empty folder gets settings, owner and domain, and every record is named', async () => {
  const seen = await cli.json(...ARGUMENTS, '--yes')
  assert.equal(seen.mail_host, HOST)
  assert.deepEqual(findingsOf(seen, 'address'), [
    `ok ${ADDRESS} leads back to ${HOST}.`,
    `warn ${SIX} has no PTR record. It is not used for sending.`,
  ])
  assert.deepEqual(findingsOf(seen, 'exchange'), ['warn Mail for harbour.org goes to mx.old-host.net now.'])
  assert.deepEqual(findingsOf(seen, 'listing'), [
    'warn Spamhaus ZEN was not checked: it does not answer this resolver.',
    `warn SpamCop lists ${ADDRESS}.`,
    'ok PSBL lists none of the addresses of this machine.',
  ])
  assert.match(findingsOf(seen, 'port_25_out')[0]!, /^ok .*direct delivery is possible/)
  assert.deepEqual(seen.settings, {
    MAIL_HOSTS: HOST,
    APP_ORIGIN: `https://${HOST}`,
    SEND_ORIGIN: `https://${HOST}`,
    HTTPS_PORT: '8443',
    ACME: 'on',
    ACME_EMAIL: 'ana@harbour.org',
    DIRECT_IPV6: 'false',
  })
  assert.equal(JSON.parse(await readFile(join(root, 'data', 'settings.json'), 'utf8')).DIRECT_IPV6, false)
  assert.match(seen.owner_link, /^https:\/\/mail\.harbour\.org\/\S+$/)
  assert.deepEqual(
    [seen.domain_status, seen.mailbox_id, seen.app_password, seen.is_ready],
    ['pending', null, null, false],
  )
  const types = new Set(seen.records.map(({ type }: Json) => type))
  assert.deepEqual(types, new Set(['TXT', 'A', 'AAAA', 'MX', 'CNAME', 'SRV', 'CAA']))
  assert.equal(seen.records.at(-1).purpose, 'mx', 'the record that moves mail is the last one')
  // A service that is not offered needs no record.
  const published = seen.records.filter(({ is_published }: Json) => is_published)
  assert.deepEqual(new Set(published.map(({ value }: Json) => value)), new Set(['0 0 0 .']))
})

test('with the records published the mailbox is created once, with its app password', async () => {
  const { zone_file } = await cli.json(...ARGUMENTS, '--yes')
  dns.zone = { ...dns.zone, ...zoneOf(zone_file) }
  const seen = await cli.json(...ARGUMENTS, '--yes')
  const missing = seen.records.filter(({ is_published }: Json) => !is_published)
  assert.deepEqual(missing, [])
  assert.deepEqual([seen.domain_status, seen.is_ready, seen.settings], ['verified', true, {}])
  assert.match(seen.app_password, /^\S+([ -]\S+)+$/)
  assert.equal(seen.owner_link, null)
  assert.deepEqual(findingsOf(seen, 'exchange'), ['ok Mail for harbour.org comes to this server.'])
})

test('a later run changes nothing, asks nothing and prints no secret', async () => {
  const seen = await cli.json(...ARGUMENTS)
  assert.deepEqual([seen.settings, seen.owner_link, seen.app_password, seen.is_ready], [{}, null, null, true])
  const { code, out } = await cli.run(...ARGUMENTS)
  assert.equal(code, 0, out.join('\n'))
  assert.equal(out.at(-1), 'Every record is there. To check from outside: mailstead doctor --outside')
  assert.ok(
    out.some((line) => /^ok +MX +harbour\.org +MX: receives mail +10 mail\.harbour\.org$/.test(line)),
    out.join('\n'),
  )
  assert.deepEqual((await cli.json('mailbox', 'app-password', 'list', 'ana@harbour.org')).length, 1)
})

test('where port 25 is closed outwards it leads to a relay, until one is connected', async () => {
  const closed = new Commands({ DATA_DIR: join(root, 'data'), DNS_SERVERS: dns.address, DIRECT_PORT: '1' })
  const seen = await closed.json(...ARGUMENTS)
  assert.match(findingsOf(seen, 'port_25_out')[0]!, /^fail Port 1 of other mail servers does not answer/)
  assert.equal(seen.needs_sending_account, true)
  const { out } = await closed.run(...ARGUMENTS)
  assert.equal(out.at(-4), 'Mail arrives.')
  assert.match(out.at(-2)!, /^ +mailstead provider create --name Relay/)
  await closed
    .given('secret')
    .json('provider', 'create', '--name', 'Relay', '--smtp-host', 'smtp.relay.test', '--smtp-username', 'me')
  assert.equal((await closed.json(...ARGUMENTS)).needs_sending_account, false)
})

test('a signed zone gets no TLSA record for a key that the first certificate replaces', async () => {
  dns.zone = { ...dns.zone, 'harbour.org': { ...dns.zone['harbour.org'], DS: [12345] } }
  const { records } = await cli.json(...ARGUMENTS)
  assert.ok(!records.some(({ type }: Json) => type === 'TLSA'))
})

test('what is no address and no name is refused', async () => {
  await cli.refused(['quickstart', 'ana'], 'email')
  await cli.refused(['quickstart', 'ana@harbour.org', '--address', 'here'], '--address')
  await cli.refused(['quickstart', 'ana@harbour.org', '--host', 'mail'], '--host')
})

/** The records of a zone file in the form of the scripted name server. */
function zoneOf(file: string): Zone {
  const zone: Zone = {}
  for (const line of file.split('\n').slice(1).filter(Boolean)) {
    const [owner, , type, ...rest] = line.split('\t')
    const value = rest.join('\t')
    const name = owner!.replace(/\.$/, '').replace('*', 'any')
    zone[name] = { ...zone[name], ...namesOf(type!, value, zone[name]) }
  }
  return zone
}

function namesOf(type: string, value: string, { TXT = [], MX = [], A = [], AAAA = [] }: Names = {}): Names {
  const words = value.split(' ')
  const host = words.at(-1)!.replace(/\.$/, '')
  if (type === 'TXT')
    return { TXT: [...TXT, [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!).join('')] }
  if (type === 'MX') return { MX: [...MX, { priority: Number(words[0]), exchange: host }] }
  if (type === 'A') return { A: [...A, value] }
  if (type === 'AAAA') return { AAAA: [...AAAA, value] }
  if (type === 'CNAME') return { CNAME: host }
  if (type === 'CAA') return { CAA: [{ flags: 0, tag: words[1]!, value: words[2]!.replaceAll('"', '') }] }
  const [priority, weight, port] = words.map(Number)
  return { SRV: [{ priority: priority!, weight: weight!, port: port!, target: host || '.' }] }
}
