// The smallest supported memory (docs/operations.md): the bundle in a control group of that size, and senders whose large messages together are larger.

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
import { amount } from '../support/amount.ts'
import { type LocalDns, startDns } from '../support/dns.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { type MemoryGroup, memoryGroupMissing, openMemoryGroup } from '../support/memory-group.ts'
import { SmtpClient, type SmtpReply } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'

const MIB = 1024 * 1024
const LIMIT_MIB = 512
const SENDERS = amount(14, 20)
const MESSAGE_MIB = 39
const BOX = 'box@memory.test'
const PIECE_LINES = 13_000

const skip = memoryGroupMissing()
if (skip) console.log(`Left out: ${skip}.`)

let folder: string
let dns: LocalDns
let group: MemoryGroup
let child: ChildProcess
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

/** As the image starts it. */
async function imageOptions(): Promise<string> {
  return /NODE_OPTIONS="([^"]+)"/.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8'))![1]!
}

async function start(): Promise<{ smtp: number; api: string; rootKey: string }> {
  const [program, args] = group.command(process.execPath, [join(folder, 'dist/cli.js'), 'serve', '--json'])
  child = spawn(program, args, {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' },
      ...{ NODE_OPTIONS: await imageOptions(), DATA_DIR: join(folder, 'data'), ...FREE_PORTS },
      ...{ HTTP_BIND: '127.0.0.1', SMTP_BIND: '127.0.0.1', DNS_SERVERS: dns.address },
      ...{ APP_ORIGIN: 'http://app.localhost', SEND_ORIGIN: 'http://send.localhost' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: object[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(JSON.parse(line))
    if ('msg' in lines.at(-1)!) break
  }
  child.stdout!.resume()
  const first = lines[0] as { api_key: { key: string } }
  const { ports } = lines.at(-1) as { ports: { app: number; smtp: number } }
  return { smtp: ports.smtp, api: `http://127.0.0.1:${ports.app}/api/v1`, rootKey: first.api_key.key }
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

test('many large messages at once do not end it, none that was acknowledged is lost, and small ones pass', {
  skip,
}, async (context) => {
  const { smtp, api, rootKey } = await start()
  await request(`${api}/domains`, rootKey, { domain: 'memory.test' })
  const made = await request<{ api_key: { key: string } }>(`${api}/mailboxes`, rootKey, {
    ...{ email: BOX, create_api_key: true, quota_bytes: 2 ** 40 },
  })
  const { key } = made.api_key
  const waiting = new Set<number>()
  const large = Array.from({ length: SENDERS }, async (_, sender) => {
    waiting.add(sender)
    const reply = await sendLarge(smtp, sender)
    waiting.delete(sender)
    // RFC 5321 §4.2.1: the sender tries again.
    assert.ok(reply.code === 250 || Math.floor(reply.code / 100) === 4, reply.text)
    return reply.code
  })
  const small: number[] = []
  while (small.length < 3) small.push((await sendSmall(smtp, small.length)).code)
  assert.ok(waiting.size > 0, 'the large messages were not in progress')
  assert.deepEqual(small, [250, 250, 250])
  const codes = await Promise.all(large)
  assert.deepEqual([child.exitCode, child.signalCode], [null, null])
  const accepted = codes.filter((code) => code === 250).length
  assert.ok(accepted > 0)
  const { count } = await request<{ count: number }>(`${api}/mailbox/messages/count`, key)
  assert.equal(count, accepted + small.length)
  context.diagnostic(
    `${accepted} of ${SENDERS} accepted; ${Math.round(group.peak() / MIB)} MiB at most, files in the page cache counted`,
  )
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
