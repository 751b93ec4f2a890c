// A clock that is years off erases and expires nothing, is reported, and is trusted again when it is correct or accepted.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openScheduler } from '../../src/jobs/scheduler.ts'
import { data, receive, walk } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'
import { type PersonClient, signInMember } from '../support/person.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const YEARS_MS = 10 * 365 * DAY_MS

const zone = {
  'slow.example': { MX: [{ priority: 10, exchange: 'mx.slow.example' }], TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  'mx.slow.example': { A: ['127.0.0.1'] },
}

interface Seeded {
  team: string
  key: string
  start: number
}

async function send(appliance: TestAppliance, key: string, to: string): Promise<void> {
  const message = { from: { email: 'ana@shop.test' }, to: { email: to }, subject: 'Wait', text_body: 'Hello.' }
  const path = `${appliance.sendOrigin}/api/v1/emails/send/batch`
  const { summary } = data<{ summary: object }>(await appliance.call('POST', path, key, { messages: [message] }))
  assert.deepEqual(summary, { total: 1, queued: 1, failed: 0 })
  await appliance.settle()
}

/** A message in Trash, rows of both logs, and a message that waits because the server of its recipient says "later". */
async function seed(appliance: TestAppliance, clock: ManualClock): Promise<Seeded> {
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  await receive(appliance, { to: ana.email, subject: 'Thrown' })
  const [thrown] = await walk<{ id: string }>(appliance, '/mailbox/messages', ana.key)
  data(await appliance.call('DELETE', `/mailbox/messages/${thrown!.id}`, ana.key))
  await send(appliance, team.key, 'bob@slow.example')
  return { team: team.key, key: ana.key, start: clock.now() }
}

async function runJobs(appliance: TestAppliance): Promise<void> {
  await appliance.settle()
  const scheduler = openScheduler(appliance.app)
  await scheduler.settle()
  await appliance.settle()
}

/** What age could have taken. */
async function left(appliance: TestAppliance, { team, key }: Seeded) {
  const inbound = (await appliance.get('/inbound/logs', team)).body.data.length
  const sent = (await appliance.get('/emails/logs', team)).body.data.map(({ status }: { status: string }) => status)
  const messages = (await walk(appliance, '/mailbox/messages?in_trash_or_junk=true', key)).length
  const blobs = (await appliance.app.store.blobs.hashes()).length
  return { inbound, sent, messages, blobs }
}

async function open(t: TestContext, clock: ManualClock, dataDir?: string) {
  const remote = await startMailServer({
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error('4.2.0 Later.'), { responseCode: 450 })),
  })
  t.after(() => remote[Symbol.asyncDispose]())
  const env = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port), TRASH_RETENTION_DAYS: '30' }
  const appliance = await startAppliance({ clock, zone, env, dataDir })
  t.after(() => appliance.close())
  return { appliance, remote }
}

const readiness = async (appliance: TestAppliance) => (await appliance.get(`${appliance.origin}/readyz`)).body

for (const [name, jump] of [
  ['forward', YEARS_MS],
  ['back', -YEARS_MS],
] as const) {
  test(`a clock that is set ${name} while the appliance runs deletes nothing, and recovers when it is corrected`, async (t) => {
    const clock = new ManualClock()
    const { appliance, remote } = await open(t, clock)
    const seeded = await seed(appliance, clock)
    clock.leap(HOUR_MS)
    await appliance.settle()
    const before = await left(appliance, seeded)
    assert.deepEqual(before, { inbound: 1, sent: ['pending'], messages: 1, blobs: 2 })
    clock.set(clock.now() + jump)
    await runJobs(appliance)
    clock.leap(HOUR_MS)
    await runJobs(appliance)
    assert.deepEqual(await left(appliance, seeded), before)
    const { status, details } = await readiness(appliance)
    assert.equal(status, 'ok')
    assert.match(details[0], new RegExp(`3650 days ${jump > 0 ? 'after' : 'before'} .* on hold\\.$`))
    // Accepted with a wrong time: it must neither expire nor wait for years because of it.
    await send(appliance, seeded.team, 'eve@slow.example')

    clock.set(clock.now() - jump)
    const tries = remote.connections
    await runJobs(appliance)
    assert.deepEqual(await readiness(appliance), { status: 'ok' })
    assert.equal(appliance.app.guard.isHeld(), false)
    assert.deepEqual((await left(appliance, seeded)).sent, ['pending', 'pending'])
    clock.leap(7 * HOUR_MS)
    await appliance.settle()
    assert.ok(remote.connections > tries, 'what waits is tried again')
    clock.leap(3 * DAY_MS)
    await appliance.settle()
    clock.leap(40 * DAY_MS)
    await runJobs(appliance)
    assert.deepEqual((await left(appliance, seeded)).messages, 0, 'retention goes on')
    assert.ok(!(await left(appliance, seeded)).sent.includes('pending'), 'so does expiry')
  })
}

test('a scheduled message does not leave by a clock in doubt, and leaves at its time', async (t) => {
  const clock = new ManualClock()
  const accepting = await startMailServer()
  t.after(() => accepting[Symbol.asyncDispose]())
  const env = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(accepting.port) }
  const appliance = await startAppliance({ clock, zone, env })
  t.after(() => appliance.close())
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const post = async (subject: string, sendAt: number | null) => {
    const message = { to: [{ email: 'bob@slow.example' }], subject, text_body: 'Hello.' }
    const send_at = sendAt === null ? {} : { send_at: new Date(sendAt).toISOString() }
    data(await appliance.call('POST', '/mailbox/messages/send', ana.key, { ...message, ...send_at }), 202)
    await appliance.settle()
  }
  const arrived = () =>
    accepting.messages.map(({ bytes }) => /^Subject: (.*)\r$/m.exec(bytes.toString())![1]).toSorted()
  await post('Tomorrow', clock.now() + DAY_MS)
  clock.set(clock.now() + YEARS_MS)
  await runJobs(appliance)
  clock.advance(HOUR_MS)
  await runJobs(appliance)
  await post('Now', null)
  assert.deepEqual(arrived(), ['Now'])
  clock.set(clock.now() - YEARS_MS)
  await runJobs(appliance)
  assert.deepEqual(arrived(), ['Now'])
  clock.leap(DAY_MS)
  await runJobs(appliance)
  assert.deepEqual(arrived(), ['Now', 'Tomorrow'])
})

test('a scheduled message is shown as such and can be cancelled while the clock is in doubt', async (t) => {
  const clock = new ManualClock()
  const { appliance } = await open(t, clock)
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const send_at = new Date(clock.now() + DAY_MS).toISOString()
  const message = { to: [{ email: 'bob@slow.example' }], subject: 'Tomorrow', text_body: 'Hello.', send_at }
  const sent = data<{ submission_id: string }>(
    await appliance.call('POST', '/mailbox/messages/send', ana.key, message),
    202,
  )
  const path = `/mailbox/submissions/${sent.submission_id}`
  clock.set(clock.now() + YEARS_MS)
  await runJobs(appliance)
  const { status, undo_status } = data<{ status: string; undo_status: string }>(await appliance.get(path, ana.key))
  assert.deepEqual([status, undo_status], ['scheduled', 'pending'])
  const cancelled = data<{ status: string }>(await appliance.call('POST', `${path}/cancel`, ana.key))
  assert.equal(cancelled.status, 'canceled')
})

test('a jump of the clock neither starts nor ends a vacation response', async (t) => {
  const clock = new ManualClock()
  const { appliance } = await open(t, clock)
  const team = await appliance.team()
  await team.domain('shop.test')
  const [ana, bea] = [await team.mailbox('ana@shop.test'), await team.mailbox('bea@shop.test')]
  const away = async (key: string, from: number, to: number) => {
    const dates = { from_date: new Date(from).toISOString(), to_date: new Date(to).toISOString() }
    const response = { is_enabled: true, text_body: 'I am away.', ...dates }
    data(await appliance.call('PUT', '/mailbox/vacation-response', key, response))
  }
  await away(ana.key, clock.now() - DAY_MS, clock.now() + DAY_MS)
  await away(bea.key, clock.now() + YEARS_MS - DAY_MS, clock.now() + YEARS_MS + DAY_MS)
  clock.set(clock.now() + YEARS_MS)
  await runJobs(appliance)
  for (const { email } of [ana, bea]) await receive(appliance, { from: 'bob@slow.example', to: email })
  await appliance.settle()
  const sql = "SELECT from_email AS email FROM emails WHERE source = 'system'"
  assert.deepEqual(appliance.app.db.read.all(sql), [{ email: ana.email }])
})

test('a jump of the clock ends no session, and gives none a longer life', async (t) => {
  const clock = new ManualClock()
  const { appliance } = await open(t, clock)
  const team = await appliance.team()
  const earlier = await signInMember(appliance, team.id, 'owner', 'ana@people.example')
  const past = await signInMember(appliance, team.id, 'owner', 'bea@people.example')
  const status = async (client: PersonClient) => (await client.get('/me/v1/self')).status
  clock.set(clock.now() + YEARS_MS)
  assert.equal(await status(earlier), 200)
  const meanwhile = await signInMember(appliance, team.id, 'owner', 'cai@people.example')
  clock.set(clock.now() - YEARS_MS)
  await runJobs(appliance)
  assert.equal(await status(meanwhile), 200)
  clock.leap(13 * HOUR_MS)
  assert.deepEqual([await status(past), await status(meanwhile)], [401, 401], 'after twelve hours')
  clock.set(clock.now() - YEARS_MS)
  assert.equal(await status(past), 401, 'none comes back')
})

test('a wrong clock at the start stops time-dependent deletion until it is accepted', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-clock-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const clock = new ManualClock()
  const { appliance } = await open(t, clock, dataDir)
  const seeded = await seed(appliance, clock)
  const before = await left(appliance, seeded)
  await appliance.close()

  const later = new ManualClock(clock.now() + 60 * DAY_MS)
  const { appliance: again } = await open(t, later, dataDir)
  await runJobs(again)
  later.leap(HOUR_MS)
  await runJobs(again)
  assert.deepEqual(await left(again, seeded), before)
  assert.match((await readiness(again)).details[0], /60 days after/)
  await again.app.appliance.acceptClock()
  await runJobs(again)
  assert.deepEqual(await readiness(again), { status: 'ok' })
  assert.equal((await left(again, seeded)).messages, 0)
  await again.close()
})

test('a pause of a day and a clock corrected by hours are not jumps', async (t) => {
  const clock = new ManualClock()
  const { appliance } = await open(t, clock)
  clock.set(clock.now() + 47 * HOUR_MS)
  assert.equal(appliance.app.guard.isHeld(), false)
  await appliance.settle()
  clock.set(clock.now() + 47 * HOUR_MS)
  assert.equal(appliance.app.guard.isHeld(), false, 'what was seen last is the corrected time')
  clock.leap(400 * DAY_MS)
  assert.equal(appliance.app.guard.isHeld(), false, 'this time has passed')
})

test('the commands detect a clock jump with and without a running appliance', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-clock-'))
  t.after(() => rm(root, { recursive: true }))
  const dataDir = join(root, 'data')
  const cli = new Commands({ DATA_DIR: dataDir, DNS_SERVERS: '127.0.0.1:9' })
  const { appliance } = await open(t, new ManualClock(Date.now() - 30 * DAY_MS), dataDir)
  const finding = async () => {
    const { out } = await cli.run('doctor', '--json')
    return JSON.parse(out[0]!).findings.find(({ check }: { check: string }) => check === 'clock_jump')
  }
  const running = await finding()
  assert.deepEqual([running.level, /30 days after/.test(running.says)], ['warn', true])
  await appliance.close()
  assert.equal((await finding()).level, 'warn')
  const { accepted } = await cli.json('clock', 'accept')
  assert.equal(accepted, true)
  assert.equal((await finding()).level, 'ok')
  assert.equal((await cli.json('clock', 'accept')).accepted, false)
})
