// `mailstead domain publish` against Knot: the plan first, then the records, and what others wrote stays.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { ZoneView } from '../../src/dns/zone-view.ts'
import { freePorts, type Json } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { missingProgram } from '../support/programs.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')
const OTHER = Buffer.alloc(32, 8).toString('base64')
const KEY = `key "mail" {\n  algorithm hmac-sha256;\n  secret "${SECRET}";\n};\n`
const skip = missingProgram('knotd', ['--version'], 'knot')
const ZONE = `$ORIGIN harbour.org.
$TTL 60
@ SOA ns admin 1 60 60 3600 60
@ NS ns
ns A 127.0.0.1
@ TXT "google-site-verification=abc"
@ TXT "v=spf1 include:old-host.net" " -all"
@ MX 1 mx.old-host.net.
`

let root: string
let server: string
let cli: Commands
let view: ZoneView
let stop = async () => {}
before(async () => {
  if (skip !== false) return
  root = await mkdtemp(join(tmpdir(), 'mailstead-dns-update-'))
  const [port] = await freePorts()
  for (const name of ['zones', 'run', 'db']) await mkdir(join(root, name))
  await writeFile(join(root, 'zones', 'harbour.org.zone'), ZONE)
  await writeFile(join(root, 'knot.conf'), knotConf(port!))
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
  const knot = spawn('knotd', ['-c', join(root, 'knot.conf')], { env, stdio: 'ignore' })
  stop = async () => {
    knot.kill()
    await once(knot, 'exit')
  }
  server = `127.0.0.1:${port}`
  view = new ZoneView({ address: '127.0.0.1', port: port! }, systemClock)
  await eventually(async () => (await view.values('harbour.org', 'MX').catch(() => [])).length === 1)
  const settings = { MAIL_HOSTS: 'mail.harbour.org', DNS_SERVERS: server, ACME: 'off' }
  cli = new Commands({ DATA_DIR: join(root, 'data'), ...settings })
  await cli.json('team', 'create', '--name', 'Harbour')
  await cli.json('domain', 'add', 'harbour.org')
})
after(async () => {
  await stop()
  if (root !== undefined) await rm(root, { recursive: true })
})

const publish = (...more: string[]) =>
  cli.given(KEY).run('domain', 'publish', 'harbour.org', '--server', server, ...more)
const published = (...more: string[]) =>
  cli.given(KEY).json('domain', 'publish', 'harbour.org', '--server', server, ...more)
const stateOf = ({ records }: Json, wanted: string) =>
  records.filter(({ purpose }: Json) => purpose === wanted).map(({ state }: Json) => state)

test('without a yes it shows the changes and makes none', { skip }, async () => {
  const { code, out, err } = await publish()
  assert.equal(code, 1)
  assert.match(err.join('\n'), /Nothing was changed\. Run it again with --yes/)
  assert.ok(
    out.some((line) => /^keep +MX +harbour\.org .*there is 1 mx\.old-host\.net/.test(line)),
    out.join('\n'),
  )
  assert.ok(out.some((line) => /^keep +TXT +harbour\.org .*there is v=spf1 include:old-host\.net/.test(line)))
  assert.ok(out.some((line) => /^add +TXT +_mail-verify\.harbour\.org /.test(line)))
  assert.deepEqual(await view.values('_dmarc.harbour.org', 'TXT'), [])
})

test('a key that the server does not know changes nothing, and what is no key is refused', { skip }, async () => {
  for (const key of [KEY.replace(SECRET, OTHER), KEY.replace('"mail"', '"other"')]) {
    const command = ['domain', 'publish', 'harbour.org', '--server', server, '--yes']
    await cli.given(key).refused(command, /refuses the key: .* \((?:BADSIG|BADKEY)\)/)
  }
  assert.deepEqual(await view.values('_dmarc.harbour.org', 'TXT'), [])
  await cli.given('secret').refused(['domain', 'publish', 'harbour.org', '--server', server], 'no TSIG key')
  await cli.given(KEY).refused(['domain', 'publish', 'harbour.org', '--server', 'ns.harbour.org'], '--server')
})

test('missing records are added; those of others stay until they are named', { skip }, async () => {
  const first = await published('--yes')
  assert.deepEqual(stateOf(first, 'dkim'), ['present'])
  assert.deepEqual(stateOf(first, 'verification'), ['present'])
  assert.deepEqual([stateOf(first, 'spf'), stateOf(first, 'mx')], [['keep'], ['keep']])
  assert.deepEqual(await view.values('harbour.org', 'MX'), ['1 mx.old-host.net'])
  const second = await published('--yes', '--replace', 'spf', '--replace', 'mx')
  assert.ok(
    second.records.every(({ state }: Json) => state === 'present'),
    JSON.stringify(second.records),
  )
  assert.deepEqual(await view.values('harbour.org', 'MX'), ['10 mail.harbour.org'])
  const texts = await view.values('harbour.org', 'TXT')
  assert.equal(texts.length, 2)
  assert.ok(texts.includes('google-site-verification=abc'), 'what was not named stays')
  const again = await publish()
  assert.equal(again.code, 0, 'nothing is left to do')
})

function knotConf(port: number): string {
  return `server:
  listen: 127.0.0.1@${port}
  rundir: ${join(root, 'run')}
log:
  - target: stderr
    any: error
database:
  storage: ${join(root, 'db')}
key:
  - id: mail
    algorithm: hmac-sha256
    secret: ${SECRET}
acl:
  - id: update
    key: mail
    action: update
template:
  - id: default
    storage: ${join(root, 'zones')}
    file: "%s.zone"
zone:
  - domain: harbour.org
    acl: update
`
}
