// `npm run demo`: it ends on an address that signs the owner in, to a console with messages in every state.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import type { Json } from '../support/appliance.ts'
import { SAME_ORIGIN } from '../support/person.ts'
import { ROOT } from '../support/source.ts'

const DAY_MS = 86_400_000
let demo: ChildProcess
let address: URL
let cookie = ''
let team = ''
const lines: string[] = []

before(async () => {
  demo = spawn(process.execPath, [join(ROOT, 'scripts/demo.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  address = new URL(await lastAddress())
})
after(() => demo.kill('SIGKILL'))

/** The address after the heading of the console. @throws Error when the demo ends before */
async function lastAddress(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout! })) {
    lines.push(line.trim())
    if (/\/owner\/session\//.test(line)) return line.trim().replace(/^.*?(http)/, '$1')
  }
  throw new Error(`The demo ended:\n${lines.join('\n')}`)
}

const ask = async (path: string): Promise<Json> => {
  const reply = await fetch(new URL(path, address), { headers: { ...SAME_ORIGIN, cookie } })
  assert.equal(reply.status, 200, path)
  return ((await reply.json()) as Json).data
}

test('the address is the last line, and signs in once: the owner of the team, who operates the server', async () => {
  const page = await (await fetch(address)).text()
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)![1]!
  const signIn = () => fetch(address, { method: 'POST', body: new URLSearchParams({ csrf }), redirect: 'manual' })
  const reply = await signIn()
  assert.deepEqual([reply.status, reply.headers.get('location')], [303, '/console'])
  cookie = reply.headers.get('set-cookie')!.split(';')[0]!
  assert.equal((await signIn()).status, 410)
  const self = await ask('/me/v1/self')
  assert.deepEqual([self.is_operator, self.teams.length, self.teams[0].role], [true, 1, 'owner'])
  team = self.teams[0].id
  const shell = await (await fetch(new URL('/console', address), { headers: { cookie } })).text()
  assert.match(shell, /<script type="module" src="\/assets\//, 'the pages are built')
})

test('the console has something to show on every page', async () => {
  const of = (path: string) => ask(`/as/${team}/api/v1${path}`)
  const count = async (path: string) => (await of(path)).length
  for (const status of ['sent', 'pending', 'failed', 'rejected'])
    assert.ok((await count(`/emails/logs?status=${status}`)) > 0, status)
  for (const status of ['stored', 'junk', 'refused'])
    assert.ok((await count(`/inbound/logs?status=${status}`)) > 0, status)
  for (const path of ['/mailboxes', '/team/members', '/api-keys', '/suppressions', '/delivery-groups'])
    assert.ok((await count(path)) > 0, path)
  const domains = (await of('/domains')) as { checks_ok: boolean | null }[]
  assert.deepEqual(new Set(domains.map(({ checks_ok }) => checks_ok === true)), new Set([true, false]))
  const accounts = (await of('/providers')) as { status: string }[]
  assert.deepEqual(new Set(accounts.map(({ status }) => status)), new Set(['active', 'error']))
  const webhooks = (await of('/webhooks')) as { id: string; description: string }[]
  const crm = webhooks.find(({ description }) => description === 'Customer database')!
  const attempts = (await of(`/webhooks/${crm.id}/deliveries`)) as { result: string }[]
  assert.deepEqual([...new Set(attempts.map(({ result }) => result))].sort(), ['retrying', 'success'])
  const { points } = await of(
    `/emails/metrics/timeseries?interval=day&from_date=${new Date(Date.now() - 12 * DAY_MS).toISOString()}`,
  )
  const busy = points.filter(({ totals }: Json) => totals.received > 0 && totals.sent > 0)
  assert.ok(busy.length >= 12, `${busy.length} days with mail`)
  assert.ok((await ask('/as/operator/queue')).length > 0)
  assert.ok((await ask('/as/operator/teams')).length > 1)
})

test('Ctrl-C ends it and deletes its data', async () => {
  const folder = (await ask('/as/operator/settings')).find(({ name }: Json) => name === 'DATA_DIR').value as string
  assert.ok(existsSync(folder))
  demo.kill('SIGINT')
  assert.deepEqual(await once(demo, 'exit'), [0, null])
  assert.ok(!existsSync(folder))
})
