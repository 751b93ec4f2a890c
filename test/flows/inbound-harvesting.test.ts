// Address harvesting: rejections of a source are counted across its sessions; a proxy names the source.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OFFENCE_BLOCK, OFFENCE_FREE, OFFENCE_HALF_LIFE_MS } from '../../src/smtp/limits.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient, type SmtpReply } from '../support/smtp.ts'
import { sweepContent } from '../support/stored.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { PROXY_PROTOCOL_FROM: '127.0.0.1' } })
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const team = await appliance.team()
await team.domain('in.test')
const ben = await team.mailbox('ben@in.test')

async function connect(source: string): Promise<SmtpClient> {
  const client = await SmtpClient.connect(appliance.ports.smtp)
  client.write(`PROXY TCP4 ${source} 127.0.0.1 4000 25\r\n`)
  return client
}

/** A session that has said EHLO. */
async function greet(source: string): Promise<SmtpClient> {
  const client = await connect(source)
  await client.expect(220)
  assert.equal((await patiently(client.command('EHLO client.test'))).reply.code, 250)
  return client
}

/** Moves time on until there is an answer; how long that took (ms). */
async function patiently(answer: Promise<SmtpReply>): Promise<{ reply: SmtpReply; ms: number }> {
  let reply: SmtpReply | undefined
  answer.then((given) => (reply = given))
  const since = clock.now()
  for (;;) {
    // An answer that nothing holds back waits for its row in the log at most.
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    await appliance.app.db.write(() => {})
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    if (reply !== undefined) break
    clock.advance(1000)
  }
  return { reply, ms: clock.now() - since }
}

test('a source that guesses addresses is slowed down across sessions, then deferred for a while, and no other source is', async () => {
  let tries = 0
  let waited = 0
  let last: SmtpReply | undefined
  while (last?.code !== 421) {
    await using client = await greet('5.5.5.1')
    last = (await patiently(client.command('MAIL FROM:<>'))).reply
    for (let i = 0; i < 15 && last.code !== 421; i++) {
      const { reply, ms } = await patiently(client.command(`RCPT TO:<name${tries}@in.test>`))
      last = reply
      waited += ms
      if (reply.code === 421) break
      assert.equal(reply.code, 550)
      tries++
    }
  }
  assert.match(last.text, /^421 4\.7\.0 /)
  assert.ok(tries >= OFFENCE_BLOCK && tries < OFFENCE_BLOCK * 1.3, String(tries))
  assert.ok(waited > 300_000, `${waited} ms`)
  await using again = await connect('5.5.5.1')
  assert.match((await again.reply()).text, /^421 4\.7\.0 /)
  assert.equal(await again.closed(), '')
  await using other = await connect('5.5.5.2')
  await other.expect(220)
  clock.leap(OFFENCE_HALF_LIFE_MS)
  await using later = await greet('5.5.5.1')
  assert.equal((await patiently(later.command('QUIT'))).reply.code, 221)
})

test('a shared relay that mostly sends good mail is never throttled', async () => {
  const clients: SmtpClient[] = []
  for (let i = 0; i < OFFENCE_FREE * 2; i++) {
    if (i % 10 === 0) clients.push(await greet('5.5.6.1'))
    const client = clients.at(-1)!
    const content = plainMail({ from: 'ann@out.test', to: ben.email, subject: `Mail ${i}` })
    // The clock does not advance: a delayed reply would never be sent.
    await client.command('MAIL FROM:<ann@out.test>', 250)
    await client.command(`RCPT TO:<gone${i}@in.test>`, 550)
    await client.command(`RCPT TO:<${ben.email}>`, 250)
    await client.command('DATA', 354)
    client.write(`${content}.\r\n`)
    await client.expect(250)
  }
  for (const client of clients) await client.command('QUIT', 221)
})

test('rejected messages and protocol errors count as well', async () => {
  for (let i = 0; i < OFFENCE_FREE / 2; i++) {
    await using client = await greet('5.5.7.1')
    await client.command('NONSENSE', 500)
    await client.command('MAIL FROM:<ann@out.test>', 250)
    await client.command(`RCPT TO:<${ben.email}>`, 250)
    await client.command('DATA', 354)
    client.write('Subject: one\nbare\r\n.\r\n')
    await client.expect(550)
  }
  await using client = await greet('5.5.7.1')
  await client.command('NONSENSE', 500)
  const { reply, ms } = await patiently(client.command('NOOP'))
  assert.equal(reply.code, 250)
  assert.ok(ms > 0)
})
