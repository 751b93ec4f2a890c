// Submission and clients that want more than they may: relaying, smuggled messages, bytes without end, and addresses beyond ASCII.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { PAUSE_MS, SWEEP_MS } from '../../src/smtp/limits.ts'
import { SUBMITTED_BYTES_MAX } from '../../src/submission/limits.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { connectSubmission, signInToSubmit } from '../support/submission.ts'

const clock = new ManualClock()
let remote: MailServer
let appliance: TestAppliance
let team: TestTeam
let ada: { id: string; email: string; key: string }

const zone = Object.fromEntries(
  ['customer.example', 'xn--r8jz45g.example'].map((name) => [
    name,
    { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  ]),
)

before(async () => {
  remote = await startMailServer()
  appliance = await startAppliance({
    clock,
    zone: { ...zone, 'mx.customer.example': { A: ['127.0.0.1'] } },
    env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
  })
  team = await appliance.team()
  await team.domain('acme.test')
  ada = await team.mailbox('ada@acme.test')
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})

const queued = () => appliance.app.db.read.get<{ count: number }>('SELECT count(*) AS count FROM emails')!.count
const mail = (more: Partial<Parameters<typeof plainMail>[0]> = {}) =>
  plainMail({ from: ada.email, to: 'bob@customer.example', ...more })

describe('relaying', () => {
  /** The pairs that tests of open relays try: senders that look trusted, recipients that are routed on. */
  const senders = [
    '<spam@evil.example>',
    '<ada@acme.test>',
    '<>',
    '<ada>',
    '<ada@localhost>',
    '<ada@[127.0.0.1]>',
    '<postmaster@mx.mailstead.test>',
    '<"ada@acme.test"@evil.example>',
    '<@acme.test:ada@acme.test>',
  ]
  const recipients = [
    '<victim@customer.example>',
    '<victim%customer.example@acme.test>',
    '<"victim@customer.example"@acme.test>',
    '<@acme.test:victim@customer.example>',
    '<customer.example!victim@[127.0.0.1]>',
  ]
  const forms = senders.flatMap((from) => recipients.map((to) => [from, to] as const))

  it(`needs a sign-in in all ${forms.length} forms, on both ports`, async () => {
    const before = queued()
    const connects = [
      async () => (await connectSubmission(appliance)).client,
      () => SmtpClient.greet(appliance.ports.submission),
    ]
    for (const connect of connects) {
      // Fifty errors end a connection.
      for (let at = 0; at < forms.length; at += 15) {
        const client = await connect()
        for (const [from, to] of forms.slice(at, at + 15)) {
          for (const command of [`MAIL FROM:${from}`, `RCPT TO:${to}`, 'DATA']) {
            assert.match((await client.command(command)).text, /^530 5\.7\.0/, `${from} ${to}`)
          }
        }
        client.drop()
      }
    }
    assert.equal(queued(), before)
  })

  it('with a sign-in leaves as the mailbox only, and recipients of this server are its mailboxes', async () => {
    const client = await signInToSubmit(appliance, ada)
    const accepted: string[] = []
    for (const [from, to] of forms) {
      const sender = await client.command(`MAIL FROM:${from}`)
      assert.match(sender.text, /^(?:250|501 5\.1\.7|553 5\.7\.1)/, from)
      if (sender.code !== 250) continue
      const recipient = await client.command(`RCPT TO:${to}`)
      if (recipient.code === 250) accepted.push(`${from} ${to}`)
      else assert.match(recipient.text, /^(?:550 5\.1\.[12]|501 5\.1\.3)/, to)
      await client.command('RSET', 250)
    }
    client.drop()
    assert.deepEqual(
      accepted,
      ['<ada@acme.test>', '<>', '<@acme.test:ada@acme.test>'].flatMap((from) => [
        `${from} <victim@customer.example>`,
        `${from} <@acme.test:victim@customer.example>`,
      ]),
    )
  })
})

describe('a smuggled message', () => {
  const behind = `MAIL FROM:<ada@acme.test>\r\nRCPT TO:<eve@customer.example>\r\nDATA\r\n${'x'}`
  for (const end of ['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r\n.\r', '\r.\r\n', '\n..\r\n', '\r\n.\0\r\n']) {
    it(`behind ${JSON.stringify(end)} is none, and ends the connection`, async () => {
      const before = queued()
      const client = await signInToSubmit(appliance, ada)
      await client.command('MAIL FROM:<ada@acme.test>', 250)
      await client.command('RCPT TO:<bob@customer.example>', 250)
      await client.command('DATA', 354)
      client.write(`${mail()}first${end}${behind}\r\n.\r\n`)
      assert.match((await client.reply()).text, /^550 5\.6\.11/)
      await client.closed()
      assert.equal(queued(), before)
    })
  }

  it('in one packet with the end of data is the next transaction, of the same mailbox', async () => {
    const client = await signInToSubmit(appliance, ada)
    await client.command('MAIL FROM:<ada@acme.test>', 250)
    await client.command('RCPT TO:<bob@customer.example>', 250)
    await client.command('DATA', 354)
    client.write(`${mail()}.\r\nMAIL FROM:<eve@acme.test>\r\nRCPT TO:<bob@customer.example>\r\nQUIT\r\n`)
    await client.expect(250)
    for (const code of [553, 503, 221]) await client.expect(code)
    client.drop()
    await appliance.settle()
  })

  it('in the envelope is refused', async () => {
    const client = await signInToSubmit(appliance, ada)
    assert.match((await client.command('MAIL FROM:<ada@acme.test>\rRCPT TO:<x@customer.example>')).text, /^500/)
    await client.closed()
  })
})

describe('bytes', () => {
  it('above 40 MiB are read to the end, refused and not kept', async () => {
    const client = await signInToSubmit(appliance, ada)
    await client.command('MAIL FROM:<ada@acme.test>', 250)
    await client.command('RCPT TO:<bob@customer.example>', 250)
    await client.command('DATA', 354)
    client.write(mail())
    const block = Buffer.from(`${'x'.repeat(70)}\r\n`.repeat(14_564))
    for (let sent = 0; sent <= SUBMITTED_BYTES_MAX; sent += block.length) await client.push(block)
    assert.match((await client.command('.')).text, /^552 5\.3\.4/)
    assert.deepEqual(await readdir(join(appliance.dataDir, 'spool-submission')), [])
    await client.command('NOOP', 250)
    client.drop()
  })

  it('of 10,000 lines and more are prepared in a thread, from a file', async () => {
    const client = await signInToSubmit(appliance, ada)
    const text = 'Grüße aus Köln, eine Zeile von vielen\r\n'.repeat(50_000)
    const content = Buffer.from(mail({ subject: 'Long', text }))
    const reply = await client.mail({ from: ada.email, to: 'bob@customer.example', content })
    assert.equal(reply.code, 250, reply.text)
    client.drop()
    await appliance.settle()
    const got = remote.messages.at(-1)!.bytes.toString('latin1')
    assert.match(got, /\r\nSubject: Long\r\n/)
    assert.equal(got.split('Gr=C3=BC=C3=9Fe aus K=C3=B6ln, eine Zeile von vielen\r\n').length - 1, 50_000)
    assert.deepEqual(await readdir(join(appliance.dataDir, 'spool-submission')), [])
  })

  it('of a header above its limits are refused', async () => {
    const client = await signInToSubmit(appliance, ada)
    const more = Array.from({ length: 10_000 }, (_, at) => `X-${at}: y`)
    const send = (content: string) => client.mail({ from: ada.email, to: 'bob@customer.example', content })
    assert.match((await send(mail({ more }))).text, /^554 5\.6\.0/)
    assert.match((await send(mail({ more: [`X-Long: ${'y'.repeat(300_000)}`] }))).text, /^554 5\.6\.0/)
    client.drop()
  })

  it('that stop in the middle of a message leave nothing behind', async () => {
    const before = queued()
    const begin = async () => {
      const client = await signInToSubmit(appliance, ada)
      await client.command('MAIL FROM:<ada@acme.test>', 250)
      await client.command('RCPT TO:<bob@customer.example>', 250)
      await client.command('DATA', 354)
      await client.push(Buffer.from(mail()))
      return client
    }
    const [gone, silent] = [await begin(), await begin()]
    gone.drop()
    clock.advance(PAUSE_MS + SWEEP_MS)
    assert.match((await silent.expect(421)).text, /^421 4\.4\.2/)
    await silent.closed()
    assert.equal(queued(), before)
  })

  it('of commands in a flood are answered in order', async () => {
    const client = await signInToSubmit(appliance, ada)
    client.write('NOOP\r\n'.repeat(10_000))
    for (let at = 0; at < 10_000; at++) await client.expect(250)
    client.drop()
  })
})

describe('addresses beyond ASCII', () => {
  it('are taken with SMTPUTF8, and sent on with it', async () => {
    const client = await signInToSubmit(appliance, ada)
    await client.command('MAIL FROM:<ada@acme.test> SMTPUTF8 BODY=8BITMIME', 250)
    await client.command('RCPT TO:<用户@例え.example>', 250)
    await client.command('DATA', 354)
    client.write(`${plainMail({ from: 'Ada Grün <ada@acme.test>', to: '用户@例え.example', subject: 'Grüße' })}.\r\n`)
    const reply = await client.reply()
    assert.equal(reply.code, 250, reply.text)
    client.drop()
    await appliance.settle()
    const got = remote.messages.at(-1)!
    assert.deepEqual([got.to, got.args.SMTPUTF8], [['用户@例え.example'], true])
    assert.match(
      got.bytes.toString(),
      /with UTF8SMTPSA id [\s\S]*\r\nFrom: Ada Grün <ada@acme\.test>\r\nTo: 用户@例え\.example/,
    )
  })

  it('of mailboxes here that do not exist are unknown', async () => {
    const client = await signInToSubmit(appliance, ada)
    await client.command('MAIL FROM:<ada@acme.test> SMTPUTF8', 250)
    assert.match((await client.command('RCPT TO:<用户@acme.test>')).text, /^550 5\.1\.1/)
    await client.command('RSET', 250)
    assert.match((await client.command('MAIL FROM:<adá@acme.test> SMTPUTF8')).text, /^553 5\.7\.1/)
    client.drop()
  })
})
