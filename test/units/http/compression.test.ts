// Compression of responses: negotiation, what is never compressed, and tags that hold for every coding.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { Type } from 'typebox'
import { request } from 'undici'
import { COMPRESS_MIN, codingOf, compress, INLINE_MAX, POOL_MAX, WAITING_MAX } from '../../../src/http/compress.ts'
import { answer, bytes, page, type Route, route, stream } from '../../../src/http/route.ts'
import { type HttpFixture, openHttpFixture, posted } from './http-fixture.ts'

const docs = { tag: 'Text', summary: 'Text' }
const access = { as: 'team', permission: 'domain.read' } as const
const text = (length: number) => 'Ünïcödé text that repeats. '.repeat(Math.ceil(length / 27)).slice(0, length)
const SMALL = 'small'
const DOCUMENT = Object.freeze({ text: text(INLINE_MAX * 2) })
const BYTES = Buffer.from(text(5000))

function served(path: string, weak: boolean, type: string, headers: Record<string, string> = {}): Route {
  return route({
    docs: { ...docs, operation: `get${path.slice(1)}` },
    access,
    method: 'GET',
    path,
    reply: { schema: Type.String(), types: ['*/*'] },
    handle: () =>
      bytes({
        type,
        sizeBytes: BYTES.length,
        etag: weak ? 'W/"bytes"' : '"bytes"',
        headers,
        async *read(start, end) {
          yield BYTES.subarray(start, end)
        },
      }),
  })
}

const routes: Route[] = [
  route({
    docs: { ...docs, operation: 'getText' },
    access,
    method: 'GET',
    path: '/text',
    query: Type.Object({ length: Type.Integer({ minimum: 0 }), kept: Type.Optional(Type.Boolean()) }),
    reply: { schema: Type.Object({ text: Type.String() }), etag: true },
    handle: ({ query }) =>
      answer({
        data: { text: text(query.length) },
        ...(query.kept === true ? { headers: { 'Cache-Control': 'private, no-transform' } } : {}),
      }),
  }),
  route({
    docs: { ...docs, operation: 'getDocument' },
    access: { as: 'none' },
    method: 'GET',
    path: '/document',
    reply: { schema: Type.Object({ text: Type.String() }), bare: true, etag: true },
    handle: () => DOCUMENT,
  }),
  route({
    docs: { ...docs, operation: 'createSecret' },
    access: { as: 'team', permission: 'domain.create' },
    method: 'POST',
    path: '/secret',
    idempotent: true,
    body: { schema: Type.Object({}) },
    reply: { schema: Type.Object({ secret: Type.String() }), secret: true },
    handle: () => ({ secret: text(5000) }),
  }),
  route({
    docs: { ...docs, operation: 'getEvents' },
    access,
    method: 'GET',
    path: '/events',
    reply: { schema: Type.Unknown(), types: ['text/event-stream'], stream: true },
    handle: () => stream({ headers: {}, open: async () => Readable.from([`data: ${text(5000)}\n\n`]) }),
  }),
  route({
    docs: { ...docs, operation: 'getPage' },
    access,
    method: 'GET',
    path: '/page',
    reply: { schema: Type.Unknown(), types: ['text/html'] },
    handle: () => page({ status: 200, html: `<p>${text(5000)}</p>`, headers: {} }),
  }),
  served('/weaktext', true, 'text/plain; charset=utf-8'),
  served('/strongtext', false, 'text/plain; charset=utf-8'),
  served('/image', true, 'image/png'),
  served('/archive', true, 'application/zip'),
  served('/script', true, 'text/javascript', { 'Content-Encoding': 'gzip' }),
]

let fixture: HttpFixture
before(async () => {
  fixture = await openHttpFixture(routes)
})
after(() => fixture[Symbol.asyncDispose]())

/** The response as it is on the wire; undici decodes nothing here. */
async function wire(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const url = `${fixture.app}/api/v1${path}`
  const reply = await request(url, { method, headers: { authorization: 'Bearer root', ...headers } })
  const body = Buffer.from(await reply.body.arrayBuffer())
  const { 'content-encoding': coding, vary, etag, 'content-length': length } = reply.headers
  return { status: reply.statusCode, coding, vary, etag, length, body }
}

const both = { 'accept-encoding': 'gzip, zstd' }

describe('the coding', () => {
  const cases: [header: string | undefined, coding: string | null][] = [
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['zstd', 'zstd'],
    ['GZIP;Q=0.5', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1.0, zstd;q=0.9', 'gzip'],
    ['gzip;q=0.001, zstd;q=0', 'gzip'],
    ['gzip ; q=0.5 , zstd ; q=0.501', 'zstd'],
    ['gzip;q=0', null],
    ['br, deflate', null],
    ['*', 'gzip'],
    ['*;q=0', null],
    ['gzip;q=0, *', null],
    ['zstd, *;q=0', 'zstd'],
    ['identity', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0', null],
    ['gzip;q=2', null],
    ['gzip;q=0.0001', null],
    ['gzip;q=high', null],
    ['gzip;level=9', null],
    [`${'a,'.repeat(5000)}gzip`, 'gzip'],
  ]
  for (const [header, coding] of cases) {
    test(`of ${JSON.stringify(header)?.slice(0, 40)} is ${coding}`, () => assert.equal(codingOf(header), coding))
  }
})

describe('responses', () => {
  test('of 1 KiB and more are compressed as negotiated, inline and in the thread pool', async () => {
    const decode = { gzip: gunzipSync, zstd: zstdDecompressSync }
    for (const length of [COMPRESS_MIN, INLINE_MAX * 4]) {
      for (const coding of ['gzip', 'zstd'] as const) {
        const reply = await wire(`/text?length=${length}`, { 'accept-encoding': coding })
        assert.deepEqual([reply.status, reply.coding, reply.vary], [200, coding, 'Accept-Encoding'])
        assert.equal(reply.length, String(reply.body.length))
        assert.ok(reply.body.length < length / 2)
        assert.equal(JSON.parse(decode[coding](reply.body).toString()).data.text, text(length))
      }
    }
  })

  test('below 1 KiB, or to clients that accept no coding, are sent as they are', async () => {
    for (const [length, headers, vary] of [
      [10, both, undefined],
      [5000, {}, 'Accept-Encoding'],
      [5000, { 'accept-encoding': 'br' }, 'Accept-Encoding'],
    ] as const) {
      const reply = await wire(`/text?length=${length}`, headers)
      assert.deepEqual([reply.coding, reply.vary], [undefined, vary])
      assert.equal(JSON.parse(reply.body.toString()).data.text.length, length)
    }
  })

  test('are not compressed where the request or the route says no-transform', async () => {
    const asked = await wire('/text?length=5000', { ...both, 'cache-control': 'max-age=0, No-Transform' })
    assert.deepEqual([asked.coding, asked.vary], [undefined, 'Accept-Encoding'])
    assert.equal((await wire('/text?length=5000&kept=true', both)).coding, undefined)
    assert.equal((await wire('/text?length=5000', { ...both, 'cache-control': 'no-transformer' })).coding, 'zstd')
  })

  test('have one tag for every coding; 304 has the same Vary and no coding', async () => {
    const path = '/text?length=5000'
    const tags = await Promise.all(
      ['identity', 'gzip', 'zstd'].map(async (coding) => (await wire(path, { 'accept-encoding': coding })).etag),
    )
    assert.equal(new Set(tags).size, 1)
    assert.match(String(tags[0]), /^W\//)
    const again = await wire(path, { ...both, 'if-none-match': String(tags[0]) })
    assert.deepEqual([again.status, again.etag, again.vary], [304, tags[0], 'Accept-Encoding'])
    assert.deepEqual([again.coding, again.body.length], [undefined, 0])
  })

  test('to HEAD have the headers of GET', async () => {
    for (const path of ['/document', '/weaktext']) {
      const [get, head] = [await wire(path, both), await wire(path, both, 'HEAD')]
      assert.deepEqual({ ...head, body: null }, { ...get, body: null })
      assert.deepEqual([head.coding, head.body.length], ['zstd', 0])
    }
  })

  test('that never change are compressed once per coding', async () => {
    const path = '/document'
    const [first, second, other] = [
      await wire(path, both),
      await wire(path, both),
      await wire(path, { 'accept-encoding': 'gzip' }),
    ]
    assert.deepEqual([first.coding, other.coding], ['zstd', 'gzip'])
    assert.deepEqual(first.body, second.body)
    assert.deepEqual(JSON.parse(zstdDecompressSync(second.body).toString()), DOCUMENT)
    assert.deepEqual(JSON.parse(gunzipSync(other.body).toString()), DOCUMENT)
  })
})

describe('never compressed are', () => {
  test('responses with a secret', async () => {
    const reply = await fixture.call('/api/v1/secret', {
      ...posted({}),
      headers: { ...both, 'content-type': 'application/json' },
    })
    assert.equal(reply.json.data.secret.length, 5000)
    assert.deepEqual([reply.headers.get('content-encoding'), reply.headers.get('vary')], [null, null])
  })

  test('event streams, pages, and bytes other than text or with a strong tag', async () => {
    for (const path of ['/events', '/page', '/image', '/archive', '/strongtext']) {
      const reply = await wire(path, { ...both, accept: '*/*' })
      assert.deepEqual([path, reply.status, reply.coding], [path, 200, undefined])
      assert.ok(reply.body.includes('Ünïcödé'))
    }
  })

  test('bytes that are compressed already', async () => {
    const reply = await wire('/script', both)
    assert.deepEqual([reply.coding, reply.body], ['gzip', BYTES])
  })

  test('ranges; text bytes with a weak tag have none and are compressed', async () => {
    const part = await wire('/strongtext', { ...both, range: 'bytes=0-9' })
    assert.deepEqual([part.status, part.coding, part.body.length], [206, undefined, 10])
    const whole = await wire('/weaktext', { ...both, range: 'bytes=0-9' })
    assert.deepEqual([whole.status, whole.coding], [200, 'zstd'])
    assert.deepEqual(zstdDecompressSync(whole.body), BYTES)
    assert.equal((await wire('/weaktext', { ...both, 'if-none-match': 'W/"bytes"' })).status, 304)
  })
})

test('what exceeds the bounds of the pool is sent uncompressed', async () => {
  const large = Buffer.from(text(INLINE_MAX * 4))
  const results = Array.from({ length: POOL_MAX + WAITING_MAX + 3 }, () => compress(large, 'gzip'))
  assert.equal(results.filter((result) => result === null).length, 3)
  for (const result of await Promise.all(results)) if (result !== null) assert.deepEqual(gunzipSync(result), large)
  assert.notEqual(compress(large, 'gzip'), null)
  assert.equal(compress(Buffer.from(SMALL), 'gzip'), null)
})

describe('clients', () => {
  test('curl --compressed', async () => {
    const url = `${fixture.app}/api/v1/text?length=${INLINE_MAX * 2}`
    const { stdout } = await promisify(execFile)(
      'curl',
      ['--silent', '--compressed', '--write-out', '\n%{size_download}', '--header', 'Authorization: Bearer root', url],
      { maxBuffer: 10_000_000 },
    )
    const [body, size] = stdout.split('\n')
    assert.equal(JSON.parse(body!).data.text, text(INLINE_MAX * 2))
    assert.ok(Number(size) < INLINE_MAX)
  })

  test('fetch', async () => {
    const reply = await fetch(`${fixture.app}/api/v1/text?length=5000`, { headers: { authorization: 'Bearer root' } })
    assert.equal(reply.headers.get('content-encoding'), 'gzip')
    const { data } = (await reply.json()) as { data: { text: string } }
    assert.equal(data.text, text(5000))
  })
})
