// Parsing of files over the API: texts, parser crashes, timeouts, and PDF by a configured program.

import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { ParsedFile } from '../../src/api/schemas/parsed-file.ts'
import { FILE_BYTES_MAX } from '../../src/content/extract/extracted-content.ts'
import { Extractor, FILES_EACH, TIMEOUT_MS } from '../../src/workers/extractor.ts'
import { SandboxedProcess } from '../../src/workers/sandboxed-process.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, receiveRaw } from './expect.ts'

const folder = await mkdtemp(join(tmpdir(), 'mailstead-parsing-'))
/** Stands in for pdftotext: says what it was given, fails on request. */
const program = join(folder, 'pdftotext')
before(async () => {
  await writeFile(
    program,
    '#!/bin/sh\nread -r first\n[ "$first" = "%PDF-broken" ] && exit 1\nprintf "page of %s\\f$*" "$first"\n',
  )
  await chmod(program, 0o755)
})
after(() => rm(folder, { recursive: true }))

const appliance = await startAppliance({ env: { PDFTOTEXT_PATH: program } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

async function upload(content: string | Buffer, filename: string): Promise<string> {
  const body = { filename, content: Buffer.from(content).toString('base64') }
  return data<AttachmentFile>(await appliance.call('POST', '/mailbox/attachments', ana.key, body), 201).id
}

const parsed = async (id: string, query = '') =>
  data<ParsedFile>(await appliance.get(`/mailbox/attachments/${id}/parsed${query}`, ana.key))

const OWNER = { source: 'team', isPreferred: true }

test('the text of an upload, cut at body_chars', async () => {
  const id = await upload('Grüße 💥 an alle', 'a.txt')
  assert.deepEqual(await parsed(id, '?body_chars=7'), {
    attachment_id: id,
    status: 'parsed',
    kind: 'text',
    text: 'Grüße 💥',
    truncated: true,
    char_count: 7,
    metadata: { format: 'plain' },
    entries: null,
    untrusted_content: true,
  })
  assert.equal((await parsed(id)).truncated, false)
  failure(await appliance.get(`/mailbox/attachments/${id}/parsed`, bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/attachments/${id}/parsed?body_chars=500001`, ana.key), 400, 'invalid_parameter')
})

test('a part of a message, in its declared character set', async () => {
  const part =
    'Content-Type: text/plain; charset=iso-8859-1; name=n.txt\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe'
  const head =
    'From: a@else.test\r\nTo: ana@shop.test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b'
  await receiveRaw(appliance, {
    from: 'a@else.test',
    to: ana.email,
    content: `${head}\r\n\r\n--b\r\n${part}\r\n--b--\r\n`,
  })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))
  const message = data<Message>(await appliance.get(`/mailbox/messages/${summary!.id}`, ana.key))
  assert.equal((await parsed(message.attachments![0]!.id)).text, 'Grüße')
})

test('unsupported and damaged files', async () => {
  const nothing = {
    kind: null,
    text: null,
    truncated: false,
    char_count: 0,
    metadata: {},
    entries: null,
    untrusted_content: true,
  }
  const binary = await upload(Buffer.from([0, 1, 2, 3]), 'a.bin')
  assert.deepEqual(await parsed(binary), { attachment_id: binary, status: 'unsupported', ...nothing })
  const broken = await upload('PK\x03\x04 and no more', 'a.zip')
  assert.deepEqual(await parsed(broken), { attachment_id: broken, status: 'failed', ...nothing })
})

test('PDF is read by the configured program, and unsupported without one', async () => {
  const found = await parsed(await upload('%PDF-1.7\n', 'a.pdf'))
  assert.deepEqual(
    [found.status, found.kind, found.text],
    ['parsed', 'text', 'page of %PDF-1.7\n-q -enc UTF-8 -l 500 - -'],
  )
  assert.equal((await parsed(await upload('%PDF-broken\n', 'a.pdf'))).status, 'failed')
  const none = new Extractor({ pdfProgram: '' })
  const file = { bytes: Buffer.from('%PDF-1.7'), filename: 'a.pdf', type: 'application/pdf', charset: null }
  const { signal } = new AbortController()
  assert.deepEqual(await none.extract(8, async () => file, OWNER, signal), { status: 'unsupported' })
  await none.close()
})

test('a parser process that dies, exhausts memory or never ends affects that file only', async () => {
  const script = join(folder, 'thread.mjs')
  await writeFile(
    script,
    `process.on('message', ({ filename }) => {
      if (filename === 'dies') process.exit(1)
      if (filename === 'eats') for (const all = []; ; ) all.push(new Array(1e5).fill(Math.random()))
      if (filename === 'bursts') JSON.parse('[' + '[],'.repeat(8e6) + '[]]')
      if (filename === 'hangs') for (;;);
      process.send({ status: 'unsupported' })
    })`,
  )
  const clock = new ManualClock()
  const extractor = new Extractor({ pdfProgram: '', clock, process: new SandboxedProcess(script, clock, []) })
  const gone = new AbortController()
  const look = (filename: string, signal = new AbortController().signal, size = 1) =>
    extractor.extract(
      size,
      async () => ({ bytes: new Uint8Array(1), filename, type: '', charset: null }),
      OWNER,
      signal,
    )
  assert.deepEqual(await look('dies'), { status: 'failed' })
  assert.deepEqual(await look('eats'), { status: 'failed' })
  // In a thread this would end the whole process: native code fails to allocate memory.
  assert.deepEqual(await look('bursts'), { status: 'failed' })
  assert.deepEqual(await look('well'), { status: 'unsupported' })
  const hanging = look('hangs')
  const waiting = look('well')
  await new Promise(setImmediate)
  clock.advance(TIMEOUT_MS)
  assert.deepEqual(await hanging, { status: 'failed' })
  assert.deepEqual(await waiting, { status: 'unsupported' })
  const left = look('hangs', gone.signal)
  await new Promise(setImmediate)
  gone.abort()
  await assert.rejects(left, { code: 'service_unavailable' })
  assert.deepEqual(await look('well'), { status: 'unsupported' })
  assert.deepEqual(await look('well', undefined, FILE_BYTES_MAX + 1), { status: 'too_large' })
  await extractor.close()
})

test('the files of one team keep no other team waiting, and files of clients that have left are skipped', async () => {
  const script = join(folder, 'echo.mjs')
  await writeFile(script, "process.on('message', () => process.send({ status: 'unsupported' }))")
  const extractor = new Extractor({ pdfProgram: '', process: new SandboxedProcess(script, new ManualClock(), []) })
  const order: string[] = []
  const look = (source: string, signal = new AbortController().signal) => {
    const read = async () => {
      order.push(source)
      return { bytes: new Uint8Array(1), filename: 'a.bin', type: '', charset: null }
    }
    return extractor.extract(1, read, { source, isPreferred: true }, signal)
  }
  const gone = new AbortController()
  const flood = Array.from({ length: FILES_EACH - 1 }, () => look('flood'))
  const left = look('flood', gone.signal)
  await assert.rejects(look('flood'), { code: 'service_unavailable', message: /^Too many files/ })
  const other = look('office')
  gone.abort()
  assert.deepEqual(await other, { status: 'unsupported' })
  await Promise.all(flood)
  await assert.rejects(left, { code: 'service_unavailable', message: 'The request was canceled.' })
  assert.deepEqual(order.slice(0, 3).toSorted(), ['flood', 'flood', 'office'])
  assert.equal(order.length, FILES_EACH, 'without the one that was left')
  await extractor.close()
})
