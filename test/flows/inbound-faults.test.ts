// Errors of messages and of the server are reported in the SMTP reply; nothing is stored partly, and the next message is accepted.

import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { MAX_MESSAGE_BYTES, MAX_RECEIVED } from '../../src/smtp/limits.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, spooled, storedMessages, sweepContent } from '../support/stored.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const port = appliance.ports.smtp
const team = await appliance.team()
await team.domain('in.test')
const ben = await team.mailbox('ben@in.test')

async function offer(content: string | Buffer, to: string | string[] = ben.email): Promise<string> {
  await using client = await SmtpClient.greet(port)
  return (await client.mail({ from: 'ann@out.test', to, content })).text
}

const mail = (subject: string, text?: string) => plainMail({ from: 'ann@out.test', to: ben.email, subject, text })

async function lastRow() {
  return (await logOf(appliance, team.id)).at(-1)!
}

let seen = 0
/** The subjects kept since the last call. */
async function newSubjects(): Promise<string[]> {
  const subjects = (await storedMessages(appliance, ben.id)).map(({ subject }) => subject)
  const fresh = subjects.slice(seen)
  seen = subjects.length
  return fresh
}

for (const [what, text] of [
  ['a bare line feed', 'a\nb'],
  ['a bare carriage return', 'a\rb'],
  ['a NUL', 'a\0b'],
] as const) {
  test(`${what} is rejected, logged and not stored`, async () => {
    assert.match(await offer(mail('Bad', text)), /^550 5\.6\.11 /)
    assert.match(await offer(mail(`Bad ${text}`)), /^550 5\.6\.11 /)
    const row = await lastRow()
    assert.deepEqual([row.status, row.reason, row.rcpt_to, row.subject], ['refused', 'bad_bytes', ben.email, null])
    assert.deepEqual(await newSubjects(), [])
  })
}

test('a message above the limit is read to its end in constant memory and rejected, whatever its declared size', async (context) => {
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test> SIZE=1000', 250)
  await client.command(`RCPT TO:<${ben.email}>`, 250)
  await client.command('DATA', 354)
  const before = process.memoryUsage().rss
  const piece = Buffer.from(`${'x'.repeat(1022)}\r\n`.repeat(1024))
  for (let sent = 0; sent < MAX_MESSAGE_BYTES * 1.5; sent += piece.length) await client.push(piece)
  context.diagnostic(
    `${Math.round((process.memoryUsage().rss - before) / 1048576)} MiB of memory more, both ends counted`,
  )
  client.write('.\r\n')
  assert.match((await client.reply()).text, /^552 5\.3\.4 /)
  const row = await lastRow()
  assert.deepEqual([row.status, row.reason], ['refused', 'too_large'])
  assert.ok(row.size_bytes! > MAX_MESSAGE_BYTES)
  assert.deepEqual(await spooled(appliance), [])
  const reply = await client.mail({ from: 'ann@out.test', to: ben.email, content: mail('After') })
  assert.equal(reply.code, 250, reply.text)
  assert.deepEqual(await newSubjects(), ['After'])
})

test('a message of exactly the limit is accepted', async () => {
  const head = 'From: ann@out.test\r\nSubject: Full\r\n\r\n'
  const lines = `${'x'.repeat(1022)}\r\n`.repeat(Math.floor((MAX_MESSAGE_BYTES - head.length) / 1024) - 1)
  const rest = MAX_MESSAGE_BYTES - head.length - lines.length
  const content = Buffer.from(`${head}${lines}${'y'.repeat(rest - 2)}\r\n`)
  assert.equal(content.length, MAX_MESSAGE_BYTES)
  assert.match(await offer(content), /^250 /)
  assert.deepEqual(await newSubjects(), ['Full'])
  assert.deepEqual(await spooled(appliance), [])
})

test('a message in a mail loop is rejected', async () => {
  const hop = 'Received: from a.test by b.test; Thu, 01 Jan 2026 00:00:00 +0000\r\n'
  assert.match(await offer(hop.repeat(MAX_RECEIVED) + mail('Far')), /^250 /)
  assert.match(await offer(hop.repeat(MAX_RECEIVED + 1) + mail('Round')), /^554 5\.4\.6 /)
  assert.deepEqual(await newSubjects(), ['Far'])
})

test('when storing fails the message is deferred for all recipients, and the next one is accepted', async () => {
  const eve = await team.mailbox('eve@in.test')
  const { store } = appliance.app
  const { deliver } = store.delivery
  const failures: [Error, RegExp][] = [
    [new Error('The database is closed.'), /^451 4\.3\.0 /],
    [Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 }), /^452 4\.3\.1 /],
    [Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }), /^452 4\.3\.1 /],
    [Object.assign(new Error('too many open files'), { code: 'EMFILE' }), /^451 4\.3\.0 /],
    [Object.assign(new Error('read-only file system'), { code: 'EROFS' }), /^451 4\.3\.0 /],
  ]
  for (const [error, reply] of failures) {
    store.delivery.deliver = async () => {
      throw error
    }
    assert.match(await offer(mail('Deferred'), [ben.email, eve.email]), reply)
    const row = await lastRow()
    assert.deepEqual([row.status, row.reason, row.rcpt_to], ['deferred', 'temporary_failure', eve.email])
  }
  store.delivery.deliver = deliver
  assert.match(await offer(mail('Deferred'), [ben.email, eve.email]), /^250 /)
  assert.deepEqual(await newSubjects(), ['Deferred'])
  assert.equal((await storedMessages(appliance, eve.id)).length, 1)
})

test('a failure in the middle of a delivery leaves nothing of it', async () => {
  const { inbound: inboundLog } = appliance.app.store.log
  const { appendMany } = inboundLog
  inboundLog.appendMany = () => {
    throw new Error('disk I/O error')
  }
  assert.match(await offer(mail('Half')), /^451 4\.3\.0 /)
  inboundLog.appendMany = appendMany
  assert.deepEqual(await newSubjects(), [])
  assert.match(await offer(mail('Half')), /^250 /)
  assert.deepEqual(await newSubjects(), ['Half'])
})

test('when inspecting or spooling fails the message is deferred and the server keeps accepting', async () => {
  const { inspector } = appliance.app
  const { inspect } = inspector
  inspector.inspect = async () => {
    throw new Error('the thread died')
  }
  assert.match(await offer(mail('Again')), /^451 4\.3\.0 /)
  inspector.inspect = inspect

  const spool = join(appliance.dataDir, 'spool')
  await rm(spool, { recursive: true })
  assert.match(await offer(mail('Long', `${'x'.repeat(998)}\r\n`.repeat(2000))), /^451 4\.3\.0 /)
  await mkdir(spool)
  assert.match(await offer(mail('Again')), /^250 /)
  assert.deepEqual(await newSubjects(), ['Again'])
})

test('when a recipient lookup fails the recipient is deferred', async () => {
  const { mailboxes } = appliance.app.directory
  const { receiver } = mailboxes
  mailboxes.receiver = () => {
    throw new Error('disk I/O error')
  }
  assert.match(await offer(mail('Later')), /^451 4\.3\.0 /)
  mailboxes.receiver = receiver
  assert.match(await offer(mail('Later')), /^250 /)
  assert.deepEqual(await newSubjects(), ['Later'])
})

test('a client that disconnects inside a large message leaves nothing', async () => {
  const client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  await client.command(`RCPT TO:<${ben.email}>`, 250)
  await client.command('DATA', 354)
  await client.push(Buffer.from(mail('Cut', `${'x'.repeat(998)}\r\n`.repeat(3000))))
  client.drop()
  // The file goes when the connection has been seen to end, which is soon.
  while ((await spooled(appliance)).length > 0) await new Promise(setImmediate)
  assert.deepEqual(await newSubjects(), [])
  assert.match(await offer(mail('Whole')), /^250 /)
  assert.deepEqual(await newSubjects(), ['Whole'])
})

test('many concurrent messages are all accepted', async () => {
  const clients = await Promise.all(Array.from({ length: 20 }, () => SmtpClient.greet(port)))
  const replies = await Promise.all(
    clients.map(async (client, i) => {
      const codes: number[] = []
      for (let j = 0; j < 10; j++) {
        codes.push((await client.mail({ from: 'ann@out.test', to: ben.email, content: mail(`${i}-${j}`) })).code)
      }
      return codes
    }),
  )
  assert.ok(replies.flat().every((code) => code === 250))
  assert.equal(new Set(await newSubjects()).size, 200)
  for (const client of clients) client.drop()
})
