// The SMTP server under load: connections are limited by source and in total, proxies are trusted only as configured, shutdown is orderly.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { CLOSING_MS } from '../../src/base/lifecycle.ts'
import { openInbound } from '../../src/inbound/listener.ts'
import { PROXY_MS } from '../../src/net/proxy-protocol.ts'
import { COMMAND_MS, SWEEP_MS } from '../../src/smtp/limits.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages } from '../support/stored.ts'

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** Connects until the server rejects; returns its reply. */
async function fill(port: number, count: number): Promise<{ clients: SmtpClient[]; codes: number[]; last: string }> {
  const clients = await Promise.all(Array.from({ length: count }, () => SmtpClient.connect(port)))
  const replies = await Promise.all(clients.map((client) => client.reply()))
  return {
    clients,
    codes: replies.map(({ code }) => code).sort(),
    last: replies.find(({ code }) => code === 421)?.text ?? '',
  }
}

async function drop(clients: SmtpClient[]): Promise<void> {
  for (const client of clients) {
    client.drop()
    await client.closed()
  }
}

/** Waits until a fresh connection is greeted: those before it have been seen to leave. */
async function untilGreeted(port: number): Promise<SmtpClient> {
  for (;;) {
    const client = await SmtpClient.connect(port)
    if ((await client.reply()).code === 220) return client
    await client.closed()
  }
}

test('the connections of one source are limited', async () => {
  await using appliance = await startAppliance({ env: { SMTP_MAX_PER_ADDRESS: '4' } })
  const { clients, codes, last } = await fill(appliance.ports.smtp, 6)
  assert.deepEqual(codes, [220, 220, 220, 220, 421, 421])
  assert.match(last, /^421 4\.7\.0 /)
  await using other = await SmtpClient.connect(appliance.ports.smtp, '127.0.0.2')
  await other.expect(220)
  await drop(clients)
  await using again = await untilGreeted(appliance.ports.smtp)
  // A session that used STARTTLS is subtracted, too.
  await again.command('EHLO client.test', 250)
  await again.startTls()
  await drop([again])
  const second = await fill(appliance.ports.smtp, 5)
  assert.ok(second.codes.filter((code) => code === 220).length >= 3)
  await drop(second.clients)
})

test('the connections of all sources are limited', async () => {
  await using appliance = await startAppliance({ env: { SMTP_MAX_CONNECTIONS: '3' } })
  const { clients, codes, last } = await fill(appliance.ports.smtp, 5)
  assert.deepEqual(codes, [220, 220, 220, 421, 421])
  assert.match(last, /^421 4\.3\.2 /)
  await drop(clients)
  await drop([await untilGreeted(appliance.ports.smtp)])
})

test('hundreds of idle connections do not delay a message', async (context) => {
  await using appliance = await startAppliance({ env: { SMTP_MAX_PER_ADDRESS: '400' } })
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  const before = process.memoryUsage().rss
  const { clients, codes } = await fill(appliance.ports.smtp, 300)
  assert.ok(codes.every((code) => code === 220))
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const reply = await client.mail({
    from: 'a@out.test',
    to: box.email,
    content: plainMail({ from: 'a@out.test', to: box.email }),
  })
  assert.equal(reply.code, 250, reply.text)
  const growth = (process.memoryUsage().rss - before) / 1024
  context.diagnostic(`${Math.round(growth / 300)} KiB of memory a connection, both ends counted`)
  await drop(clients)
})

test('a trusted proxy names the client in either version of the protocol, and must do so', async () => {
  await using appliance = await startAppliance({
    env: { PROXY_PROTOCOL_FROM: '127.0.0.1/32,192.0.2.0/24', SMTP_MAX_PER_ADDRESS: '2' },
  })
  const team = await appliance.team()
  await team.domain('in.test')
  const { smtp: port } = appliance.ports
  const v2 = Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, 0, 12, 198, 51, 100, 8, 127, 0, 0, 1, 16, 0, 0, 25])])
  const headers = [Buffer.from('PROXY TCP4 198.51.100.7 127.0.0.1 4000 25\r\n'), v2, Buffer.from('PROXY UNKNOWN\r\n')]
  for (const header of headers) {
    await using client = await SmtpClient.connect(port)
    for (const byte of header) await client.push(Buffer.from([byte]))
    await client.expect(220)
    await client.command('EHLO client.test', 250)
    await client.command('MAIL FROM:<a@out.test>', 250)
    await client.command('RCPT TO:<nobody@in.test>', 550)
  }
  assert.deepEqual(
    (await logOf(appliance, team.id)).map(({ remote_address }) => remote_address),
    ['198.51.100.7', '198.51.100.8', '127.0.0.1'],
  )

  for (const wrong of [
    'EHLO client.test\r\n',
    'PROXY TCP4 x y 1 2\r\n',
    `PROXY ${'x'.repeat(200)}`,
    `${SIGNATURE.toString('latin1')}xxxxxxxx`,
  ]) {
    await using client = await SmtpClient.connect(port)
    client.write(wrong)
    assert.match((await client.reply()).text, /^421 4\.7\.0 /)
    await client.closed()
  }

  // The limit of a source counts who really connects, not the proxy.
  const through = async (address: string) => {
    const client = await SmtpClient.connect(port)
    client.write(`PROXY TCP4 ${address} 127.0.0.1 4000 25\r\n`)
    return { client, code: (await client.reply()).code }
  }
  const opened = [
    await through('198.51.100.1'),
    await through('198.51.100.1'),
    await through('198.51.100.1'),
    await through('198.51.100.2'),
  ]
  assert.deepEqual(
    opened.map(({ code }) => code),
    [220, 220, 421, 220],
  )
  await drop(opened.map(({ client }) => client))

  // Who is no proxy of ours is taken by its own word, and a header from there is no command.
  await using stranger = await SmtpClient.connect(port, '127.0.0.2')
  await stranger.expect(220)
  assert.equal((await stranger.command('PROXY TCP4 198.51.100.7 127.0.0.1 4000 25')).code, 500)
})

test('timeouts follow the clock of the appliance: a silent client, a silent proxy, a stop the client ignores', async () => {
  const clock = new ManualClock()
  const appliance = await startAppliance({ clock, env: { PROXY_PROTOCOL_FROM: '127.0.0.2' } })
  const { smtp: port } = appliance.ports
  await using silent = await SmtpClient.greet(port)
  await using proxy = await SmtpClient.connect(port, '127.0.0.2')
  // A later connection has been greeted: the server knows the one before it.
  await using other = await SmtpClient.greet(port)
  clock.advance(PROXY_MS)
  assert.match((await proxy.reply()).text, /^421 4\.7\.0 /)
  clock.advance(COMMAND_MS + SWEEP_MS - PROXY_MS)
  for (const client of [silent, other]) assert.match((await client.reply()).text, /^421 4\.4\.2 /)

  await using deaf = await SmtpClient.greet(port)
  await deaf.command('MAIL FROM:<a@out.test>', 250)
  const closed = appliance.close()
  // This one is refused, or accepted and rejected: either way the server then knows that it is closing.
  await using late = await SmtpClient.connect(port, '127.0.0.1').catch(() => null)
  await late?.closed()
  clock.advance(CLOSING_MS)
  assert.equal(await deaf.closed(), '')
  await closed
})

test('a port in use is reported in one sentence', async () => {
  await using appliance = await startAppliance()
  const { app, ports } = appliance
  const second = openInbound({ ...app, config: { ...app.config, SMTP_PORT: ports.smtp } })
  await assert.rejects(second.start(), {
    name: 'ProductError',
    message: `The SMTP port ${ports.smtp} of 127.0.0.1 cannot be opened (EADDRINUSE). Check SMTP_PORT and SMTP_BIND.`,
  })
})

test('a client that talks before the greeting is rejected', async () => {
  await using appliance = await startAppliance()
  await using client = await SmtpClient.connect(appliance.ports.smtp)
  client.write('EHLO client.test\r\n')
  assert.equal((await client.reply()).code, 421)
  await client.closed()
})

test('stopping completes a message under way, ends other sessions, and keeps what was accepted', async () => {
  // Its clock stands still: on a busy machine the time in which sessions may end would be over before the message is inspected.
  const appliance = await startAppliance({ clock: new ManualClock() })
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  const { smtp: port } = appliance.ports
  await using idle = await SmtpClient.greet(port)
  await using busy = await SmtpClient.greet(port)
  await busy.command('MAIL FROM:<a@out.test>', 250)
  await busy.command('RCPT TO:<nobody@in.test>', 550)
  await busy.command(`RCPT TO:<${box.email}>`, 250)
  await busy.command('DATA', 354)
  busy.write('From: a@out.test\r\nSubject: Late\r\n')
  const rows: string[] = []
  const { close } = appliance.app
  // Checked after every listener is closed and before the database is.
  appliance.app.close = async () => {
    rows.push(...(await logOf(appliance, team.id)).map(({ status }) => status))
    rows.push(...(await storedMessages(appliance, box.id)).map(({ subject }) => subject))
    await close()
  }
  const closed = appliance.close()
  assert.match((await idle.reply()).text, /^421 4\.3\.2 /)
  await idle.closed()
  const refused = connect(port, '127.0.0.1')
  const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNREFUSED')
  busy.write('\r\nx\r\n.\r\n')
  await busy.expect(250)
  assert.match((await busy.reply()).text, /^421 4\.3\.2 /)
  await closed
  assert.deepEqual(rows, ['refused', 'stored', 'Late'])
})
