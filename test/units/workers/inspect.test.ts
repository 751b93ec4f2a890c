// One pass over a mail, in this thread and in the pool: what comes back, what is stored, and what happens when a thread dies.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { chunksOf } from '../../../src/mime/chunks.ts'
import type { Chunk } from '../../../src/mime/message.ts'
import { inspect } from '../../../src/workers/inspect.ts'
import type { Inspection } from '../../../src/workers/inspection.ts'
import { Inspector } from '../../../src/workers/inspector.ts'
import { inspectOwn } from '../../../src/workers/read-message.ts'
import { arrival } from '../../support/arrivals.ts'
import { ManualClock } from '../../support/clock.ts'
import { ed25519Key, signMail } from '../../support/dkim.ts'
import { startDns, type Zone, zoneResolver } from '../../support/dns.ts'

const key = ed25519Key()
const ZONE: Zone = {
  'sender.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.sender.test': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.sender.test': { TXT: [key.record] },
}

const MAIL = [
  'Authentication-Results: mx.house.test; dmarc=pass header.from=bank.test',
  'X-Spam-Status: No',
  'From: Ann <ann@sender.test>',
  'To: bob@house.test',
  'Subject: =?utf-8?q?gr=C3=BC=C3=9Fe?=',
  'Date: Fri, 20 Nov 2026 11:59:00 +0000',
  'Message-ID: <1@sender.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'Hello Bob',
  '--b',
  'Content-Type: application/pdf; name=a.pdf',
  'Content-Disposition: attachment',
  '',
  'PDF',
  '--b--',
  '',
].join('\r\n')

const SIGNED = Buffer.from(
  signMail(MAIL, {
    key,
    domain: 'sender.test',
    fields: ['from', 'subject', 'x-spam-status', 'authentication-results'],
  }),
  'latin1',
)

function bytesOf(chunks: readonly Chunk[]): Buffer {
  let at = 0
  const parts: Uint8Array[] = []
  for (const chunk of chunks) {
    assert.equal(chunk.start, at)
    const content = chunk.zstd ? zstdDecompressSync(chunk.data) : chunk.data
    assert.equal(content.length, chunk.sizeBytes)
    at += chunk.sizeBytes
    parts.push(content)
  }
  return Buffer.concat(parts)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function check(inspection: Inspection): void {
  const stored = bytesOf(inspection.chunks)
  assert.equal(stored.length, inspection.sizeBytes)
  assert.equal(Buffer.from(inspection.hash).toString('hex'), sha256(stored))
  assert.equal(Buffer.from(inspection.arrivedHash).toString('hex'), sha256(SIGNED))
  // The signature covers what was taken out: it is checked before.
  assert.deepEqual(
    [inspection.verdict.dkim, inspection.verdict.dmarc, inspection.verdict.fromAligned],
    ['pass', 'pass', true],
  )
  const text = stored.toString('latin1')
  assert.match(text, /^Return-Path: <ann@sender\.test>\r\nAuthentication-Results: mx\.house\.test;\r\n spf=pass/)
  assert.doesNotMatch(text, /bank\.test|X-Spam/)
  assert.ok(text.endsWith(MAIL.slice(MAIL.indexOf('From: Ann'))))
  assert.equal(inspection.message.subject, 'grüße')
  assert.deepEqual(inspection.message.from, [{ email: 'ann@sender.test', name: 'Ann' }])
  const part = inspection.message.structure!.parts[0]!
  assert.equal(text.slice(part.bodyStart, part.bodyEnd), 'Hello Bob')
  assert.equal(inspection.message.attachments[0]!.filename, 'a.pdf')
  assert.equal(inspection.traits.fromFields, 1)
  assert.equal(inspection.traits.dateSkewMs, -60_000)
}

test('a mail in one pass', async () => {
  check(await inspect(SIGNED, arrival(), zoneResolver(ZONE)))
})

test('what is no mail is inspected too', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('\r\n'), randomBytes(5000), Buffer.alloc(100_000, 'x')]) {
    const { chunks, sizeBytes, verdict, message: mail } = await inspect(bytes, arrival(), zoneResolver(ZONE))
    const stored = bytesOf(chunks)
    assert.equal(stored.length, sizeBytes)
    assert.ok(stored.subarray(-bytes.length || sizeBytes).equals(bytes))
    assert.deepEqual([verdict.dmarc, verdict.fromAligned, mail.attachments.length], ['permerror', false, 0])
  }
})

test('chunks hold at most 1 MiB, and are compressed where that pays', () => {
  const text = Buffer.from('The quick brown fox jumps over the lazy dog.\r\n'.repeat(60_000)).subarray(0, 2_500_000)
  const random = randomBytes(2_500_000)
  const cases: [bytes: Uint8Array, sizes: number[], zstd: boolean[]][] = [
    [Buffer.alloc(0), [], []],
    [Buffer.from('x'), [1], [false]],
    [text.subarray(0, 5000), [5000], [false]],
    [text.subarray(0, 20_000), [20_000], [true]],
    [random.subarray(0, 20_000), [20_000], [false]],
    [text.subarray(0, 1_048_576), [1_048_576], [true]],
    [text.subarray(0, 1_048_577), [1_048_576, 1], [true, false]],
    [text, [1_048_576, 1_048_576, 402_848], [true, true, true]],
    [Buffer.concat([random.subarray(0, 1_048_576), text.subarray(0, 50_000)]), [1_048_576, 50_000], [false, true]],
  ]
  for (const [bytes, sizes, zstd] of cases) {
    const chunks = chunksOf(bytes)
    assert.deepEqual(
      chunks.map((chunk) => [chunk.sizeBytes, chunk.zstd]),
      sizes.map((size, n) => [size, zstd[n]]),
    )
    assert.ok(bytesOf(chunks).equals(bytes))
    for (const chunk of chunks) assert.ok(chunk.data.length <= chunk.sizeBytes)
  }
})

/** A pool against a zone, closed at the end; a folder for files. */
async function pool(zone: Zone, clock?: ManualClock) {
  const dns = await startDns(zone)
  const inspector = new Inspector({ threads: 1, dnsServers: [dns.address], clock })
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'))
  return {
    dns,
    inspector,
    folder,
    async [Symbol.asyncDispose]() {
      await inspector.close()
      await dns.close()
      rmSync(folder, { recursive: true })
    },
  }
}

test('the pool gives the same, from bytes and from a file', async () => {
  await using own = await pool(ZONE)
  // A slice of a larger buffer: only the mail goes to the thread, and the caller keeps its own.
  const around = Buffer.concat([Buffer.from('before'), SIGNED, Buffer.from('behind')])
  const bytes = around.subarray(6, 6 + SIGNED.length)
  const file = join(own.folder, 'mail')
  writeFileSync(file, SIGNED)
  const calls = [own.inspector.inspect({ bytes }, arrival()), own.inspector.inspect({ file }, arrival())]
  for (const inspection of await Promise.all(calls)) check(inspection)
  assert.ok(bytes.equals(SIGNED))

  const large = Buffer.concat([SIGNED, randomBytes(3_000_000), Buffer.alloc(3_000_000, 'text ')])
  writeFileSync(file, large)
  const { chunks, hash } = await own.inspector.inspect({ file }, arrival())
  assert.equal(sha256(bytesOf(chunks)), Buffer.from(hash).toString('hex'))
  assert.ok(bytesOf(chunks).subarray(-6_000_000).equals(large.subarray(-6_000_000)))
})

test('messages that are read together are read as each alone', async () => {
  await using own = await pool(ZONE)
  const large = Buffer.concat([SIGNED, Buffer.alloc(300_000, 'text ')])
  const around = Buffer.concat([Buffer.from('before'), SIGNED]).subarray(6)
  const messages = [SIGNED, large, around, Buffer.from('Subject: last\r\n\r\n'), Buffer.alloc(0)]
  const readings = await own.inspector.readAll(messages)
  assert.deepEqual(
    readings.map(({ chunks }) => bytesOf(chunks).equals(SIGNED)),
    [true, false, true, false, false],
  )
  for (const [index, bytes] of messages.entries()) {
    const alone = await own.inspector.read(bytes.length, async () => Uint8Array.from(bytes))
    assert.deepEqual({ ...readings[index], chunks: [] }, { ...alone, chunks: [] })
    assert.ok(bytesOf(readings[index]!.chunks).equals(bytes))
  }
  assert.deepEqual(await own.inspector.readAll([]), [])
})

test('mails wait for name servers side by side, and each thread remembers what they said', async () => {
  await using own = await pool({ ...ZONE, 'sender.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'], ttl: 300 } })
  const calls = Array.from({ length: 40 }, () => own.inspector.inspect({ bytes: SIGNED }, arrival()))
  for (const inspection of await Promise.all(calls)) check(inspection)
  assert.equal(own.dns.queries.filter(({ name }) => name === 'sender.test').length, 1)
})

const unavailable = { name: 'ProductError', code: 'service_unavailable' }

test('a file that is not there can be handed in again', async () => {
  await using own = await pool(ZONE)
  await assert.rejects(own.inspector.inspect({ file: join(own.folder, 'absent') }, arrival()), unavailable)
  check(await own.inspector.inspect({ bytes: SIGNED }, arrival()))
})

test('a thread that hangs is ended: its calls are told, and the next one is served', async () => {
  const clock = new ManualClock()
  await using own = await pool({ ...ZONE, 'slow.test': { error: 'silent' } }, clock)
  const hanging = assert.rejects(
    own.inspector.inspect({ bytes: SIGNED }, arrival({ mailFrom: 'x@slow.test' })),
    unavailable,
  )
  while (!own.dns.queries.some(({ name }) => name === 'slow.test')) await new Promise((done) => setImmediate(done))
  clock.advance(120_000)
  await hanging
  check(await own.inspector.inspect({ bytes: SIGNED }, arrival()))
})

test('large mails wait for one another, small ones for none', async () => {
  const clock = new ManualClock()
  await using own = await pool(
    { ...ZONE, 'slow.test': { error: 'silent' }, 'next.test': { TXT: ['v=spf1 +all'] } },
    clock,
  )
  const large = Buffer.concat([SIGNED, Buffer.alloc(40 * 1024 * 1024)])
  const asked = (domain: string) => own.dns.queries.some(({ name }) => name === domain)
  const first = assert.rejects(
    own.inspector.inspect({ bytes: large }, arrival({ mailFrom: 'x@slow.test' })),
    unavailable,
  )
  const second = own.inspector.inspect({ bytes: large }, arrival({ mailFrom: 'x@next.test' }))
  while (!asked('slow.test')) await new Promise((done) => setImmediate(done))
  check(await own.inspector.inspect({ bytes: SIGNED }, arrival()))
  assert.equal(asked('next.test'), false)
  clock.advance(120_000)
  await first
  assert.equal((await second).verdict.spf, 'pass')
})

test('close() waits for what is under way and takes nothing more', async () => {
  const own = await pool(ZONE)
  const call = own.inspector.inspect({ bytes: SIGNED }, arrival())
  await own[Symbol.asyncDispose]()
  check(await call)
  await assert.rejects(own.inspector.inspect({ bytes: SIGNED }, arrival()), unavailable)
  await own.inspector.close()
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name)),
    [],
  )
})

test('a message of this appliance is authentic for the From address its sender was authorised for, and for no other', () => {
  const own = {
    mailFrom: 'ann@shop.test',
    hostName: 'mx.shop.test',
    queueId: 'x',
    rcptTo: null,
    receivedAt: 0,
    scripts: [],
  }
  const inspected = (from: string, author = 'ann@shop.test') =>
    inspectOwn(Buffer.from(`From: ${from}\r\nSubject: x\r\n\r\nBody\r\n`), { ...own, author })
  const results = ({ chunks, verdict }: Inspection) => [
    /^Authentication-Results: (.*)\r\n(?: (.*)\r\n)?/m.exec(bytesOf(chunks).toString())!.slice(1).join(' ').trim(),
    verdict.fromAligned,
  ]
  const authentic = ['mx.shop.test; auth=pass reason="sent from this appliance"', true]
  const unknown = ['mx.shop.test; none', false]
  assert.deepEqual(results(inspected('Ann <ANN@shop.test>')), authentic)
  assert.deepEqual(results(inspected('Ann <ann@shop.test>', 'bob@shop.test')), unknown)
  assert.deepEqual(results(inspected('<ceo@bank.test>')), unknown)
  assert.deepEqual(results(inspected('<ann@shop.test>, <ceo@bank.test>')), unknown)
  assert.deepEqual(results(inspected('<ann@shop.test>\r\nFrom: <ceo@bank.test>')), unknown)
})
