// A mail server that accepts connections and never greets: its messages delay no others, and are delivered when it works again.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NewMail } from '../../src/outbound/model/new-message.ts'
import { startAppliance } from '../support/appliance.ts'
import { turns } from '../support/carriers.ts'
import { ManualClock } from '../support/clock.ts'
import { startScript } from '../support/mail-server.ts'

const DOMAINS = 30
const MESSAGES = 300
const OTHERS = 40
const SECOND = 1000

const clock = new ManualClock()
let isDead = true
/** Recipients whose message was taken. */
const taken: string[] = []
const answers = {
  EHLO: '250-mx.script.test\r\n250 PIPELINING',
  RCPT: (line: string) => {
    taken.push(/<(.*)>/.exec(line)![1]!)
    return '250 2.1.5 Ok'
  },
}
const hanging = await startScript((peer) => (isDead ? peer.closed() : peer.talk(answers)))
const healthy = await startScript((peer) => peer.talk(answers), '127.0.0.2', hanging.port)

/** Servers that take a message and do not say so: one for many domains, and one for each. */
let unmute = Promise.withResolvers<void>()
const silent = { ...answers, '.': () => unmute.promise.then(() => '451 4.3.0 Later') }
const mutes = await Promise.all(
  Array.from({ length: DOMAINS + 1 }, (_, i) =>
    startScript((peer) => peer.talk(silent), `127.0.3.${i + 1}`, hanging.port),
  ),
)

const names = Array.from({ length: DOMAINS }, (_, i) => `dead${i}.example`)
const mx = (exchange: string) => ({ MX: [{ priority: 10, exchange }] })
const appliance = await startAppliance({
  clock,
  zone: {
    ...Object.fromEntries(names.map((name) => [name, mx('mx.dead.example')])),
    'mx.dead.example': { A: ['127.0.0.1'] },
    ...Object.fromEntries(
      mutes.flatMap((_, i) => [
        [`one${i}.example`, mx('mx0.mute.example')],
        [`own${i}.example`, mx(`mx${i}.mute.example`)],
        [`mx${i}.mute.example`, { A: [`127.0.3.${i + 1}`] }],
      ]),
    ),
    'healthy.example': mx('mx.healthy.example'),
    'mx.healthy.example': { A: ['127.0.0.2'] },
  },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(hanging.port) },
})
after(async () => {
  await appliance.close()
  for (const mute of mutes) await mute[Symbol.asyncDispose]()
  await healthy[Symbol.asyncDispose]()
  await hanging[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')

function mailTo(to: string): NewMail {
  return {
    ...{ from: { email: 'news@shop.test', name: '' }, to: [{ email: to, name: '' }], cc: [], bcc: [], replyTo: [] },
    ...{ subject: 'Hello', textBody: 'Hello.', htmlBody: null, headers: {}, attachments: [], returnPath: null },
    ...{ inReplyTo: null, sendAt: null, undoSeconds: 0, saveToSent: false },
  }
}

async function submit(recipients: string[]): Promise<void> {
  const sender = { kind: 'team', teamId: team.id, source: 'batch_api' } as const
  for (let at = 0; at < recipients.length; at += 100) {
    await appliance.app.outbound.submit.submitter.submit(sender, recipients.slice(at, at + 100).map(mailTo))
  }
}

/** Lets time pass, a little at a time, until something is so. @returns how long it took, in ms of the clock */
async function passUntil(isSo: () => Promise<boolean>, stepMs: number, limitMs: number): Promise<number> {
  const began = clock.now()
  while (!(await isSo())) {
    assert.ok(clock.now() - began < limitMs, `it was not so after ${limitMs / SECOND} s`)
    // The work of the appliance is done in real time: each of these waits for what is written at the moment.
    for (let i = 0; i < 20; i++) await appliance.app.db.write(() => {}).then(() => turns(10))
    clock.advance(stepMs)
  }
  return clock.now() - began
}

function countOf(status: string): number {
  const { total } = appliance.app.db.read.get<{ total: number }>(
    'SELECT count(*) AS total FROM deliveries WHERE status = ?',
    [status],
  )!
  return total
}

test('300 messages to 30 domains behind a server that never greets delay no others', async (t) => {
  await submit(Array.from({ length: MESSAGES }, (_, i) => `p${i}@${names[i % DOMAINS]}`))
  await hanging.connected(1)
  await submit(Array.from({ length: OTHERS }, (_, i) => `p${i}@healthy.example`))
  const took = await passUntil(async () => countOf('sent') === OTHERS, SECOND / 4, 20 * SECOND)
  t.diagnostic(`the others took ${took / SECOND} s`)
  assert.ok(took <= 10 * SECOND, `${took} ms`)
  assert.ok(hanging.connections <= 2, String(hanging.connections))
})

test('the undelivered messages are reported as delayed, and need few connections however long it lasts', async () => {
  await passUntil(
    async () => {
      const row = appliance.app.db.read.get<{ total: number }>(
        `SELECT count(*) AS total FROM deliveries WHERE status_reason LIKE 'deferred: %mx.dead.example did not answer%'`,
      )
      return row!.total === MESSAGES
    },
    2 * SECOND,
    300 * SECOND,
  )
  const { most } = appliance.app.db.read.get<{ most: number }>('SELECT max(attempts) AS most FROM deliveries')!
  assert.equal(most, 1)
  const { wrong } = appliance.app.db.read.get<{ wrong: number }>(
    `SELECT count(*) AS wrong FROM deliveries
     WHERE status = 'pending' AND (attempts = 0) <> (status_reason LIKE 'deferred: Not tried yet: %')`,
  )!
  assert.equal(wrong, 0, 'a delay without an attempt says so')
  assert.ok(hanging.connections <= 6, String(hanging.connections))
})

test('all are delivered once it works again', async () => {
  isDead = false
  await passUntil(async () => countOf('sent') === MESSAGES + OTHERS, 5 * SECOND, 1800 * SECOND)
  assert.equal(new Set(taken).size, MESSAGES + OTHERS)
  assert.equal(taken.length, MESSAGES + OTHERS)
})

for (const [where, domain] of [
  ['one server for all of them', 'one'],
  ['a server for each', 'own'],
] as const) {
  // Each of them takes ten minutes (RFC 5321 §4.5.3.2.6).
  test(`messages whose end of data gets no reply delay no other message: ${where}`, async (t) => {
    const before = countOf('sent')
    const all = Array.from({ length: MESSAGES }, (_, i) => `p${i}@${domain}${1 + (i % DOMAINS)}.example`)
    const connections = () => mutes.reduce((total, mute) => total + mute.connections, 0)
    const earlier = connections()
    await submit(all)
    await passUntil(async () => connections() > earlier, SECOND / 4, 60 * SECOND)
    await submit(Array.from({ length: OTHERS }, (_, i) => `${domain}${i}@healthy.example`))
    const took = await passUntil(async () => countOf('sent') === before + OTHERS, SECOND / 4, 120 * SECOND)
    t.diagnostic(`the others took ${took / SECOND} s`)
    unmute.resolve()
    await passUntil(
      async () => {
        const row = appliance.app.db.read.get<{ total: number }>(
          `SELECT count(*) AS total FROM deliveries WHERE status = 'pending' AND attempts = 0`,
        )
        return row!.total === 0
      },
      5 * SECOND,
      900 * SECOND,
    )
    unmute = Promise.withResolvers()
  })
}
