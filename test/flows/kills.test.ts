// Killed repeatedly while messages are received, sent to other servers and to local mailboxes, and reported to a webhook: then everything
// is counted. KILLS says how often; more than the suite takes by itself is for a night of testing.

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { UNCLAIMED_RETENTION_MS } from '../../src/store/content/blobs.ts'
import { data } from '../api/expect.ts'
import { amount } from '../support/amount.ts'
import { freePorts, type Json, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startDns } from '../support/dns.ts'
import { startHook } from '../support/hook.ts'
import { startMailServer } from '../support/mail-server.ts'
import { Random } from '../support/random.ts'
import { serve, servedEnv } from '../support/served.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages, sweepContent } from '../support/stored.ts'

const KILLS = Number(process.env.KILLS ?? amount(2, 6))
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
/** Clients that send at a time, by SMTP and through the API. */
const SMTP_CLIENTS = amount(1, 2)
const API_CLIENTS = amount(1, 2)
/** One received message in so many is long enough for the spool. */
const LONG_EVERY = 4
/** Deliveries in progress when a process dies: the server may have accepted them, and it was not recorded. */
const UNDER_WAY = 10
const MINUTE = 60_000
/** Between two requests of a client that was refused. */
const PAUSE_MS = 200

const zone = {
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  'mx.customer.example': { A: ['127.0.0.1'] },
  'hooks.test': { A: ['127.0.0.1'] },
}

interface Furnished {
  team: string
  key: string
  /** Ids of mailboxes: one for mail from outside, two for mail from here. */
  ina: string
  ben: string
  eve: string
}

/** Clients that do not give up before they have their answer. */
class Load {
  /** Subjects of messages from outside, and numbers of batches, that were answered. */
  readonly received: string[] = []
  readonly batches: number[] = []
  readonly #ports: { smtp: number; send: number }
  readonly #key: string
  #isOpen = Promise.withResolvers<void>()
  #isOver = false
  #answers = 0
  #reached = { count: Number.POSITIVE_INFINITY, resolve: () => {} }
  #numbers = 0

  constructor(ports: { smtp: number; send: number }, key: string) {
    this.#ports = ports
    this.#key = key
  }

  /** The appliance is open. */
  open(): void {
    this.#isOpen.resolve()
  }

  /** The appliance is about to be killed: failed clients wait for the next one. */
  shut(): void {
    this.#isOpen = Promise.withResolvers<void>()
  }

  /** Resolves when so many more answers have come. */
  answers(more: number): Promise<void> {
    return new Promise((resolve) => {
      this.#reached = { count: this.#answers + more, resolve }
    })
  }

  /** Works until `stop`, and then to the end of what was begun. */
  async run(): Promise<void> {
    const loop = async (work: (n: number) => Promise<void>) => {
      while (!this.#isOver) await work(++this.#numbers)
    }
    await Promise.all([
      ...Array.from({ length: SMTP_CLIENTS }, () => loop((n) => this.#receive(n))),
      ...Array.from({ length: API_CLIENTS }, () => loop((n) => this.#send(n))),
    ])
  }

  stop(): void {
    this.#isOver = true
  }

  async #receive(n: number): Promise<void> {
    const subject = `In ${n}`
    const from = 'bob@customer.example'
    const text = n % LONG_EVERY === 0 ? `${subject} ${'x'.repeat(900)}\r\n`.repeat(1300) : subject
    const content = plainMail({ from, to: 'ina@shop.test', subject, text, id: `${n}@customer.example` })
    await this.#untilAnswered(async () => {
      await using client = await SmtpClient.greet(this.#ports.smtp)
      return (await client.mail({ from, to: 'ina@shop.test', content })).code === 250
    })
    this.received.push(subject)
  }

  /** One message to others, one to a mailbox here, and one to both. */
  async #send(n: number): Promise<void> {
    const messageTo = (to: string, more = {}) => {
      return { from: { email: 'news@shop.test' }, to: { email: to }, subject: `Out ${n}`, text_body: 'Hello.', ...more }
    }
    const messages = [
      messageTo(`p${n}@customer.example`),
      messageTo('ben@shop.test'),
      messageTo('eve@shop.test', { cc: [{ email: `q${n}@customer.example` }] }),
    ]
    const headers = {
      ...{ 'content-type': 'application/json', authorization: `Bearer ${this.#key}` },
      ...{ 'idempotency-key': `batch-${n}` },
    }
    await this.#untilAnswered(async () => {
      const url = `http://127.0.0.1:${this.#ports.send}/api/v1/emails/send/batch`
      const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ messages }) })
      const body = (await reply.json()) as { data?: { summary: { queued: number } } }
      return reply.status === 200 && body.data?.summary.queued === messages.length
    })
    this.batches.push(n)
  }

  async #untilAnswered(ask: () => Promise<boolean>): Promise<void> {
    await this.#isOpen.promise
    while (!(await ask().catch(() => false))) {
      // The key of a request that a kill interrupted is locked for a minute: asking without a pause would be most of the work.
      await setTimeout(PAUSE_MS)
      await this.#isOpen.promise
    }
    if (++this.#answers >= this.#reached.count) this.#reached.resolve()
  }
}

async function furnish(dataDir: string, hookUrl: string, env: Record<string, string>): Promise<Furnished> {
  await using appliance = await startAppliance({ dataDir, zone, env })
  const team = await appliance.team()
  await team.domain('shop.test')
  const [ina, ben, eve] = [
    await team.mailbox('ina@shop.test'),
    await team.mailbox('ben@shop.test'),
    await team.mailbox('eve@shop.test'),
  ]
  const made = await appliance.call('POST', '/webhooks', team.key, { url: hookUrl, event_types: ['*'] })
  assert.equal(made.status, 201)
  return { team: team.id, key: team.key, ina: ina.id, ben: ben.id, eve: eve.id }
}

/** How often each of them occurs, for those that do not occur once. */
function notOnce(list: readonly string[], expected: readonly string[]): Record<string, number> {
  const counts = new Map(expected.map((one) => [one, 0]))
  for (const one of list) counts.set(one, (counts.get(one) ?? 0) + 1)
  return Object.fromEntries([...counts].filter(([, count]) => count !== 1))
}

/** Lets everything that waits be done, whatever was put off meanwhile. */
async function finish(appliance: TestAppliance, clock: ManualClock): Promise<void> {
  for (let rounds = 0; rounds < 60; rounds++) {
    await appliance.settle()
    const row = appliance.app.db.read.get<{ open: number }>(
      `SELECT (SELECT count(*) FROM queue) + (SELECT count(*) FROM events WHERE dispatched = 0) +
         (SELECT count(*) FROM webhook_queue) AS open`,
    )
    if (row!.open === 0) return
    clock.advance(MINUTE)
  }
  assert.fail('something waits for ever')
}

test('no message is lost or stored twice, however often the process is killed', {
  timeout: 900_000,
}, async (t) => {
  t.diagnostic(`KILLS=${KILLS} SEED=${SEED}`)
  const random = new Random(SEED)
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-kills-'))
  t.after(() => rm(dataDir, { recursive: true }))
  await using dns = await startDns(zone)
  await using remote = await startMailServer({ closeTimeout: 10 })
  await using hook = await startHook()
  const settings = {
    ...{ ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
    ...{ ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile },
  }
  const furnished = await furnish(dataDir, hook.url(), settings)
  const [smtp, send] = await freePorts()
  const ports = { SMTP_PORT: String(smtp), SEND_PORT: String(send), RATE_LIMIT_PER_MINUTE: '100000' }
  const env = servedEnv(dataDir, { DNS_SERVERS: dns.address, ...ports, ...settings })

  const load = new Load({ smtp, send }, furnished.key)
  const working = load.run()
  const end = async (child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM') => {
    const ended = once(child, 'exit')
    child.kill(signal)
    assert.deepEqual(await ended, signal === 'SIGKILL' ? [null, signal] : [0, null])
  }
  for (let kills = 0; kills < KILLS; kills++) {
    const child = await serve(env)
    assert.deepEqual(await readdir(join(dataDir, 'spool')), [], 'nothing half received is left')
    // In the middle of everything: while answers are given, and while the queue is emptied.
    const answered = load.answers(3 + random.below(10))
    const arrivals = remote.messages.length + 3 + random.below(15)
    load.open()
    await answered
    while (remote.messages.length < arrivals) await once(remote.events, 'mail')
    load.shut()
    await end(child, 'SIGKILL')
  }
  const child = await serve(env)
  load.stop()
  load.open()
  await working
  await end(child, 'SIGTERM')

  const clock = new ManualClock(Date.now())
  await using appliance = await startAppliance({ dataDir, zone, env: settings, clock })
  await finish(appliance, clock)
  // Content comes before the row that names it: what a kill left in between goes with the next clean-up.
  await sweepContent(appliance, clock)
  const { received, batches } = load
  t.diagnostic(`${received.length} messages came in, ${batches.length} batches went out`)

  const inbound = (await storedMessages(appliance, furnished.ina)).map(({ subject }) => subject)
  assert.deepEqual(notOnce(inbound, received), {}, 'what came in is stored once')
  for (const mailbox of [furnished.ben, furnished.eve]) {
    const copies = (await storedMessages(appliance, mailbox)).map(({ subject }) => subject)
    const expected = batches.map((n) => `Out ${n}`)
    assert.deepEqual(notOnce(copies, expected), {}, 'copies in mailboxes here are stored once')
  }

  const arrived = remote.messages.flatMap(({ to }) => to)
  const wanted = batches.flatMap((n) => [`p${n}@customer.example`, `q${n}@customer.example`])
  assert.deepEqual(new Set(arrived), new Set(wanted), 'what went to others has arrived')
  const doubles = arrived.length - wanted.length
  t.diagnostic(`${doubles} of ${wanted.length} messages to others arrived twice`)
  assert.ok(doubles <= KILLS * UNDER_WAY, `${doubles} doubles`)

  const statuses = await appliance.app.db.scan.all('SELECT status, count(*) AS count FROM deliveries GROUP BY status')
  assert.deepEqual(
    statuses.map((row) => ({ ...(row as object) })),
    [{ status: 'sent', count: batches.length * 4 }],
  )

  const { totals } = data<Json>(await appliance.get('/emails/metrics', furnished.key))
  const count = batches.length * 4
  assert.deepEqual([totals.accepted, totals.sent, totals.delivered], [count, count, count], 'each was counted once')
  const inboundLog = (await logOf(appliance, furnished.team)).filter(({ status }) => status === 'stored')
  assert.equal(inboundLog.length, received.length + batches.length * 2, 'each stored message has one entry in the log')
  assert.deepEqual(await appliance.app.db.scan.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])

  const events = await appliance.app.db.scan.all<{ id: string; type: string }>('SELECT id, type FROM events')
  const countOf = (type: string) => events.filter((event) => event.type === type).length
  assert.equal(countOf('message.received'), received.length + batches.length * 2)
  assert.equal(countOf('message.delivered'), batches.length * 4)
  const reported = hook.requests.map(({ headers }) => headers['x-service-event-id']!)
  assert.deepEqual(new Set(reported), new Set(events.map(({ id }) => id)), 'the webhook received every event')
  t.diagnostic(`${reported.length - events.length} of ${events.length} events were sent twice`)
  assert.ok(reported.length - events.length <= KILLS * 100, 'few events are sent twice')

  // Content whose row a kill prevented is kept as long as a newer mail.db may be put back.
  clock.leap(UNCLAIMED_RETENTION_MS)
  await sweepContent(appliance, clock)
})
