// SPF by cases of our own, and by the suites of others where the fixtures are: RFC 7208's, additions of pyspf, and those of another server.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { arrival } from '../../support/arrivals.ts'
import { type Names, type Zone, zoneResolver } from '../../support/dns.ts'
import { fixtureJson, fixtures, fixturesMissing } from '../../support/fixtures.ts'
import { SPF, type SpfSuite } from '../../vectors/spf.ts'

const TYPES = ['A', 'AAAA', 'MX', 'TXT', 'PTR', 'CNAME'] as const

async function spf(zone: Zone, asked: { helo?: string; host: string; mailfrom: string }) {
  const given = arrival({ helo: asked.helo ?? '', remoteAddress: asked.host, mailFrom: asked.mailfrom })
  const { verdict } = await authenticate(Buffer.from('Subject: x\r\n\r\n'), given, zoneResolver(zone))
  return verdict
}

/** SPF stands for TXT unless a name has TXT records of its own; TIMEOUT for what is not listed. */
function zoneOf(suite: SpfSuite): Zone {
  const zone: Zone = {}
  for (const [name, entries] of Object.entries(suite.zonedata)) {
    const names: Names = {}
    zone[name.toLowerCase()] = names
    const records = entries.filter((entry) => typeof entry === 'object')
    for (const record of records) {
      for (const [type, value] of Object.entries(record)) {
        if (type === 'SPF' && records.some((other) => 'TXT' in other)) continue
        add(names, type === 'SPF' ? 'TXT' : type, value)
      }
    }
    if (entries.includes('TIMEOUT')) {
      const fault: Partial<Record<string, 'silent'>> = {}
      for (const type of TYPES) if (names[type] === undefined) fault[type] = 'silent'
      names.error = fault
    }
  }
  return zone
}

function add(names: Names, type: string, value: unknown): void {
  if (value === 'NONE') return
  if (type === 'TXT') names.TXT = [...(names.TXT ?? []), value as string | string[]]
  else if (type === 'CNAME') names.CNAME = (value as string).replace(/\.$/, '')
  else if (type === 'MX') {
    const [priority, exchange] = value as [number, string]
    names.MX = [...(names.MX ?? []), { priority, exchange: exchange || '.' }]
  } else if (type === 'A' || type === 'AAAA' || type === 'PTR') names[type] = [...(names[type] ?? []), value as string]
  else throw new Error(`unknown type ${type}`)
}

/** Cases in which RFC 7208 and the suite differ: what the RFC says, and where. */
const NOT_OURS = new Map<string, [result: string, reason: string]>([
  ['default-modifier-harsh', ['neutral', 'section 6: "default=" is unknown and ignored; 4.7: nothing matched']],
  ['all.yml: test.org 10.0.0.1', ['permerror', 'section 4.6: "ip:" is no mechanism, an error anywhere counts']],
  ['ip.yml: test.org 10.1.2.3 (IPv6 match)', ['fail', 'section 5: an ip6 term never matches an IPv4 client']],
])

const FILES = ['rfc7208-tests.json', 'pyspf-extra.json'].flatMap((file) =>
  fixtureJson<(Omit<SpfSuite, 'description'> & { description?: string })[]>(`spf/${file}`).map((suite) => ({
    ...suite,
    description: suite.description ?? file,
  })),
)
for (const suite of [...SPF, ...FILES]) {
  const zone = zoneOf(suite)
  for (const [name, asked] of Object.entries(suite.tests)) {
    test(`${suite.description}: ${name}`, async () => {
      const verdict = await spf(zone, asked)
      const expected = NOT_OURS.get(name)?.[0] ?? asked.result
      assert.ok([expected].flat().includes(verdict.spf), `${verdict.spf}: ${verdict.spfReason}`)
    })
  }
}

/**
 * Reads the line format of mail-auth: records and the state of a question; each `expect` asks with what holds by then.
 * An MX is given by the addresses of its hosts.
 */
async function askLines(
  text: string,
  ask: (zone: Zone, state: Map<string, string>, expected: string) => Promise<void>,
) {
  let zone: Zone = {}
  let state = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line.startsWith('---')) {
      zone = {}
      state = new Map()
    }
    const [, key, value] = /^[ -]*([a-z]+): (.*?) *$/.exec(line) ?? []
    if (key === undefined || value === undefined) continue
    if (key === 'expect') await ask(zone, state, value.split(' ')[0]!)
    else if (['a', 'mx', 'ptr', 'spf', 'exp'].includes(key)) record(zone, key, value)
    else state.set(key, value)
  }
}

function record(zone: Zone, key: string, line: string): void {
  const [name, value] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
  const at = (owner: string): Names => {
    zone[owner.toLowerCase()] ??= {}
    return zone[owner.toLowerCase()]!
  }
  if (key === 'spf' || key === 'exp') at(name).TXT = [value]
  else if (key === 'a') at(name).A = value.split(', ')
  else if (key === 'ptr') at(`${name.split('.').reverse().join('.')}.in-addr.arpa`).PTR = [value]
  else {
    at(name).MX = value.split(', ').map((address, n) => {
      at(`host${n}.${name}`)[address.includes(':') ? 'AAAA' : 'A'] = [address]
      return { priority: n, exchange: `host${n}.${name}` }
    })
  }
}

test('every expectation of mail-auth', { skip: fixturesMissing('spf/mail-auth') }, async () => {
  let asked = 0
  for (const file of readdirSync(fixtures('spf/mail-auth')!).filter((name) => name.endsWith('.yml'))) {
    await askLines(readFileSync(fixtures(`spf/mail-auth/${file}`)!, 'utf8'), async (zone, state, expected) => {
      asked++
      const { spf: said, spfReason } = await spf(zone, {
        helo: state.get('domain')!,
        host: state.get('ip')!,
        mailfrom: state.get('sender')!,
      })
      const name = `${file}: ${state.get('domain')} ${state.get('ip')}`
      const other = NOT_OURS.get(name) ?? NOT_OURS.get(`${name} (${state.get('name')})`)
      assert.equal(said, other?.[0] ?? expected, `${name}: ${spfReason}`)
    })
  }
  assert.ok(asked >= 81, String(asked))
})

test('a domain with underscores is asked for, also by macros, and named in the evidence', async () => {
  const zone: Zone = {
    'a_1.news_letter.test': { TXT: ['v=spf1 exists:%{l}.%{d}.hosts.test -all'] },
    'ann.a_1.news_letter.test.hosts.test': { A: ['127.0.0.2'] },
  }
  const asked = { host: '192.0.2.1', helo: 'mx.test', mailfrom: 'ann@a_1.news_letter.test' }
  const verdict = await spf(zone, asked)
  assert.equal(verdict.spf, 'pass')
  assert.equal(verdict.spfDomain, 'a_1.news_letter.test')
  assert.match(verdict.spfReason, /^domain of ann@a_1\.news_letter\.test designates 192\.0\.2\.1/)
  const names = verdict.dns.map(({ name }) => name)
  assert.ok(names.includes('ann.a_1.news_letter.test.hosts.test'), names.join(' '))
  assert.equal((await spf(zone, { ...asked, mailfrom: 'eve@a_1.news_letter.test' })).spf, 'fail')
})
