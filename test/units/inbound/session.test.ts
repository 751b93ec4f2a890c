// One session over a real socket with a desk of paper: what is read, what is answered, and when it ends.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import { selfSigned } from '../../../src/config/certificate.ts'
import type { AcceptedRecipient } from '../../../src/inbound/recipients.ts'
import { refusals } from '../../../src/inbound/refusals.ts'
import { type SessionHandler, SmtpSession } from '../../../src/inbound/session.ts'
import type { MailTransaction, Peer } from '../../../src/inbound/transaction.ts'
import { type LineError, MAX_COMMAND_BYTES } from '../../../src/smtp/command-reader.ts'
import {
  COMMAND_MS,
  CONTENT_BYTES_PER_S,
  CONTENT_MS,
  MAX_ERRORS,
  MAX_RECIPIENTS,
  PAUSE_MS,
} from '../../../src/smtp/limits.ts'
import { openProtocol } from '../../../src/smtp/protocol.ts'
import { replies } from '../../../src/smtp/replies.ts'
import { ManualClock } from '../../support/clock.ts'
import { SmtpClient, sendMail } from '../../support/smtp.ts'

interface Taken {
  content: string
  fault: string | null
  transaction: MailTransaction
  peer: Peer
}

const clock = new ManualClock()
const taken: Taken[] = []
const faults: LineError[] = []
const sessions = new Set<SmtpSession>()
/** What the source has to wait for, and how often it broke the protocol. */
let delay: number | null = 0
let protocolErrors = 0
/** What `receive` waits for before it answers. */
let gate: Promise<void> = Promise.resolve()

const desk: SessionHandler = {
  clock,
  lookupName: async () => ({ name: 'client.test' }),
  async evaluateRecipient(path) {
    if (path.local === 'unknown') return refusals.unknown.reply
    return { rcptTo: path.address } as AcceptedRecipient
  },
  async receive(content, transaction, peer) {
    let text = ''
    try {
      for await (const piece of content) text += piece.toString('latin1')
    } catch {
      return replies.closing
    }
    taken.push({ content: text, fault: content.byteError, transaction, peer })
    await gate
    if (content.byteError) return refusals.bareLf.reply
    return content.sizeExceeded ? refusals.tooLarge.reply : replies.queued(transaction.queueId)
  },
  delay: () => delay,
  noteProtocolError: () => protocolErrors++,
  noteLineError: (fault) => faults.push(fault),
  sessionClosed: (session) => sessions.delete(session),
}

const tls = await selfSigned('mx.in.test', Date.UTC(2020, 0), Date.UTC(2040, 0))
const certificate = { pair: tls, onChange: () => {} }
const protocol = openProtocol({ hostName: 'mx.in.test', certificate, log: openLog('silent') })
const server = createServer({ allowHalfOpen: true }, (socket) => {
  const session = new SmtpSession(protocol, socket, { address: '192.0.2.1', port: 1 }, desk)
  sessions.add(session)
  session.init()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as { port: number }
after(() => server.close())

/** The mail of the last transaction; forgotten, so that each test sees its own. */
function takenNow(): Taken[] {
  return taken.splice(0)
}

function checkDeadlines(): void {
  for (const session of sessions) session.checkDeadline(clock.now())
}

test('greets with its name and nothing else, and offers what it can', async () => {
  await using client = await SmtpClient.connect(port)
  assert.equal((await client.reply()).text, '220 mx.in.test ESMTP')
  const { lines } = await client.command('EHLO client.test')
  assert.deepEqual(lines, [
    'mx.in.test',
    'PIPELINING',
    '8BITMIME',
    'SMTPUTF8',
    'ENHANCEDSTATUSCODES',
    'STARTTLS',
    'SIZE 52428800',
  ])
  for (const command of [
    'AUTH PLAIN AA==',
    'XCLIENT ADDR=192.0.2.9',
    'XFORWARD ADDR=192.0.2.9',
    'BDAT 1 LAST',
    'WIZ x',
  ]) {
    assert.match((await client.command(command)).text, /^500 5\.5\.2 /, command)
  }
})

test('takes a mail, and the next one in the same session', async () => {
  await using client = await SmtpClient.greet(port)
  for (const text of ['one', '.two']) {
    const reply = await client.mail({ from: 'ann@out.test', to: ['ben@in.test', 'eve@in.test'], content: text })
    assert.match(reply.text, /^250 2\.0\.0 Ok: queued as [a-z0-9]{16}$/)
  }
  const mails = takenNow()
  assert.deepEqual(
    mails.map(({ content }) => content),
    ['one\r\n', '.two\r\n'],
  )
  assert.deepEqual(
    mails[0]!.transaction.recipients.map(({ rcptTo }) => rcptTo),
    ['ben@in.test', 'eve@in.test'],
  )
  assert.notEqual(mails[0]!.transaction.queueId, mails[1]!.transaction.queueId)
  assert.deepEqual(mails[0]!.peer, {
    address: '192.0.2.1',
    name: { name: 'client.test' },
    helo: 'client.test',
    tls: null,
    protocol: 'ESMTP',
  })
})

test('answers a pipelined group in order, content and all', async () => {
  await using client = await SmtpClient.greet(port)
  client.write(
    'MAIL FROM:<ann@out.test>\r\nRCPT TO:<unknown@in.test>\r\nRCPT TO:<ben@in.test>\r\nDATA\r\none\r\n.\r\nNOOP\r\nQUIT\r\nNOOP\r\n',
  )
  const codes: number[] = []
  for (let i = 0; i < 7; i++) codes.push((await client.reply()).code)
  assert.deepEqual(codes, [250, 550, 250, 354, 250, 250, 221])
  assert.equal(await client.closed(), '', 'nothing after QUIT is answered')
  assert.equal(takenNow().length, 1)
})

test('ten thousand commands in one write are all answered', async () => {
  await using client = await SmtpClient.greet(port)
  client.write('NOOP\r\n'.repeat(10_000))
  for (let i = 0; i < 10_000; i++) await client.expect(250)
})

test('commands out of order are told so', async () => {
  await using client = await SmtpClient.connect(port)
  await client.expect(220)
  assert.match((await client.command('MAIL FROM:<ann@out.test>')).text, /^503 5\.5\.1 /)
  await client.command('EHLO client.test', 250)
  assert.match((await client.command('RCPT TO:<ben@in.test>')).text, /^503 5\.5\.1 /)
  assert.match((await client.command('DATA')).text, /^503 5\.5\.1 /)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  assert.match((await client.command('MAIL FROM:<ann@out.test>')).text, /^503 5\.5\.1 /)
  assert.match((await client.command('DATA')).text, /^503 5\.5\.1 /)
  await client.command('RCPT TO:<ben@in.test>', 250)
  assert.match((await client.command('DATA now')).text, /^501 5\.5\.4 /)
  await client.command('RSET', 250)
  assert.match((await client.command('DATA')).text, /^503 5\.5\.1 /)
})

test('a refused MAIL leaves nothing behind for the next one', async () => {
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<bad> SMTPUTF8', 501)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  assert.match((await client.command('RCPT TO:<jürgen@in.test>')).text, /^553 5\.6\.7 /)
})

test('more recipients than a transaction takes are sent back for another one', async () => {
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  for (let i = 0; i < MAX_RECIPIENTS; i++) await client.command(`RCPT TO:<r${i}@in.test>`, 250)
  assert.match((await client.command('RCPT TO:<more@in.test>')).text, /^452 4\.5\.3 /)
  await client.command('RCPT TO:<r0@in.test>', 250)
  await client.command('DATA', 354)
  client.write('.\r\n')
  await client.expect(250)
  assert.equal(takenNow()[0]!.transaction.recipients.length, MAX_RECIPIENTS)
})

const malformed: [string, string, LineError][] = [
  ['a bare line feed', 'NOOP\nNOOP\r\n', 'bare_lf'],
  ['a bare carriage return', 'NOOP\rNOOP\r\n', 'bare_cr'],
  ['a NUL', 'NOOP \0\r\n', 'nul'],
  ['a line of 8 MiB', 'x'.repeat(8 * 1024 * 1024), 'too_long'],
  ['a line just too long', `NOOP ${'x'.repeat(MAX_COMMAND_BYTES - 6)}\r\n`, 'too_long'],
]
for (const [what, bytes, fault] of malformed) {
  test(`${what} in a command ends the session and is counted`, async () => {
    await using client = await SmtpClient.greet(port)
    client.write(bytes)
    assert.match((await client.reply()).text, /^500 5\.5\.2 /)
    assert.equal(await client.closed(), '')
    assert.deepEqual(faults.splice(0), [fault])
  })
}

test('a line of just the length is taken, in whatever pieces it comes', async () => {
  await using client = await SmtpClient.greet(port)
  const text = `NOOP ${'x'.repeat(MAX_COMMAND_BYTES - 7)}\r\n`
  for (const byte of Buffer.from(text)) await client.push(Buffer.from([byte]))
  await client.expect(250)
})

test('text beyond ASCII stands in addresses only', async () => {
  await using client = await SmtpClient.greet(port)
  assert.match((await client.command('EHLO bücher.test')).text, /^501 5\.5\.2 /)
  client.write(Buffer.concat([Buffer.from('MAIL FROM:<'), Buffer.from([0xff, 0xfe]), Buffer.from('@out.test>\r\n')]))
  assert.match((await client.reply()).text, /^501 5\.5\.2 /)
  await client.command('MAIL FROM:<jürgen@out.test> SMTPUTF8', 250)
  await client.command('RCPT TO:<ben@in.test>', 250)
  await client.command('DATA', 354)
  client.write('.\r\n')
  await client.expect(250)
  const [mail] = takenNow()
  assert.equal(mail!.peer.protocol, 'UTF8SMTP')
  assert.equal(mail!.transaction.sender.address, 'jürgen@out.test')
})

for (const secure of [false, true]) {
  test(`a peer that closes its half after QUIT gets all its answers${secure ? ' over TLS' : ''}`, async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    await using client = await SmtpClient.greet(port)
    if (secure) {
      await client.startTls()
      await client.command('EHLO client.test', 250)
    }
    await client.command('MAIL FROM:<ann@out.test>', 250)
    await client.command('RCPT TO:<ben@in.test>', 250)
    await client.command('DATA', 354)
    client.write('Subject: one\r\n\r\n.\r\nQUIT\r\n')
    client.end()
    while (taken.length === 0 || !isHalfClosed()) await new Promise(setImmediate)
    open.resolve()
    assert.match((await client.reply()).text, /^250 2\.0\.0 Ok: queued as /)
    assert.match((await client.reply()).text, /^221 /)
    assert.equal(await client.closed(), '')
    assert.equal(takenNow().length, 1)
  })
}

test('a peer that closes its half without QUIT, or inside a mail, is answered what it asked and let go', async () => {
  await using client = await SmtpClient.greet(port)
  client.write('MAIL FROM:<ann@out.test>\r\nRCPT TO:<ben@in.test>\r\nRCPT TO:<unknown@in.test>\r\n')
  client.end()
  for (const code of [250, 250, 550]) await client.expect(code)
  assert.equal(await client.closed(), '')
  await using broken = await openContent()
  broken.write('Subject: half\r\n')
  broken.end()
  assert.equal(await broken.closed(), '')
  assert.deepEqual(takenNow(), [])
})

/** Whether a session has read the end of what its peer sends. */
function isHalfClosed(): boolean {
  return [...sessions].some(({ _socket }) => _socket.readableEnded)
}

test('an unfinished command is not run when the peer closes', async () => {
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  client.write('RSET')
  client.end()
  assert.equal(await client.closed(), '')
})

test('too many refused commands end the session; a mail that is taken starts the count anew', async () => {
  await using client = await SmtpClient.greet(port)
  const refuse = async (times: number) => {
    for (let i = 0; i < times; i++) await client.command('RCPT TO:<unknown@in.test>', 550)
  }
  await client.command('MAIL FROM:<ann@out.test>', 250)
  await refuse(MAX_ERRORS)
  await client.command('RCPT TO:<ben@in.test>', 250)
  await client.command('DATA', 354)
  client.write('.\r\n')
  await client.expect(250)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  await refuse(MAX_ERRORS + 1)
  assert.match((await client.reply()).text, /^421 4\.7\.0 /)
  await client.closed()
  takenNow()
})

test('a source that is throttled waits for every answer, and one that is blocked is sent away', async () => {
  await using client = await SmtpClient.greet(port)
  protocolErrors = 0
  delay = 4000
  client.write('NOOP\r\nMAIL FROM:<ann@out.test>\r\nNONSENSE\r\nRCPT TO:<unknown@in.test>\r\n')
  for (const code of [250, 250, 500, 550]) {
    let answered = false
    const answer = client.reply().finally(() => (answered = true))
    for (const ms of [0, delay - 1]) {
      clock.advance(ms)
      // A greeting takes a while: what was sent before has been read, and what was answered has come.
      await using other = await SmtpClient.connect(port)
      await other.expect(220)
      assert.equal(answered, false)
    }
    clock.advance(1)
    assert.equal((await answer).code, code)
  }
  assert.equal(protocolErrors, 1, 'an unknown recipient is counted elsewhere')
  delay = null
  assert.match((await client.command('NOOP')).text, /^421 4\.7\.0 /)
  assert.equal(await client.closed(), '')
  delay = 0
})

test('STARTTLS drops what came before it, the state as well as bytes behind the command', async () => {
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<evil@out.test>', 250)
  await client.startTls('RCPT TO:<ben@in.test>\r\nNOOP\r\n')
  assert.match((await client.command('RCPT TO:<ben@in.test>')).text, /^503 /)
  const { lines } = await client.command('EHLO client.test', 250)
  assert.ok(!lines.includes('STARTTLS'))
  await client.mail({ from: 'ann@out.test', to: 'ben@in.test', content: 'one' })
  const [mail, ...others] = takenNow()
  assert.deepEqual(others, [])
  assert.equal(mail!.transaction.sender.address, 'ann@out.test')
  assert.equal(mail!.peer.protocol, 'ESMTPS')
  assert.match(mail!.peer.tls!, /^TLSv1\.3 TLS_/)
})

test('nodemailer delivers, with STARTTLS on its own', async () => {
  const info = await sendMail(port, { from: 'ann@out.test', to: 'ben@in.test', subject: 'Hello', text: 'One\n.\nTwo' })
  assert.match(String(info.response), /^250 2\.0\.0 /)
  const [mail] = takenNow()
  assert.match(mail!.content, /\r\n\r\nOne\r\n\.\r\nTwo\r\n$/)
  assert.equal(mail!.peer.protocol, 'ESMTPS')
})

/** What some server has taken for the end of data (RFC 5321 §4.1.1.4: nothing but CRLF.CRLF is). */
const SMUGGLED = [
  ...['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\n.\r', '\r\n.\r', '\r.\r\n'],
  ...['\r\n.\0\r\n', '\r\n\0.\r\n', '\r\r\n.\r\r\n', '\r\n.\r\r\n', '\n\n.\n\n'],
]

test('no smuggled end of data is one', async () => {
  for (const sequence of SMUGGLED) {
    const id = JSON.stringify(sequence)
    await using client = await SmtpClient.greet(port)
    await client.command('MAIL FROM:<ann@out.test>', 250)
    await client.command('RCPT TO:<ben@in.test>', 250)
    await client.command('DATA', 354)
    const second = 'MAIL FROM:<evil@out.test>\r\nRCPT TO:<eve@in.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nx'
    client.write(Buffer.concat([Buffer.from('Subject: one\r\n\r\nx'), Buffer.from(sequence), Buffer.from(second)]))
    client.write('\r\n.\r\n')
    assert.match((await client.reply()).text, /^550 5\.6\.11 /, id)
    assert.equal(await client.closed(), '', `${id}: nothing else was answered`)
    const mails = takenNow()
    assert.deepEqual(
      mails.map(({ transaction }) => transaction.sender.address),
      ['ann@out.test'],
      id,
    )
    assert.notEqual(mails[0]!.fault, null, id)
  }
})

test('an end of data after a doubled carriage return runs nothing behind it', async () => {
  await using client = await openContent()
  client.write('x\r\r\n.\r\nMAIL FROM:<evil@out.test>\r\nRCPT TO:<eve@in.test>\r\nDATA\r\nx\r\n.\r\n')
  assert.match((await client.reply()).text, /^550 5\.6\.11 /)
  assert.equal(await client.closed(), '')
  assert.equal(takenNow().length, 1)
})

test('a peer that goes away inside a mail leaves its reader with an error', async () => {
  const client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  await client.command('RCPT TO:<ben@in.test>', 250)
  const { receive } = desk
  const failed = new Promise<unknown>((resolve) => {
    desk.receive = async (content) => {
      try {
        for await (const _ of content);
      } catch (error) {
        resolve(error)
      }
      return replies.closing
    }
  })
  await client.command('DATA', 354)
  client.write('Subject: half\r\n')
  client.drop()
  assert.match(String(await failed), /closed/)
  desk.receive = receive
})

test('a session that says nothing ends, and so does one that drips a command', async () => {
  await using idle = await SmtpClient.greet(port)
  await using dripping = await SmtpClient.greet(port)
  for (const byte of Buffer.from('NOOP')) {
    await dripping.push(Buffer.from([byte]))
    clock.advance(COMMAND_MS / 4)
    checkDeadlines()
  }
  clock.advance(1)
  checkDeadlines()
  for (const client of [idle, dripping]) {
    assert.match((await client.reply()).text, /^421 4\.4\.2 /)
    await client.closed()
  }
})

test('a command finished in time gives time for the next one', async () => {
  await using client = await SmtpClient.greet(port)
  for (let i = 0; i < 4; i++) {
    clock.advance(COMMAND_MS - 1)
    checkDeadlines()
    await client.command('NOOP', 250)
  }
})

test('a pause inside a mail ends the session', async () => {
  await using client = await openContent()
  client.write('Subject: one\r\n')
  clock.advance(PAUSE_MS + 1)
  checkDeadlines()
  assert.match((await client.reply()).text, /^421 4\.4\.2 /)
})

test('a mail that drips ends the session, a slow one does not', async () => {
  await using dripping = await openContent()
  await using slow = await openContent()
  const step = PAUSE_MS / 2
  const enough = Buffer.alloc((CONTENT_BYTES_PER_S * step) / 1000, 'x')
  let at = 0
  for (; at <= CONTENT_MS; at += step) {
    await dripping.push(Buffer.from('x'))
    await slow.push(enough)
    await slow.push(Buffer.from('\r\n'))
    // Both have been read when a third session's command, sent later, has been answered.
    await using other = await SmtpClient.greet(port)
    await other.command('NOOP', 250)
    clock.advance(step)
    checkDeadlines()
  }
  assert.match((await dripping.reply()).text, /^421 4\.4\.2 /)
  slow.write('.\r\n')
  await slow.expect(250)
  takenNow()
})

test('while the peer waits for us nothing is late', async () => {
  const open = Promise.withResolvers<void>()
  gate = open.promise
  await using client = await openContent()
  client.write('.\r\n')
  while (taken.length === 0) await new Promise(setImmediate)
  clock.advance(COMMAND_MS * 10)
  checkDeadlines()
  open.resolve()
  await client.expect(250)
  await client.command('NOOP', 250)
  takenNow()
})

test('a TLS handshake that never comes ends the session', async () => {
  await using client = await SmtpClient.greet(port)
  await client.command('STARTTLS', 220)
  clock.advance(COMMAND_MS + 1)
  checkDeadlines()
  await client.closed()
})

test('a handshake that is no TLS ends the session', async () => {
  await using client = await SmtpClient.greet(port)
  await client.command('STARTTLS', 220)
  client.write('EHLO client.test\r\n')
  await client.closed()
})

test('who is asked to end does so at once, or after the mail under way', async () => {
  await using idle = await SmtpClient.greet(port)
  await using early = await SmtpClient.greet(port)
  await using late = await openContent()
  await early.command('MAIL FROM:<ann@out.test>', 250)
  for (const session of sessions) session.retire()
  assert.match((await idle.reply()).text, /^421 4\.3\.2 /)
  await early.command('RCPT TO:<ben@in.test>', 250)
  await early.command('RSET', 250)
  assert.match((await early.reply()).text, /^421 4\.3\.2 /)
  late.write('.\r\n')
  await late.expect(250)
  assert.match((await late.reply()).text, /^421 4\.3\.2 /)
  for (const client of [idle, early, late]) await client.closed()
  takenNow()
})

test('whatever bytes come, in whatever pieces, no mail is seen that was not asked for', async () => {
  const pieces = [
    ...['EHLO client.test\r\n', 'MAIL FROM:<ann@out.test>\r\n', 'RCPT TO:<ben@in.test>\r\n', 'DATA\r\n', 'RSET\r\n'],
    ...[
      '\r\n.\r\n',
      '.\r\n',
      '\r\n',
      '\n',
      '\r',
      '\0',
      '.',
      '..',
      ' ',
      '<',
      '"',
      'x'.repeat(3000),
      'ü',
      'STARTTLS\r\n',
    ],
  ]
  const random = dice(20260101)
  const run = async () => {
    await using client = await SmtpClient.connect(port)
    await client.expect(220)
    const opening = pieces.slice(0, random(5)).join('')
    const rest = Array.from({ length: 30 }, () => pieces[random(pieces.length)]!).join('')
    const bytes = Buffer.from(opening + rest)
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random(200)
      client.write(bytes.subarray(at, end))
      at = end
    }
    client.end()
    return (await client.closed()).split('\r\n').filter((line) => line.startsWith('354')).length
  }
  const asked = (await Promise.all(Array.from({ length: 150 }, run))).reduce((sum, count) => sum + count, 0)
  assert.ok(asked > 10)
  // A mail whose connection ended before its end is not taken.
  assert.ok(takenNow().length <= asked)
  await using client = await openContent()
  client.write('.\r\n')
  await client.expect(250)
  takenNow()
  faults.splice(0)
})

/** Numbers below a limit, the same ones in every run. */
function dice(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    // Lehmer's generator.
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}

/** A session that is inside DATA. */
async function openContent(): Promise<SmtpClient> {
  const client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  await client.command('RCPT TO:<ben@in.test>', 250)
  await client.command('DATA', 354)
  return client
}
