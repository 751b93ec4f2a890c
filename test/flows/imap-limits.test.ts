// Bounds of IMAP against a live listener (docs/design/mail-programs.md §2.5): each is kept, has a clear answer, and other clients are not slower.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { constants, createDeflateRaw } from 'node:zlib'
import {
  AFTER_LOGIN,
  APPEND_MESSAGES,
  BEFORE_LOGIN,
  ERRORS_AFTER_LOGIN,
  ID_FIELD_BYTES,
  ID_PAIRS,
  ID_VALUE_BYTES,
  KEYWORD_BYTES,
  LITERAL_PAUSE_MS,
  SASL_LINE_BYTES,
  SORT_CRITERIA,
  STARTED_LINE_MS,
  STORE_FLAGS,
  UNREAD_MS,
} from '../../src/imap/grammar/limits.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { connectImap, connectImapPlain, type ImapClient, logInImap } from '../support/imap.ts'

const PER_ADDRESS = 8
const PER_MAILBOX = 3
const COMPRESSED = 1
const MIB = 2 ** 20

let appliance: TestAppliance
let team: TestTeam
let ada: { id: string; email: string; key: string }
let bob: { id: string; email: string; key: string }
const clock = new ManualClock()

before(async () => {
  const limits = {
    IMAP_MAX_PER_ADDRESS: PER_ADDRESS,
    IMAP_MAX_PER_MAILBOX: PER_MAILBOX,
    IMAP_MAX_COMPRESSED: COMPRESSED,
  }
  const env = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)]))
  appliance = await startAppliance({ clock, env })
  team = await appliance.team()
  await team.domain('acme.test')
  ada = await team.mailbox('ada@acme.test')
  bob = await team.mailbox('bob@acme.test')
})
after(() => appliance.close())

async function rest(client: ImapClient): Promise<string[]> {
  const responses: string[] = []
  for (let one = await client.response(); one !== null; one = await client.response()) responses.push(one)
  return responses
}

/** Closes connections and waits until the appliance no longer counts them. */
async function close(...clients: ImapClient[]): Promise<void> {
  for (const client of clients) client.socket.destroy()
  await eventually(async () => (await metric('imap_connections{protocol="imaps"}')) === 0)
}

async function metric(name: string): Promise<number> {
  const text = (await appliance.app.metrics.texts()).join('')
  const line = text.split('\n').find((one) => one.startsWith(`mailstead_${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

describe('connections', () => {
  it('of one address are limited: BYE in plain text, the end before TLS', async () => {
    const clients: ImapClient[] = []
    for (let i = 0; i < PER_ADDRESS; i++) clients.push(await connectImap(appliance))
    assert.match((await connectImapPlain(appliance)).greeting, /^\* BYE \[UNAVAILABLE\]/)
    await assert.rejects(connectImap(appliance))
    await close(...clients)
    const again = await connectImap(appliance)
    assert.match(again.greeting, /^\* OK/)
    await close(again)
  })

  it('of one mailbox are limited: NO [LIMIT], and those of others are not', async () => {
    const clients: ImapClient[] = []
    for (let i = 0; i < PER_MAILBOX; i++) clients.push(await logInImap(appliance, ada))
    const next = await connectImap(appliance)
    assert.match((await next.run(`LOGIN ${ada.email} ${ada.key}`)).tagged, /^NO \[LIMIT\]/)
    assert.equal((await next.run(`LOGIN ${bob.email} ${bob.key}`)).status, 'OK')
    await close(...clients, next)
    await close(await logInImap(appliance, ada))
  })

  it('that compress are limited: NO [LIMIT], and the slot comes back', async () => {
    const [first, second] = [await logInImap(appliance, ada), await logInImap(appliance, bob)]
    assert.equal((await first.run('COMPRESS DEFLATE')).status, 'OK')
    assert.match((await second.run('COMPRESS DEFLATE')).tagged, /^NO \[LIMIT\]/)
    await close(first, second)
    const third = await logInImap(appliance, bob)
    assert.equal((await third.run('COMPRESS DEFLATE')).status, 'OK')
    await close(third)
  })

  it('end after three refused logins', async () => {
    const sends = { name: 'sends', permissions: ['email.send'] }
    const { body } = await appliance.call('POST', `/mailboxes/${ada.id}/api-keys`, team.key, sends)
    const client = await connectImap(appliance)
    for (let i = 0; i < 3; i++) client.write(`l${i} LOGIN ${ada.email} ${body.data.key}\r\n`)
    const answers = await rest(client)
    assert.deepEqual(
      answers.map((one) => one.slice(0, 5)),
      ['l0 NO', 'l1 NO', '* BYE', 'l2 NO'],
    )
    await close(client)
  })
})

describe('what is sent', () => {
  it('numbers of literals out of range, and storms of empty ones, are BAD', async () => {
    const client = await logInImap(appliance, ada)
    assert.match((await client.run('NOOP {-1}')).tagged, /^BAD/)
    assert.match((await client.run('SELECT {9223372036854775808}')).tagged, /^BAD \[TOOBIG\]/)
    assert.match((await client.run(`SELECT {${AFTER_LOGIN.literalBytes + 1}}`)).tagged, /^BAD \[TOOBIG\]/)
    client.write(`s SEARCH ${'{0+}\r\n '.repeat(AFTER_LOGIN.literals)}\r\n`)
    assert.match((await client.response())!, /^s BAD/)
    client.write(`t SEARCH ${'{0+}\r\n '.repeat(AFTER_LOGIN.literals + 1)}`)
    const answers = await rest(client)
    assert.match(answers[0]!, /^t BAD \[TOOBIG\]/)
    assert.match(answers[1]!, /^\* BYE/)
    await close(client)
  })

  it('before the login a literal may have 4 KiB, and a response of AUTHENTICATE 16 KiB', async () => {
    const client = await connectImap(appliance)
    assert.match((await client.run(`LOGIN {${BEFORE_LOGIN.literalBytes + 1}}`)).tagged, /^BAD \[TOOBIG\]/)
    assert.equal((await client.run('AUTHENTICATE PLAIN', 'A'.repeat(SASL_LINE_BYTES + 1))).status, 'BAD')
    await close(client)
  })

  it('ID: thirty pairs, and their lengths', async () => {
    const client = await connectImap(appliance)
    const pairs = (count: number, name = 1, value = 1) =>
      `ID (${Array.from({ length: count }, () => `"${'n'.repeat(name)}" "${'v'.repeat(value)}"`).join(' ')})`
    assert.equal((await client.run(pairs(ID_PAIRS, ID_FIELD_BYTES, ID_VALUE_BYTES))).status, 'OK')
    assert.equal((await client.run(pairs(ID_PAIRS + 1))).status, 'BAD')
    assert.equal((await client.run(pairs(1, ID_FIELD_BYTES + 1))).status, 'BAD')
    await close(client)
    const other = await connectImap(appliance)
    assert.equal((await other.run(pairs(1, 1, ID_VALUE_BYTES + 1))).status, 'BAD')
    await close(other)
  })

  it('flags, criteria and messages of one command', async () => {
    const client = await logInImap(appliance, ada)
    await client.run('APPEND INBOX {14+}\r\nSubject: one\r\n')
    await client.run('SELECT INBOX')
    const flags = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`).join(' ')
    assert.equal((await client.run(`STORE 1 +FLAGS (${flags(STORE_FLAGS + 1)})`)).status, 'BAD')
    assert.equal((await client.run(`STORE 1 +FLAGS (${'k'.repeat(KEYWORD_BYTES + 1)})`)).status, 'BAD')
    const criteria = 'DATE '.repeat(SORT_CRITERIA)
    assert.equal((await client.run(`SORT (${criteria.trimEnd()}) UTF-8 ALL`)).status, 'OK')
    assert.equal((await client.run(`SORT (${criteria}DATE) UTF-8 ALL`)).status, 'BAD')
    const messages = Array.from({ length: APPEND_MESSAGES + 1 }, () => '{14+}\r\nSubject: one\r\n').join(' ')
    assert.match((await client.run(`APPEND INBOX ${messages}`)).tagged, /^NO \[LIMIT\]/)
    assert.match((await client.run('SEARCH RETURN (COUNT) ALL')).untagged[0]!, /COUNT 1$/)
    await close(client)
  })

  it('fifty errors end a session', async () => {
    const client = await logInImap(appliance, ada)
    client.write(Array.from({ length: ERRORS_AFTER_LOGIN + 5 }, (_, i) => `e${i} FOO\r\n`).join(''))
    const answers = await rest(client)
    assert.equal(answers.length, ERRORS_AFTER_LOGIN + 1)
    assert.match(answers.at(-1)!, /^\* BYE Too many errors/)
    await close(client)
  })

  it('patterns of LIST cost little', async () => {
    const client = await logInImap(appliance, bob)
    const name = 'a'.repeat(200)
    for (let i = 0; i < 20; i++) assert.equal((await client.run(`CREATE ${name}${i}`)).status, 'OK')
    const pattern = `"${'*%'.repeat(500)}x"`
    const began = process.cpuUsage()
    assert.equal((await client.run(`LIST "" (${Array.from({ length: 32 }, () => pattern).join(' ')})`)).status, 'OK')
    const { user } = process.cpuUsage(began)
    assert.ok(user < 2_000_000, `${user} µs`)
    await close(client)
  })
})

describe('other clients do not wait', () => {
  it('for 10,000 commands in one packet', async () => {
    const [busy, other] = [await logInImap(appliance, ada), await logInImap(appliance, bob)]
    busy.write(Array.from({ length: 10_000 }, (_, i) => `n${i} NOOP\r\n`).join(''))
    const last = busy.until('n9999')
    let isLast = false
    void last.then(() => (isLast = true))
    assert.equal((await other.run('NOOP')).status, 'OK')
    assert.equal(isLast, false, 'the other client is answered in between')
    assert.equal((await last).untagged.length, 9999)
    await close(busy, other)
  })

  it('for a bomb of COMPRESS: it is inflated as it is read, and BAD', async () => {
    const [bomber, other] = [await logInImap(appliance, ada), await logInImap(appliance, bob)]
    const memory = process.memoryUsage().rss
    assert.equal((await bomber.run('COMPRESS DEFLATE')).status, 'OK')
    const deflate = createDeflateRaw()
    deflate.on('data', (bytes: Buffer) => bomber.socket.write(bytes))
    deflate.write(Buffer.concat([Buffer.from('b NOOP '), Buffer.alloc(128 * MIB, 'x')]))
    deflate.flush(constants.Z_SYNC_FLUSH)
    for (let i = 0; i < 20; i++) assert.equal((await other.run('NOOP')).status, 'OK')
    const answered = once(bomber.socket, 'data')
    deflate.write('\r\n')
    deflate.flush(constants.Z_SYNC_FLUSH)
    assert.ok((await answered)[0].length > 0)
    // The line of 128 MiB itself is ours.
    assert.ok(process.memoryUsage().rss - memory < 300 * MIB)
    assert.equal((await other.run('NOOP')).status, 'OK')
    await close(bomber, other)
  })

  it('for a client that never reads: it is held back, and cut off after five minutes', async () => {
    const [silent, other] = [await logInImap(appliance, ada), await logInImap(appliance, bob)]
    const size = 4 * MIB
    const message = Buffer.alloc(size, 'line of a message that is not read\r\n')
    assert.equal((await silent.run(`APPEND INBOX {${size}}`, message)).status, 'OK')
    await silent.run('SELECT INBOX')
    const sent = await metric('imap_bytes_out_total')
    silent.socket.pause()
    silent.write(Array.from({ length: 50 }, (_, i) => `f${i} FETCH * BODY.PEEK[]\r\n`).join(''))
    await eventually(async () => (await metric('imap_blocked_connections')) === 1)
    for (let i = 0; i < 20; i++) assert.equal((await other.run('NOOP')).status, 'OK')
    const produced = (await metric('imap_bytes_out_total')) - sent
    assert.ok(produced < 10 * size, `${produced} bytes were produced for a client that takes none`)
    clock.advance(UNREAD_MS - 5000)
    assert.equal(await metric('imap_blocked_connections'), 1)
    clock.advance(10_000)
    await eventually(async () => (await metric('imap_connections{protocol="imaps"}')) === 1)
    assert.equal((await other.run('NOOP')).status, 'OK')
    await close(silent, other)
  })

  it('for a message that stops arriving: BYE, and nothing is stored', async () => {
    const [slow, other] = [await logInImap(appliance, ada), await logInImap(appliance, bob)]
    const before = (await other.run('STATUS INBOX (UIDNEXT)')).untagged[0]
    slow.write('a APPEND INBOX {1000+}\r\nSubject: half')
    clock.advance(1000)
    assert.equal((await other.run('NOOP')).status, 'OK')
    clock.advance(LITERAL_PAUSE_MS + 2000)
    assert.match((await rest(slow)).join(), /^\* BYE The message arrived too slowly/)
    assert.equal((await other.run('STATUS INBOX (UIDNEXT)')).untagged[0], before)
    await close(slow, other)
  })

  it('for a command that does not end behind its message, and for one that is refused while its message arrives', async () => {
    const [slow, refused, other] = [
      await logInImap(appliance, ada),
      await logInImap(appliance, ada),
      await logInImap(appliance, bob),
    ]
    slow.write('a APPEND INBOX {3}\r\n')
    assert.match((await slow.response())!, /^\+/)
    slow.write('x:y')
    refused.write('a APPEND nowhere {1000+}\r\nSubject: half')
    clock.advance(1000)
    for (let i = 0; i < 3; i++) assert.equal((await other.run('NOOP')).status, 'OK')
    clock.advance(STARTED_LINE_MS + 2000)
    assert.match((await rest(slow)).join(), /^\* BYE The command took too long/)
    assert.match((await rest(refused)).join(), /^\* BYE The message arrived too slowly/)
    await close(slow, refused, other)
  })
})

it('bytes that are no deflate stream end the connection', async () => {
  const client = await logInImap(appliance, ada)
  assert.equal((await client.run('COMPRESS DEFLATE')).status, 'OK')
  client.socket.write(Buffer.alloc(64, 0xff))
  assert.deepEqual(await rest(client), [])
  await close(client)
  const other = await logInImap(appliance, ada)
  other.write('c COMPRESS DEFLATE\r\nd NOOP\r\n')
  assert.match((await rest(other)).join(), /^\* BYE Nothing may follow COMPRESS/)
  await close(other)
})
