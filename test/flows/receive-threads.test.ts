// Receiving in threads: what is shared holds over all of them, a thread that dies takes nothing accepted with it, and stopping is orderly.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { bounceAddress } from '../../src/outbound/model/envelope-sender.ts'
import { SPOOL_MEMORY_BYTES, SWEEP_MS } from '../../src/smtp/limits.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, rawOf, spooled, storedMessages } from '../support/stored.ts'

/** Connections of one source; 8 of them start the second thread. */
const CONNECTIONS = 12
const PROXIED = '127.0.0.2'

interface Batch {
  calls: { name: string; given: unknown[] }[]
}

/** The receive threads, with what the first thread has called in them. */
const threads = new Map<Worker, Batch['calls']>()
/** Whether threads are not asked for a sign of life: they seem to hang. */
let isMute = false
const { postMessage } = Worker.prototype
Worker.prototype.postMessage = function (this: Worker, ...given) {
  if (this.threadName === 'receive') {
    const { calls } = given[0] as Batch
    if (isMute && calls.some(({ name }) => name === 'ping')) return
    threads.set(this, [...(threads.get(this) ?? []), ...calls])
  }
  return postMessage.apply(this, given)
}

/** Waits until a thread has been notified of a change that another one has seen. */
async function shared(change: object): Promise<void> {
  const text = JSON.stringify([change])
  const isShared = () =>
    [...threads.values()].some((calls) =>
      calls.some(({ name, given }) => name === 'share' && JSON.stringify(given) === text),
    )
  while (!isShared()) await new Promise(setImmediate)
}

const env = { RECEIVE_THREADS: '2', SMTP_MAX_PER_ADDRESS: String(CONNECTIONS), PROXY_PROTOCOL_FROM: PROXIED }
const appliance = await startAppliance({ env })
after(() => appliance.close())
const { app } = appliance
const port = appliance.ports.smtp
const team = await appliance.team()
await team.domain('in.test')
const ben = await team.mailbox('ben@in.test')

const mail = (subject: string, text?: string) => plainMail({ from: 'ann@out.test', to: ben.email, subject, text })

/** A session; earlier connections are counted until the first thread knows that they have ended. */
async function greet(source?: string): Promise<SmtpClient> {
  for (;;) {
    const client = source === undefined ? await SmtpClient.connect(port) : await connectAs(source)
    if ((await client.reply()).code === 220) {
      await client.command('EHLO client.test', 250)
      return client
    }
    await client.closed()
  }
}

/** A client that a proxy names. */
async function connectAs(source: string): Promise<SmtpClient> {
  const client = await SmtpClient.connect(port, PROXIED)
  client.write(`PROXY TCP4 ${source} 127.0.0.1 4000 25\r\n`)
  return client
}

async function offer(content: string | Buffer, to: string | string[] = ben.email, from = 'ann@out.test') {
  await using client = await greet()
  return (await client.mail({ from, to, content })).text
}

async function subjects(): Promise<string[]> {
  return (await storedMessages(appliance, ben.id)).map(({ subject }) => subject)
}

/** Fills the places of one source. @returns how many of the connections were accepted */
async function fill(
  count: number,
  connect: () => Promise<SmtpClient>,
): Promise<{ clients: SmtpClient[]; accepted: number }> {
  const clients = await Promise.all(Array.from({ length: count }, connect))
  const replies = await Promise.all(clients.map((client) => client.reply()))
  return { clients, accepted: replies.filter(({ code }) => code === 220).length }
}

/** Fills them as often as it takes until connections that have ended are no longer counted. */
async function fillAll(connect: () => Promise<SmtpClient>): Promise<SmtpClient[]> {
  for (;;) {
    const { clients, accepted } = await fill(CONNECTIONS + 2, connect)
    assert.ok(accepted <= CONNECTIONS)
    if (accepted === CONNECTIONS) return clients
    for (const client of clients) client.drop()
  }
}

test('messages are stored with their bytes, decided and logged; a long one is inspected outside the thread', async () => {
  const plain = mail('Short')
  assert.match(await offer(plain), /^250 2\.0\.0 /)
  const long = mail('Long', `${'x'.repeat(998)}\r\n`.repeat(Math.ceil((2 * SPOOL_MEMORY_BYTES) / 1000)))
  assert.match(await offer(long), /^250 2\.0\.0 /)
  const [short, second] = await storedMessages(appliance, ben.id)
  assert.ok((await rawOf(appliance, short!.id)).endsWith(`\r\n${plain}`))
  assert.ok((await rawOf(appliance, second!.id)).endsWith(`\r\n${long}`))
  const rows = await logOf(appliance, team.id)
  assert.deepEqual(
    rows.map(({ status, subject, spam_score, authentication }) => [
      status,
      subject,
      spam_score !== null,
      authentication!.spf,
    ]),
    [
      ['stored', 'Short', true, 'none'],
      ['stored', 'Long', true, 'none'],
    ],
  )
})

test('refusals are logged, by recipient and by message', async () => {
  const before = (await logOf(appliance, team.id)).length
  assert.match(await offer(mail('Bad', 'a\nb')), /^550 5\.6\.11 /)
  await using client = await greet()
  await client.command('MAIL FROM:<ann@out.test>', 250)
  assert.match((await client.command('RCPT TO:<nobody@in.test>')).text, /^550 5\.1\.1 /)
  assert.match((await client.command('RCPT TO:<x@foreign.test>')).text, /^550 5\.7\.1 /)
  const rows = (await logOf(appliance, team.id)).slice(before)
  assert.deepEqual(
    rows.map(({ status, reason, rcpt_to }) => [status, reason, rcpt_to]),
    [
      ['refused', 'bad_bytes', ben.email],
      ['refused', 'unknown_recipient', 'nobody@in.test'],
    ],
  )
})

test('a storage error of the first thread is the reply of the session, with its kind', async (t) => {
  const deliver = t.mock.method(app.store.delivery, 'deliver', async () => {
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
  })
  assert.match(await offer(mail('Deferred')), /^452 4\.3\.1 /)
  deliver.mock.restore()
  const small = await team.mailbox('small@in.test', { quotaBytes: 10 * 1024 * 1024 })
  const large = mail('Large', `${'x'.repeat(998)}\r\n`.repeat(10_500))
  assert.match(await offer(large, small.email), /^452 4\.2\.2 /)
  assert.ok(app.store.accounts.byMailbox(small.id)!.fullSince !== null, 'the first thread wrote since when it is full')
})

test('a report address takes reports only', async () => {
  const address = bounceAddress(app.vault, app.config, 1)
  assert.match(await offer(mail('No report'), address, ''), /^250 /)
  assert.match(await offer('Subject: none\r\n\r\nx\r\n', 'fbl@bounce.mx.mailstead.test'), /^550 5\.7\.1 /)
})

test('connections are limited over all threads, and counted down when they end', async () => {
  for (const client of await fillAll(() => SmtpClient.connect(port))) client.drop()
  assert.equal(threads.size, 2)
  // A client of a proxy is counted for itself.
  const proxied = await fillAll(() => connectAs('198.51.100.7'))
  await using other = await connectAs('198.51.100.8')
  await other.expect(220)
  for (const client of proxied) client.drop()
})

test('what one thread has seen of a source or a sender, the others know', async () => {
  await using client = await greet('5.5.5.1')
  await client.command('NONSENSE', 500)
  await shared({ kind: 'offended', address: '5.5.5.1', offence: 'protocol_error' })
  const reply = await client.mail({ from: 'ann@out.test', to: ben.email, content: mail('Good') })
  assert.equal(reply.code, 250)
  await shared({ kind: 'accepted', address: '5.5.5.1' })
})

test('a thread that dies takes nothing accepted with it, and the listener goes on', async () => {
  const clients = await fillAll(() => SmtpClient.connect(port))
  for (const client of clients) client.drop()
  const session = await greet()
  assert.equal((await session.mail({ from: 'ann@out.test', to: ben.email, content: mail('Before') })).code, 250)
  await session.command('MAIL FROM:<ann@out.test>', 250)
  for (const thread of threads.keys()) await thread.terminate()
  await session.closed()
  assert.match(await offer(mail('After')), /^250 /)
  assert.deepEqual((await subjects()).slice(-2), ['Before', 'After'])
  assert.equal(threads.size, 3)
  // The connections of the dead threads are no longer counted.
  for (const client of await fillAll(() => SmtpClient.connect(port))) client.drop()
})

test('a thread that does not answer is replaced, and one without connections ends', async () => {
  const clock = new ManualClock()
  await using own = await startAppliance({ clock, env: { RECEIVE_THREADS: '1' } })
  const known = new Set(threads.keys())
  const started = () => [...threads.keys()].filter((thread) => !known.has(thread))
  const pings = () => threads.get(started()[0]!)!.filter(({ name }) => name === 'ping').length
  const session = await SmtpClient.greet(own.ports.smtp)
  for (let asked = 1; asked <= 6; asked++) {
    // The answer to a ping lets the next check ask again.
    while (pings() < asked) {
      clock.advance(SWEEP_MS)
      await session.command('NOOP', 250)
    }
  }
  isMute = true
  const hangs = once(started()[0]!, 'exit')
  for (let check = 0; check < 6; check++) clock.advance(SWEEP_MS)
  await Promise.all([hangs, session.closed()])
  isMute = false
  const next = await SmtpClient.greet(own.ports.smtp)
  assert.equal(started().length, 2)
  const isEnded = once(started()[1]!, 'exit').then(() => true)
  await next.command('QUIT', 221)
  await next.closed()
  do clock.advance(SWEEP_MS)
  while (!(await Promise.race([isEnded, new Promise((resolve) => setImmediate(resolve, false))])))
  await using last = await SmtpClient.greet(own.ports.smtp)
  await last.command('NOOP', 250)
  assert.equal(started().length, 3)
})

test('stopping completes a message under way in a thread, ends other sessions, and leaves no files', async () => {
  await using idle = await greet()
  await using busy = await greet()
  await busy.command('MAIL FROM:<ann@out.test>', 250)
  await busy.command(`RCPT TO:<${ben.email}>`, 250)
  await busy.command('DATA', 354)
  busy.write('From: ann@out.test\r\nSubject: Late\r\n')
  const stored: string[] = []
  const { close } = app
  app.close = async () => {
    stored.push(...(await subjects()))
    assert.deepEqual(await spooled(appliance), [])
    await close()
  }
  const closed = appliance.close()
  assert.match((await idle.reply()).text, /^421 4\.3\.2 /)
  busy.write('\r\nText\r\n.\r\n')
  assert.match((await busy.reply()).text, /^250 /)
  await closed
  assert.equal(stored.at(-1), 'Late')
})
