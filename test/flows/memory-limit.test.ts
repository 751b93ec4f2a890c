// The smallest supported memory (docs/operations.md): the bundle in a control group of that size, and large messages that together are larger, by
// each protocol.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { buildBundle } from '../../scripts/build.ts'
import { isBundleFresh } from '../../scripts/bundle.js'
import { MINUTE_MS } from '../../src/base/durations.ts'
import { amount } from '../support/amount.ts'
import type { TestAppliance } from '../support/appliance.ts'
import { type LocalDns, startDns } from '../support/dns.ts'
import { eventually } from '../support/eventually.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { logInImap } from '../support/imap.ts'
import { type MemoryGroup, memoryGroupMissing, openMemoryGroup } from '../support/memory-group.ts'
import { SmtpClient, type SmtpReply } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'
import { signInToSubmit } from '../support/submission.ts'

const MIB = 1024 * 1024
const LIMIT_MIB = 512
const SENDERS = amount(8, 20)
const MESSAGE_MIB = 39
/** Mailboxes that append, submit, upload and send while strangers send to another one. */
const PEOPLE = amount(1, 2)
const UPLOAD_MIB = 22
/** As much as the body of a request may have in itself. */
const INLINE_MIB = 10
const BOX = 'box@memory.test'
const PIECE_LINES = 13_000
/** From one delivered message to the next one, at most. */
const ARRIVAL_MS = 5 * MINUTE_MS
/** Level of a line of the log. */
const WARNING = 40

const skip = memoryGroupMissing()
if (skip) console.log(`Left out: ${skip}.`)

let folder: string
let dns: LocalDns
let group: MemoryGroup
let child: ChildProcess
let appliance: Started
/** Key of the mailbox that all large messages are sent to. */
let boxKey: string
/** Warnings and errors of its log: why a message may have to wait. */
const troubles: string[] = []
before(async () => {
  if (skip) return
  folder = await mkdtemp(join(tmpdir(), 'mailstead-memory-'))
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
  await symlink(join(ROOT, 'docs'), join(folder, 'docs'))
  // Where the suite runs the bundle it has just been made.
  if (isBundleFresh(ROOT)) await cp(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
  else await buildBundle(join(folder, 'dist'))
  dns = await startDns({})
  group = openMemoryGroup(LIMIT_MIB * MIB)
  appliance = await start()
  await request(`${appliance.api}/domains`, appliance.rootKey, { domain: 'memory.test' })
  boxKey = await mailbox(BOX)
})
after(async () => {
  if (skip) return
  // Still there when the test has failed.
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  group[Symbol.dispose]()
  await dns.close()
  await rm(folder, { recursive: true })
})

interface Started {
  ports: TestAppliance['ports']
  api: string
  rootKey: string
}

/** As the image starts it. */
async function imageOptions(): Promise<string> {
  return /NODE_OPTIONS="([^"]+)"/.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8'))![1]!
}

async function start(): Promise<Started> {
  const [program, args] = group.command(process.execPath, [join(folder, 'dist/cli.js'), 'serve', '--json'])
  child = spawn(program, args, {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' },
      ...{ NODE_OPTIONS: await imageOptions(), DATA_DIR: join(folder, 'data'), ...FREE_PORTS },
      ...{ HTTP_BIND: '127.0.0.1', SMTP_BIND: '127.0.0.1', DNS_SERVERS: dns.address },
      ...{ APP_ORIGIN: 'http://app.localhost', SEND_ORIGIN: 'http://send.localhost' },
      // It asks again and again whether messages have arrived.
      RATE_LIMIT_PER_MINUTE: '100000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let rootKey = ''
  const { promise, resolve, reject } = Promise.withResolvers<Started>()
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { api_key: made, ports, level = 0 } = JSON.parse(line)
    if (made) rootKey = made.key
    if (level >= WARNING) troubles.push(line)
    if (ports) resolve({ ports, api: `http://127.0.0.1:${ports.app}/api/v1`, rootKey })
  })
  child.once('exit', () => reject(new Error(`It did not start.\n${troubles.join('\n')}`)))
  return promise
}

async function request<T>(url: string, key: string, body?: object): Promise<T> {
  const reply = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const answer = (await reply.json()) as { data: T }
  assert.ok(reply.ok, `${url}: ${JSON.stringify(answer)}`)
  return answer.data
}

/** A file in base64 of one sender, sent piece by piece: this process has memory of its own to save. */
async function sendLarge(smtp: number, sender: number): Promise<SmtpReply> {
  await using client = await SmtpClient.connect(smtp, `127.0.1.${sender + 1}`)
  await client.expect(220)
  await client.command('EHLO client.test', 250)
  for (const command of [`MAIL FROM:<s${sender}@far.test>`, `RCPT TO:<${BOX}>`]) await client.command(command, 250)
  await client.command('DATA', 354)
  const head = [
    ...[`From: s${sender}@far.test`, `To: ${BOX}`, `Subject: Large ${sender}`, 'MIME-Version: 1.0'],
    ...['Content-Type: application/octet-stream', 'Content-Transfer-Encoding: base64'],
  ]
  client.write(`${head.join('\r\n')}\r\n\r\n`)
  for (let sent = 0; sent < MESSAGE_MIB * MIB; ) {
    const line = Buffer.from(`${sender} ${sent} `.repeat(9)).toString('base64').slice(0, 76)
    const piece = Buffer.from(`${line}\r\n`.repeat(PIECE_LINES))
    await client.push(piece)
    sent += piece.length
  }
  client.write('.\r\n')
  return await client.reply()
}

async function sendSmall(smtp: number, number: number): Promise<SmtpReply> {
  await using client = await SmtpClient.greet(smtp)
  return await client.mail({
    from: 'small@far.test',
    to: BOX,
    content: `From: small@far.test\r\nSubject: Small ${number}\r\n\r\nShort.\r\n`,
  })
}

/** A mailbox without a bound. @returns its key */
async function mailbox(email: string): Promise<string> {
  const { api, rootKey } = appliance
  const body = { email, create_api_key: true, quota_bytes: 2 ** 40 }
  return (await request<{ api_key: { key: string } }>(`${api}/mailboxes`, rootKey, body)).api_key.key
}

async function count(key: string): Promise<number> {
  return (await request<{ count: number }>(`${appliance.api}/mailbox/messages/count`, key)).count
}

function assertAlive(): void {
  assert.deepEqual([child.exitCode, child.signalCode], [null, null], troubles.join('\n'))
}

/**
 * Waits for messages of the common mailbox. Those that were submitted and sent are delivered by their worker, one after the other: on a busy
 * machine signing, inspecting and storing one of 39 MiB takes more than a minute.
 */
async function arrived(total: number): Promise<void> {
  for (let known = await count(boxKey); known < total; ) {
    const before = known
    known = await eventually(
      () => count(boxKey),
      (now) => now > before,
      ARRIVAL_MS,
    ).catch((error: Error) => assert.fail(`${error.message} of ${total}\n${troubles.join('\n')}`))
  }
}

function assertBetween(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${value} ${what}, not ${least} to ${most}`)
}

function largeLines(sender: number, mib: number): Buffer {
  const line = Buffer.from(`${sender} `.repeat(40)).toString('base64').slice(0, 76)
  return Buffer.from(`${line}\r\n`.repeat(Math.floor((mib * MIB) / 78)))
}

function largeMessage(from: string, sender: number): Buffer {
  const head = [
    ...[`From: ${from}`, `To: ${BOX}`, `Subject: Large ${sender}`, 'MIME-Version: 1.0'],
    ...['Content-Type: application/octet-stream', 'Content-Transfer-Encoding: base64'],
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), largeLines(sender, MESSAGE_MIB)])
}

/** Whether it was stored; every other answer asks to try again. */
async function appendLarge(email: string, key: string, sender: number): Promise<boolean> {
  await using client = await logInImap(appliance, { email, key })
  const bytes = largeMessage(email, sender)
  const { status, tagged } = await client.run(`APPEND INBOX {${bytes.length}}`, bytes)
  assert.ok(['OK', 'closed'].includes(status) || /\[(?:UNAVAILABLE|LIMIT)\]/.test(tagged), tagged)
  return status === 'OK'
}

async function submitLarge(email: string, key: string, sender: number): Promise<boolean> {
  await using client = await signInToSubmit(appliance, { email, key })
  const { code, text } = await client.mail({ from: email, to: BOX, content: largeMessage(email, sender) })
  assert.ok(code === 250 || Math.floor(code / 100) === 4, text)
  return code === 250
}

/** @returns what the API answers; null when it asks to try again */
async function post(
  path: string,
  key: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<{ blob_id: string } | null> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type }
  // An answer before the end of the body may be lost with the connection (RFC 9112 §9.6).
  const reply = await fetch(`${appliance.api}${path}`, { method: 'POST', headers, body }).catch(() => null)
  if (reply === null) return null
  const text = await reply.text()
  assert.ok(reply.ok || [429, 503].includes(reply.status), `${path}: ${reply.status} ${text}`)
  return reply.ok ? JSON.parse(text).data : null
}

async function sendFile(key: string, sender: number, attachment: object): Promise<boolean> {
  const attachments = [{ filename: 'a.txt', ...attachment }]
  const body = { to: [{ email: BOX }], subject: `File ${sender}`, text_body: 'A file.', attachments }
  return (await post('/mailbox/messages/send', key, 'application/json', JSON.stringify(body))) !== null
}

async function uploadAndSend(key: string, sender: number): Promise<boolean> {
  const path = `/mailbox/attachments?filename=${sender}.txt`
  const file = await post(path, key, 'text/plain', new Uint8Array(largeLines(sender, UPLOAD_MIB)))
  return file !== null && sendFile(key, sender, { blob_id: file.blob_id })
}

function sendInline(key: string, sender: number): Promise<boolean> {
  return sendFile(key, sender, { content: largeLines(sender, INLINE_MIB).toString('base64'), encoding: 'base64' })
}

/** Reads all messages of the Inbox, as slowly as the connection lets it. @returns bytes */
async function readAll(email: string, key: string): Promise<number> {
  await using client = await logInImap(appliance, { email, key })
  await client.run('SELECT INBOX')
  const { socket } = client
  socket.removeAllListeners('data')
  let [bytes, tail] = [0, '']
  client.write('all FETCH 1:* (BODY.PEEK[])\r\n')
  for await (const chunk of socket) {
    bytes += (chunk as Buffer).length
    tail = (tail + (chunk as Buffer).toString('latin1')).slice(-200)
    const ended = /\r\nall (OK|NO)[^\r]*\r\n$/.exec(tail)
    if (ended === null) continue
    assert.equal(ended[1], 'OK', ended[0])
    break
  }
  return bytes
}

/** A client that is too slow on a busy machine is cut off, and does not know then whether its message was stored. */
function unlessCut(act: Promise<boolean>): Promise<boolean> {
  return act.catch((error: unknown) => {
    if (error instanceof assert.AssertionError) throw error
    return false
  })
}

test('large messages and files by all protocols at once do not end it, none that was acknowledged is lost, and small ones pass', {
  skip,
}, async (context) => {
  const { smtp } = appliance.ports
  const people = await Promise.all(
    Array.from({ length: PEOPLE }, async (_, n) => {
      const email = `person${n}@memory.test`
      return { email, key: await mailbox(email), n }
    }),
  )
  const waiting = new Set<number>()
  const received = Array.from({ length: SENDERS }, async (_, sender) => {
    waiting.add(sender)
    const reply = await sendLarge(smtp, sender)
    waiting.delete(sender)
    // RFC 5321 §4.2.1: the sender tries again.
    assert.ok(reply.code === 250 || Math.floor(reply.code / 100) === 4, reply.text)
    return reply.code === 250
  })
  const acts = people.map(({ email, key, n }) =>
    Promise.all(
      [appendLarge(email, key, n), submitLarge(email, key, n), uploadAndSend(key, n), sendInline(key, n)].map(
        unlessCut,
      ),
    ),
  )
  const small: number[] = []
  while (small.length < 3) small.push((await sendSmall(smtp, small.length)).code)
  assert.ok(waiting.size > 0, 'the large messages were not in progress')
  assert.deepEqual(small, [250, 250, 250])
  const ofStrangers = (await Promise.all(received)).filter(Boolean).length
  const ofPeople = await Promise.all(acts)
  assertAlive()
  assert.ok(ofStrangers > 0)
  const sent = ofPeople.flatMap(([, ...accepted]) => accepted).filter(Boolean).length
  const known = small.length + ofStrangers + sent
  await arrived(known)
  assertBetween(await count(boxKey), known, known + 3 * PEOPLE - sent, 'messages of the common mailbox')
  assertAlive()
  for (const [n, { key }] of people.entries()) {
    const [isAppended, , ...bySending] = ofPeople[n]!
    // What was sent by the API has a copy in Sent.
    const accepted = [isAppended, ...bySending]
    assertBetween(await count(key), accepted.filter(Boolean).length, accepted.length, `messages of person${n}`)
  }
  const readers = await Promise.all(
    people.filter((_, n) => ofPeople[n]![0]).map(({ email, key }) => readAll(email, key)),
  )
  assert.ok(readers.every((bytes) => bytes > MESSAGE_MIB * MIB * 0.9))
  assertAlive()
  const peak = Math.round(group.peak() / MIB)
  const all = `${ofStrangers} of ${SENDERS} received, ${ofPeople.flat().filter(Boolean).length} of ${4 * PEOPLE} other acts`
  context.diagnostic(`${all}; ${peak} MiB at most, files in the page cache counted`)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
