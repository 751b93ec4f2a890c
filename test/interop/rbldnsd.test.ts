// Blocklists of rbldnsd: listed hosts and domains count, allowlists speak for a host, and wrong or silent lists say nothing.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { openLog } from '../../src/base/log.ts'
import { openResolver, type Resolver } from '../../src/base/resolver.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Blocklists } from '../../src/inbound/blocklists.ts'
import { checkSpamFilters } from '../../src/maintenance/doctor/spam-filters.ts'
import { startDns } from '../support/dns.ts'
import { eventually } from '../support/eventually.ts'
import { missingProgram } from '../support/programs.ts'

const skip = missingProgram('rbldnsd', ['-h'])
const LISTS = {
  'bl.test': ['ip4set', '127.0.0.2\n192.0.2.7\n'],
  'wl.test': ['ip4set', '127.0.0.2\n192.0.2.9\n'],
  'all.test': ['ip4set', '0.0.0.0/0\n'],
  'limit.test': ['ip4set', ':127.255.255.254:limit\n127.0.0.2\n192.0.2.7\n'],
  'dbl.test': ['dnset', 'test\n.bad.example\n'],
} as const

let folder: string
let server: ChildProcess
let resolver: Resolver

before(async () => {
  if (skip) return
  folder = mkdtempSync(join(tmpdir(), 'mailstead-rbldnsd-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  for (const [name, [, text]] of Object.entries(LISTS)) writeFileSync(join(folder, name), text)
  const zones = Object.entries(LISTS).map(([name, [kind]]) => `${name}:${kind}:${join(folder, name)}`)
  const path = `${process.env.PATH}:/usr/sbin`
  server = spawn(
    'rbldnsd',
    ['-n', '-b', `127.0.0.1/${port}`, ...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), ...zones],
    {
      env: { ...process.env, PATH: path },
      stdio: 'ignore',
    },
  )
  resolver = openResolver({ servers: [`127.0.0.1:${port}`], clock: systemClock })
  await eventually(async () => (await resolver.fresh('2.0.0.127.bl.test', 'A').catch(() => [])).length > 0)
})
after(async () => {
  if (skip) return
  await resolver.close()
  server.kill()
  await once(server, 'exit')
  rmSync(folder, { recursive: true })
})

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

interface Lists {
  DNSBL?: string[]
  DNSWL?: string[]
  DOMAIN_BLOCKLISTS?: string[]
}

async function factsOf(
  lists: Lists,
  address: string,
  domains: string[] = [],
  asked: Pick<Resolver, 'resolve'> = resolver,
) {
  const config = { DNSBL: [], DNSWL: [], DOMAIN_BLOCKLISTS: [], ...lists }
  const blocklists = new Blocklists({ config, resolver: asked, clock: systemClock, log: openLog('silent') })
  return (await blocklists.ask(address, domains)).map(({ name, detail }) => [name, detail])
}

test('a listed host counts, another does not, and an allowlist speaks for its hosts', { skip }, async () => {
  assert.deepEqual(await factsOf({ DNSBL: ['bl.test'] }, '192.0.2.7'), [['host_listed', 'bl.test']])
  assert.deepEqual(await factsOf({ DNSBL: ['bl.test'] }, '::ffff:192.0.2.7'), [['host_listed', 'bl.test']])
  assert.deepEqual(await factsOf({ DNSBL: ['bl.test'] }, '192.0.2.8'), [])
  assert.deepEqual(await factsOf({ DNSBL: ['bl.test'] }, '2001:db8::1'), [])
  assert.deepEqual(await factsOf({ DNSBL: ['bl.test'], DNSWL: ['wl.test'] }, '192.0.2.9'), [
    ['host_welcome', 'wl.test'],
  ])
})

test('domains of links and authors are looked up, and count once', { skip }, async () => {
  const domains = ['good.example', 'bad.example', 'www.bad.example']
  const facts = await factsOf({ DOMAIN_BLOCKLISTS: ['dbl.test'] }, '192.0.2.1', domains)
  assert.deepEqual(
    facts.map(([name]) => name),
    ['domain_listed'],
  )
})

test('a list that lists everything, refuses the question or is gone says nothing', { skip }, async () => {
  assert.deepEqual(await factsOf({ DNSBL: ['all.test'] }, '192.0.2.7'), [])
  assert.deepEqual(await factsOf({ DNSBL: ['limit.test'] }, '192.0.2.7'), [])
  assert.deepEqual(await factsOf({ DNSBL: ['gone.test'] }, '192.0.2.7'), [])
})

test('the doctor says which lists and filters are not used, and why', { skip }, async () => {
  const DNSBL = ['bl.test', 'all.test', 'limit.test']
  const lists = { DNSBL, DNSWL: [], DOMAIN_BLOCKLISTS: ['dbl.test'], RSPAMD_URL: '', CLAMAV_HOST: '127.0.0.1:9' }
  const config = { ...loadConfig({}, 'no-such-file.json'), ...lists }
  const findings = await checkSpamFilters({ config, resolver, clock: systemClock })
  assert.deepEqual(
    findings.map(({ level, says }) => [level, says.split(' ').slice(0, 2).join(' ')]),
    [
      ['ok', 'bl.test passes'],
      ['warn', 'all.test lists'],
      ['warn', 'limit.test refuses'],
      ['ok', 'dbl.test passes'],
      ['warn', 'ClamAV does'],
    ],
  )
  const none = { ...config, DNSBL: [], DOMAIN_BLOCKLISTS: [], CLAMAV_HOST: '' }
  const [hint] = await checkSpamFilters({ config: none, resolver, clock: systemClock })
  assert.match(hint!.says, /terms of use/)
})

test('a server that does not answer is not waited for', async () => {
  await using dns = await startDns({
    '2.0.0.127.slow.test': { error: 'silent' },
    '1.0.0.127.slow.test': { error: 'silent' },
  })
  const silent = openResolver({ servers: [dns.address], clock: systemClock })
  try {
    assert.deepEqual(await factsOf({ DNSBL: ['slow.test'] }, '192.0.2.7', [], silent), [])
  } finally {
    await silent.close()
  }
})
