// The bytes of a message: as JSON, as message/rfc822, and in ranges.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { RawMessage } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { compileCheck } from '../../src/http/validate.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, receiveRaw } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

// Bytes beyond ASCII, and more than one stored stretch (1 MiB).
const line = `${'é'.repeat(400)}\r\n`
const content = Buffer.from(`From: a@b.test\r\nTo: ana@shop.test\r\nSubject: Big\r\n\r\n${line.repeat(1500)}`)
await receiveRaw(appliance, { from: 'a@b.test', to: ana.email, content })
const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', ana.key))
const path = `/mailbox/messages/${summary!.id}/raw`

/** The bytes: `get` of the appliance reads text. */
async function bytes(headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${appliance.origin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ana.key}`, accept: 'message/rfc822', ...headers },
  })
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

test('JSON has the whole message in base64, with its digest', async () => {
  const reply = await appliance.get(path, ana.key)
  const raw = data<RawMessage>(reply)
  assert.deepEqual(compileCheck(RawMessage).issues(raw), [])
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  const whole = Buffer.from(raw.raw, 'base64')
  assert.equal(whole.length, raw.size_bytes)
  assert.equal(raw.size_bytes, summary!.size_bytes)
  assert.equal(createHash('sha256').update(whole).digest('hex'), raw.sha256)
  assert.ok(whole.subarray(-content.length).equals(content), 'the received bytes follow the trace headers')
  assert.match(
    whole.subarray(0, whole.length - content.length).toString(),
    /^Return-Path: <a@b\.test>\r\n(.+\r\n)*Received: /,
  )
  assert.equal(raw.encoding, 'base64')
})

test('JSON has a weak ETag and no ranges', async () => {
  const etag = etagOf(await appliance.get(path, ana.key))
  assert.equal((await appliance.get(path, ana.key, { 'if-none-match': etag })).status, 304)
  const ranged = await appliance.get(path, ana.key, { range: 'bytes=0-9' })
  assert.equal(ranged.headers.get('accept-ranges'), null)
  data(ranged)
})

test('messages of every length around the boundaries of base64 are complete', async () => {
  for (const length of [0, 1, 2, 3, 4]) {
    const box = await team.mailbox(`l${length}@shop.test`)
    const mail = `From: a@b.test\r\nTo: l${length}@shop.test\r\nSubject: Small\r\n\r\n${'x'.repeat(length)}\r\n`
    await receiveRaw(appliance, { from: 'a@b.test', to: box.email, content: mail })
    const [message] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', box.key))
    const raw = data<RawMessage>(await appliance.get(`/mailbox/messages/${message!.id}/raw`, box.key))
    assert.ok(Buffer.from(raw.raw, 'base64').toString().endsWith(mail))
  }
})

test('message/rfc822 returns the same bytes, as a file', async () => {
  const raw = data<RawMessage>(await appliance.get(path, ana.key))
  const whole = await bytes()
  assert.equal(whole.status, 200)
  assert.ok(whole.body.equals(Buffer.from(raw.raw, 'base64')))
  assert.equal(whole.headers.get('content-type'), 'message/rfc822')
  assert.equal(whole.headers.get('content-length'), String(raw.size_bytes))
  assert.equal(whole.headers.get('accept-ranges'), 'bytes')
  assert.match(whole.headers.get('content-disposition')!, /^attachment; /)
  assert.match(whole.headers.get('etag')!, /^"[\w-]{27}"$/)
  assert.equal(whole.headers.get('cache-control'), 'no-store')
})

test('a single range returns 206, others the whole content', async () => {
  const { body: whole, headers } = await bytes()
  const etag = headers.get('etag')!
  const size = whole.length
  const edge = 1024 * 1024
  const spans: [string, number, number][] = [
    ['bytes=0-0', 0, 1],
    [`bytes=${edge - 5}-${edge + 5}`, edge - 5, edge + 6],
    ['bytes=-10', size - 10, size],
    [`bytes=${size - 1}-${size + 999}`, size - 1, size],
    [`bytes=${size - 3}-`, size - 3, size],
  ]
  for (const [range, start, end] of spans) {
    const part = await bytes({ range })
    assert.equal(part.status, 206, range)
    assert.equal(part.headers.get('content-range'), `bytes ${start}-${end - 1}/${size}`)
    assert.ok(part.body.equals(whole.subarray(start, end)), range)
  }
  assert.equal((await bytes({ range: 'bytes=0-1,5-6' })).status, 200)
  assert.equal((await bytes({ range: 'bytes=0-4', 'if-range': etag })).status, 206)
  assert.equal((await bytes({ range: 'bytes=0-4', 'if-range': '"else"' })).status, 200)
  assert.equal((await bytes({ 'if-none-match': etag })).status, 304)
  const beyond = await bytes({ range: `bytes=${size}-` })
  assert.equal(beyond.status, 416)
  assert.equal(beyond.headers.get('content-range'), `bytes */${size}`)
})

test('HEAD returns the length without the bytes', async () => {
  const head = await bytes({}, 'HEAD')
  assert.deepEqual([head.status, head.body.length], [200, 0])
  assert.equal(Number(head.headers.get('content-length')), summary!.size_bytes)
})

test('an unavailable type is rejected, and another mailbox finds nothing', async () => {
  failure(await appliance.get(path, ana.key, { accept: 'text/html' }), 406, 'not_acceptable')
  failure(await appliance.get(path, bob.key), 404, 'not_found')
  failure(await appliance.get(path, bob.key, { accept: 'message/rfc822' }), 404, 'not_found')
})
