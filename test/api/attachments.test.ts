// Files over the API: upload in JSON and as bytes, metadata, download with ranges, deletion, expiry.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, describe, test } from 'node:test'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { PENDING_BYTES_MAX, UPLOAD_LIFE_MS } from '../../src/store/content/uploads.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { sweepContent } from '../support/stored.ts'
import { data, etagOf, failure, issues, receiveRaw } from './expect.ts'

const HOUR = 3_600_000
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

const upload = (body: unknown, key = ana.key, headers = {}) =>
  appliance.call('POST', '/mailbox/attachments', key, body, headers)

async function uploaded(content: string | Buffer, filename = 'report.txt', key = ana.key): Promise<AttachmentFile> {
  return data<AttachmentFile>(await upload({ filename, content: Buffer.from(content).toString('base64') }, key), 201)
}

/** The bytes of a file, and the headers they came with. */
async function content(
  id: string,
  headers: Record<string, string> = {},
  { key = ana.key, query = '', method = 'GET' } = {},
) {
  const response = await fetch(`${appliance.origin}/api/v1/mailbox/attachments/${id}/content${query}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

/** Uploads the bytes themselves. */
async function send(
  bytes: Uint8Array,
  { query = '?filename=data.bin', type = 'application/octet-stream', more = {} } = {},
) {
  const response = await fetch(`${appliance.origin}/api/v1/mailbox/attachments${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ana.key}`, 'content-type': type, ...more },
    body: bytes,
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** A mail with these parts, each as its header lines and its body; the ids of its files. */
async function mailWith(parts: string[], to = ana): Promise<Message> {
  const body = parts.map((part) => `--b\r\n${part}\r\n`).join('')
  const head = `From: a@else.test\r\nTo: ${to.email}\r\nSubject: Files\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b`
  await receiveRaw(appliance, { from: 'a@else.test', to: to.email, content: `${head}\r\n\r\n${body}--b--\r\n` })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', to.key))
  return data<Message>(await appliance.get(`/mailbox/messages/${summary!.id}`, to.key))
}

const folded = (bytes: Buffer) => bytes.toString('base64').replace(/.{76}/g, '$&\r\n')

describe('uploads', () => {
  test('in JSON: the record has name, type by the extension, size and digest', async () => {
    const reply = await upload({ filename: 'Bericht März.pdf', content: Buffer.from('%PDF').toString('base64') })
    const file = data<AttachmentFile>(reply, 201)
    assert.equal(reply.headers.get('location'), `/api/v1/mailbox/attachments/${file.id}`)
    const { id, blob_id, ...rest } = file
    assert.match(blob_id, /^blob_/)
    assert.deepEqual(rest, {
      message_id: null,
      part_id: null,
      filename: 'Bericht März.pdf',
      content_type: 'application/pdf',
      size_bytes: 4,
      sha256: createHash('sha256').update('%PDF').digest('hex'),
      disposition: 'attachment',
      content_id: null,
      inline: false,
      created_at: new Date(clock.now()).toISOString(),
      expires_at: new Date(clock.now() + UPLOAD_LIFE_MS).toISOString(),
    })
    const again = await appliance.get(`/mailbox/attachments/${id}`, ana.key)
    assert.deepEqual(data(again), file)
    assert.equal(
      (await appliance.get(`/mailbox/attachments/${id}`, ana.key, { 'if-none-match': etagOf(again) })).status,
      304,
    )
  })

  test('as bytes: the same record, whatever the size, and the same blob id for the same content', async () => {
    const bytes = randomBytes(3 * 1024 * 1024 + 7)
    const file = data<AttachmentFile>(await send(bytes, { query: '?filename=B%C3%A4r.png', type: 'image/png' }), 201)
    assert.deepEqual([file.filename, file.content_type, file.size_bytes], ['Bär.png', 'image/png', bytes.length])
    assert.ok((await content(file.id)).body.equals(bytes))
    const twin = await uploaded(bytes, 'other.bin')
    assert.equal(twin.blob_id, file.blob_id)
    assert.notEqual(twin.id, file.id)
  })

  test('a generic type is replaced by the type of the extension', async () => {
    for (const type of ['application/octet-stream', 'application/x-www-form-urlencoded']) {
      const file = data<AttachmentFile>(await send(Buffer.from('a,b'), { query: '?filename=t.csv', type }), 201)
      assert.equal(file.content_type, 'text/csv')
    }
  })

  test('bytes without a name, with an invalid type, or empty are rejected with the reason', async () => {
    const bytes = Buffer.from('x')
    assert.equal(failure(await send(bytes, { query: '' }), 400, 'missing_parameter').param, 'filename')
    issues(await send(bytes, { type: 'multipart/form-data; boundary=x' }), 422, 'validation_error', [
      'type forbidden_value',
    ])
    issues(await send(bytes, { type: 'image' }), 422, 'validation_error', ['type invalid_format'])
    issues(await send(bytes, { query: '?filename=..%2Fx' }), 422, 'validation_error', ['filename invalid_format'])
    issues(await send(bytes, { query: '?filename=...' }), 422, 'validation_error', ['filename invalid_format'])
    failure(await send(Buffer.alloc(0)), 400, 'missing_parameter')
    failure(await send(bytes, { more: { 'content-encoding': 'gzip' } }), 415, 'unsupported_media_type')
    issues(await upload({ filename: 'a.txt', content: 'no base64!' }), 422, 'validation_error', [
      'content invalid_format',
    ])
    issues(await upload({ filename: 'a.txt', content: '' }), 422, 'validation_error', ['content too_small'])
  })

  test('one byte above the limit is rejected: declared, while streaming, and in JSON', async () => {
    const most = 26_214_400
    const large = Buffer.alloc(most + 1)
    failure(await send(large), 413, 'payload_too_large')
    const streamed = await fetch(`${appliance.origin}/api/v1/mailbox/attachments?filename=x.bin`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ana.key}`, 'content-type': 'application/octet-stream' },
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit)
    failure(
      { status: streamed.status, headers: streamed.headers, body: await streamed.json() },
      413,
      'payload_too_large',
    )
    failure(await upload({ filename: 'x.bin', content: large.toString('base64') }), 413, 'payload_too_large')
    const file = data<AttachmentFile>(await send(large.subarray(1)), 201)
    assert.equal(file.size_bytes, most)
    data(await appliance.call('DELETE', `/mailbox/attachments/${file.id}`, ana.key))
  })

  test('four at a time; the fifth gets 429, and its slot is free when one ends', async () => {
    const begun = Array.from({ length: 4 }, () => begin())
    await Promise.all(begun.map(({ started }) => started))
    const refused = await send(Buffer.from('fifth'))
    failure(refused, 429, 'rate_limit_exceeded')
    assert.equal(refused.headers.get('retry-after'), '1')
    data(await appliance.call('POST', '/mailbox/attachments', bob.key, { filename: 'a.txt', content: 'YQ==' }), 201)
    assert.deepEqual(await Promise.all(begun.map(({ finish }) => finish())), [201, 201, 201, 201])
    data(await send(Buffer.from('fifth')), 201)
  })

  test('an aborted upload leaves nothing and frees its slot', async () => {
    for (let round = 0; round < 5; round++) {
      const { started, cut } = begin()
      await started
      await cut()
    }
    data(await send(Buffer.from('after')), 201)
  })

  test('an Idempotency-Key makes one upload of many, and another body is another request', async () => {
    const more = { 'idempotency-key': 'once' }
    const first = data<AttachmentFile>(await send(Buffer.from('same'), { more }), 201)
    const again = await send(Buffer.from('same'), { more })
    assert.deepEqual(data(again, 201), first)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    failure(await send(Buffer.from('othr'), { more }), 409, 'idempotency_conflict')
    failure(await send(Buffer.from('same'), { more, query: '?filename=other.bin' }), 409, 'idempotency_conflict')
  })
})

/** Begins an upload of bytes and pauses in the middle. */
function begin() {
  const { port, hostname } = new URL(appliance.origin)
  const req = request({
    ...{ port, hostname, method: 'POST', path: '/api/v1/mailbox/attachments?filename=slow.bin' },
    headers: {
      ...{ authorization: `Bearer ${ana.key}`, 'content-type': 'image/png' },
      ...{ 'content-length': '6', expect: '100-continue' },
    },
  })
  const status = new Promise<number>((resolve, reject) => {
    req.on('response', (response) => resolve(response.resume().statusCode!)).on('error', reject)
  })
  status.catch(() => {})
  const started = new Promise<void>((resolve) => {
    req.on('continue', () => req.write('abc', () => resolve()))
  })
  req.flushHeaders()
  return {
    started,
    finish: () => {
      req.end('def')
      return status
    },
    cut: () => new Promise<void>((resolve) => req.on('close', resolve).destroy()),
  }
}

describe('downloads', () => {
  test('parts of a message are decoded, byte for byte, from every encoding', async () => {
    const bytes = randomBytes(2 * 1024 * 1024 + 5)
    const text = `${'Über-lange Zeile '.repeat(9)}=\r\nEnde  `
    const qp = Buffer.from(text)
      .toString('latin1')
      .replace(/[=\x80-\xff]/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase()}`)
    const message = await mailWith([
      `Content-Type: application/zip; name=a.zip\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${folded(bytes)}`,
      `Content-Type: text/plain\r\nContent-Disposition: attachment; filename=t.txt\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${qp}=20`,
      'Content-Type: text/plain\r\nContent-Disposition: attachment; filename=p.txt\r\n\r\nas it is',
      'Content-Type: text/plain\r\nContent-Disposition: attachment; filename=empty.txt\r\nContent-Transfer-Encoding: base64\r\n\r\n',
    ])
    const files = message.attachments!
    const [zip, quoted, plain, empty] = await Promise.all(files.map(({ id }) => content(id)))
    assert.ok(zip!.body.equals(bytes))
    assert.equal(quoted!.body.toString(), `${text} `)
    assert.equal(plain!.body.toString(), 'as it is')
    assert.deepEqual([empty!.status, empty!.body.length], [200, 0])
    for (const [index, { id, size_bytes }] of files.entries()) {
      const record = data<AttachmentFile>(await appliance.get(`/mailbox/attachments/${id}`, ana.key))
      const { body } = [zip!, quoted!, plain!, empty!][index]!
      assert.equal(record.sha256, createHash('sha256').update(body).digest('hex'))
      assert.deepEqual([record.size_bytes, record.message_id, record.expires_at], [size_bytes, message.id, null])
      assert.deepEqual([record.size_bytes, record.blob_id], [body.length, files[index]!.blob_id])
    }
    const edge = 1024 * 1024
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      [`bytes=${edge - 9}-${edge + 9}`, edge - 9, edge + 10],
      ['bytes=-3', bytes.length - 3, bytes.length],
    ] as const) {
      const part = await content(files[0]!.id, { range })
      assert.deepEqual(
        [part.status, part.headers.get('content-range')],
        [206, `bytes ${start}-${end - 1}/${bytes.length}`],
      )
      assert.ok(part.body.equals(bytes.subarray(start, end)), range)
    }
  })

  test('ranges, conditions and HEAD', async () => {
    const file = await uploaded('0123456789')
    const whole = await content(file.id)
    const etag = whole.headers.get('etag')!
    assert.match(etag, /^"[\w-]{27}"$/)
    assert.equal(whole.headers.get('accept-ranges'), 'bytes')
    assert.equal((await content(file.id, { range: 'bytes=2-4' })).body.toString(), '234')
    assert.equal((await content(file.id, { range: 'bytes=2-4', 'if-range': etag })).status, 206)
    assert.equal((await content(file.id, { range: 'bytes=2-4', 'if-range': '"other"' })).body.toString(), '0123456789')
    assert.equal((await content(file.id, { range: 'bytes=0-1,4-5' })).status, 200)
    const beyond = await content(file.id, { range: 'bytes=10-' })
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */10'])
    assert.equal((await content(file.id, { 'if-none-match': etag })).status, 304)
    const head = await content(file.id, {}, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('content-length'), head.body.length], [200, '10', 0])
  })

  test('executable types are replaced, and every file is sandboxed and has a file name', async () => {
    const active = [
      'text/html',
      'image/svg+xml',
      'application/xhtml+xml',
      'text/xml',
      'text/javascript',
      'application/ecmascript',
    ]
    for (const type of active) {
      const file = data<AttachmentFile>(await send(Buffer.from('<script>'), { type, query: '?filename=x.txt' }), 201)
      const { headers } = await content(file.id)
      assert.equal(headers.get('content-type'), 'application/octet-stream', type)
      assert.equal(headers.get('content-security-policy'), "sandbox; default-src 'none'")
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    }
    const file = await uploaded('x', 'Rechnung "März" (1).pdf')
    const { headers } = await content(file.id)
    assert.equal(headers.get('content-type'), 'application/pdf')
    assert.equal(
      headers.get('content-disposition'),
      `attachment; filename="Rechnung _M_rz_ (1).pdf"; filename*=UTF-8''Rechnung%20%22M%C3%A4rz%22%20%281%29.pdf`,
    )
    const inline = await content(file.id, {}, { query: '?disposition=inline' })
    assert.match(inline.headers.get('content-disposition')!, /^inline; /)
  })

  test('another mailbox finds nothing', async () => {
    const file = await uploaded('secret')
    for (const path of ['', '/content']) {
      failure(await appliance.get(`/mailbox/attachments/${file.id}${path}`, bob.key), 404, 'not_found')
    }
    failure(await appliance.call('DELETE', `/mailbox/attachments/${file.id}`, bob.key), 404, 'not_found')
  })
})

describe('lifetime of uploads', () => {
  test('an unused upload can be deleted; one that a message uses cannot', async () => {
    const file = await uploaded('to be given up')
    const etag = etagOf(await appliance.get(`/mailbox/attachments/${file.id}`, ana.key))
    failure(
      await appliance.call('DELETE', `/mailbox/attachments/${file.id}`, ana.key, undefined, { 'if-match': 'W/"x"' }),
      409,
      'conflict',
    )
    const gone = await appliance.call('DELETE', `/mailbox/attachments/${file.id}`, ana.key, undefined, {
      'if-match': etag,
    })
    assert.deepEqual(data(gone), { deleted: true, id: file.id })
    failure(await appliance.get(`/mailbox/attachments/${file.id}`, ana.key), 404, 'not_found')
    const message = await mailWith([
      'Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nhi',
    ])
    failure(
      await appliance.call('DELETE', `/mailbox/attachments/${message.attachments![0]!.id}`, ana.key),
      409,
      'conflict',
    )
  })

  test('a sent upload stays as long as the copy; an unused one is deleted after a day', async () => {
    const used = await uploaded('that is sent')
    const unused = await uploaded('that is not')
    const mail = { to: [{ email: bob.email }], subject: 'File', text_body: 'Here.' }
    const attachments = [{ filename: 'sent.txt', blob_id: used.blob_id }]
    data(await appliance.call('POST', '/mailbox/messages/send', ana.key, { ...mail, attachments }), 202)
    await appliance.settle()
    assert.equal(data<AttachmentFile>(await appliance.get(`/mailbox/attachments/${used.id}`, ana.key)).expires_at, null)
    failure(await appliance.call('DELETE', `/mailbox/attachments/${used.id}`, ana.key), 409, 'conflict')
    clock.advance(UPLOAD_LIFE_MS)
    failure(await appliance.get(`/mailbox/attachments/${unused.id}/content`, ana.key), 404, 'not_found')
    await appliance.app.store.edit.uploads.expire(new AbortController().signal)
    await sweepContent(appliance, clock)
    assert.equal((await content(used.id)).body.toString(), 'that is sent')
    assert.deepEqual(appliance.app.db.read.all('SELECT id FROM uploads WHERE id = ?', [unused.id]), [])
    failure(
      await appliance.call('POST', '/mailbox/messages/send', ana.key, {
        ...mail,
        attachments: [{ ...attachments[0], blob_id: unused.blob_id }],
      }),
      422,
      'validation_error',
    )
  })

  test('the sweep keeps content of uploads', async () => {
    const file = await uploaded(randomBytes(100))
    await sweepContent(appliance, clock)
    assert.equal((await content(file.id)).status, 200)
  })

  test('pending uploads are limited: those older than an hour make room, younger ones do not', async () => {
    const box = await team.mailbox('full@shop.test')
    const account = appliance.app.store.accounts.byMailbox(box.id)!
    const {
      edit: { uploads },
      blobs,
    } = appliance.app.store
    const first = await uploaded('first', 'first.txt', box.key)
    const add = (sizeBytes: number) =>
      appliance.app.db.write((tx) =>
        uploads.add(tx, account, {
          filename: 'x',
          contentType: 'text/plain',
          sizeBytes,
          sha256: Buffer.from(first.sha256, 'hex'),
        }),
      )
    await add(PENDING_BYTES_MAX - 5)
    assert.deepEqual(uploads.pending(account), { files: 2, bytes: PENDING_BYTES_MAX })
    failure(await upload({ filename: 'b.txt', content: 'Yg==' }, box.key), 409, 'conflict')
    clock.advance(HOUR)
    const second = await uploaded('b', 'b.txt', box.key)
    failure(await appliance.get(`/mailbox/attachments/${first.id}`, box.key), 404, 'not_found')
    data(await appliance.get(`/mailbox/attachments/${second.id}`, box.key))
    await appliance.app.db.write((tx) => uploads.purgeIn(tx, account, 10))
    failure(await appliance.get(`/mailbox/attachments/${second.id}`, box.key), 404, 'not_found')
    assert.ok(blobs.size(Buffer.from(second.sha256, 'hex')), 'content goes with the sweep')
    await sweepContent(appliance, clock)
    assert.equal(blobs.size(Buffer.from(second.sha256, 'hex')), undefined)
  })

  test('a full mailbox and a suspended one accept none', async () => {
    const small = await team.mailbox('small@shop.test', { quotaBytes: 10_485_760 })
    failure(
      await appliance.call('POST', '/mailbox/attachments', small.key, {
        filename: 'a.bin',
        content: Buffer.alloc(10_485_761).toString('base64'),
      }),
      409,
      'conflict',
    )
    const file = await uploaded('mine', 'a.txt', small.key)
    await appliance.app.directory.mailboxes.suspend(team.id, small.id)
    failure(await upload({ filename: 'a.txt', content: 'YQ==' }, small.key), 409, 'conflict')
    failure(await appliance.call('DELETE', `/mailbox/attachments/${file.id}`, small.key), 409, 'conflict')
    assert.equal((await content(file.id, {}, { key: small.key })).body.toString(), 'mine')
  })
})
