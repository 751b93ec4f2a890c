// Bodies above 1 MiB: read in a thread, with the same results, the same refusals and the same repetitions as small ones.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Type } from 'typebox'
import { systemClock } from '../../../src/base/clock.ts'
import { MemoryShares } from '../../../src/base/memory-shares.ts'
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../../src/http/json.ts'
import { LARGE_BYTES_AT_ONCE, LARGEST_BYTES, LargeBodies } from '../../../src/http/large-bodies.ts'
import { REQUEST_TIMEOUT_MS } from '../../../src/http/listener.ts'
import { BODY_LIMIT } from '../../../src/http/prepared-route.ts'
import { type Route, route } from '../../../src/http/route.ts'
import { ManualClock } from '../../support/clock.ts'
import { type HttpFixture, openHttpFixture, posted, type Reply } from './http-fixture.ts'
import { reader, Sample } from './large-sample.ts'

const LIMIT = 8 * 1_048_576
const MIB = 'x'.repeat(1_048_576)

let made = 0
let fixture: HttpFixture

const large: Route = route({
  docs: {
    tag: 'Sample',
    summary: 'A sample.',
    operation: 'createLarge',
  },
  access: { as: 'team', permission: 'domain.create' },
  method: 'POST',
  path: '/large',
  idempotent: true,
  body: {
    schema: Sample,
    limit: LIMIT,
    reader: { ...reader, thread: new URL('./large-sample-thread.ts', import.meta.url).href },
  },
  reply: { schema: Type.Object({ made: Type.Integer(), name: Type.String(), length: Type.Integer() }) },
  async handle({ body }) {
    return { made: ++made, name: body.name, length: body.content.length }
  },
})

before(async () => {
  fixture = await openHttpFixture([large], { env: { RATE_LIMIT_PER_MINUTE: '100000' } })
})
after(() => fixture[Symbol.asyncDispose]())

const post = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  fixture.call('/api/v1/large', posted(body, headers))

function refused(reply: Reply, status: number, code: string): { message: string; errors?: { field: string }[] } {
  assert.deepEqual([reply.status, reply.json.error?.code], [status, code], reply.text.slice(0, 200))
  return reply.json.error
}

describe('a large body', () => {
  test('is read as a small one is', async () => {
    for (const content of ['short', MIB.slice(0, -100), MIB, MIB.repeat(3), 'ü€💥'.repeat(200_000)]) {
      const reply = await post({ name: 'a', content })
      assert.deepEqual([reply.status, reply.json.data?.length], [200, Buffer.byteLength(content)], reply.text)
    }
  })

  test('of unknown length is bounded while it comes', async () => {
    const chunked = (size: number) => {
      const text = JSON.stringify({ name: 'a', content: 'x'.repeat(size) })
      return fixture.call('/api/v1/large', {
        ...posted('', {}),
        body: new ReadableStream({
          start(controller) {
            for (let at = 0; at < text.length; at += 65_536)
              controller.enqueue(Buffer.from(text.slice(at, at + 65_536)))
            controller.close()
          },
        }),
        duplex: 'half',
      } as RequestInit)
    }
    assert.equal((await chunked(3_000_000)).json.data.length, 3_000_000)
    refused(await chunked(LIMIT), 413, 'payload_too_large')
  })

  test('is refused in the words of a small one', async () => {
    const deep = JSON_DEPTH_MAX + 1
    const cases: [text: string, status: number, code: string][] = [
      [`{"name":"a","content":"${MIB}"`, 400, 'invalid_parameter'],
      [`["${MIB}"]`, 400, 'invalid_parameter'],
      [`\ufeff{"content":"${MIB}"}`, 400, 'invalid_parameter'],
      [`{"name":"a","name":"b","content":"${MIB}"}`, 400, 'invalid_parameter'],
      [`{"content":"${MIB}","deep":${'['.repeat(deep)}${']'.repeat(deep)}}`, 400, 'invalid_parameter'],
      [`{"many":[${'0,'.repeat(JSON_VALUES_MAX + 1)}0]}`, 400, 'invalid_parameter'],
      [JSON.stringify({ content: MIB }), 400, 'missing_parameter'],
      [JSON.stringify({ name: 'a', content: MIB, more: 1 }), 422, 'validation_error'],
      [JSON.stringify({ name: MIB, content: '' }), 422, 'validation_error'],
      [JSON.stringify({ name: 'bad', content: MIB }), 422, 'validation_error'],
    ]
    for (const [text, status, code] of cases) refused(await post(text), status, code)
    const invalidUtf8 = Buffer.from(JSON.stringify({ name: 'a', content: MIB }))
    invalidUtf8[invalidUtf8.length - 10] = 0xff
    refused(await post(invalidUtf8), 400, 'invalid_parameter')
    const { errors } = refused(await post({ name: 'bad', content: MIB }), 422, 'validation_error')
    assert.equal(errors?.[0]?.field, 'name')
  })

  test('that its reader fails on is an internal error, reported without its content', async () => {
    refused(await post({ name: 'broken', content: MIB }), 503, 'service_unavailable')
    refused(await post({ name: 'broken', content: 'x' }), 500, 'internal_error')
    assert.equal((await post({ name: 'a', content: MIB })).status, 200)
  })

  test('is the same request as a small one that says the same', async () => {
    const body = { name: 'a', content: 'x'.repeat(BODY_LIMIT - 200) }
    const padded = ` ${' '.repeat(400)}${JSON.stringify({ ...body, level: 3 })}`
    assert.ok(padded.length > BODY_LIMIT && JSON.stringify(body).length < BODY_LIMIT)
    const first = await post(body, { 'idempotency-key': 'same' })
    const again = await post(padded, { 'idempotency-key': 'same' })
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.deepEqual(again.json.data, first.json.data)
    const other = padded.replace('"a"', '"b"')
    refused(await post(other, { 'idempotency-key': 'same' }), 409, 'idempotency_conflict')
  })
})

describe('room for large bodies', () => {
  test('is given in the order it was asked for, and comes back', async () => {
    const bodies = new LargeBodies(systemClock, new MemoryShares(systemClock), LARGEST_BYTES)
    const all = await bodies.reserve(LARGEST_BYTES, 'first')
    const order: string[] = []
    const second = bodies.reserve(BODY_LIMIT, 'second').then((release) => {
      order.push('second')
      release()
    })
    order.push('first')
    all()
    await second
    assert.deepEqual(order, ['first', 'second'])
    await bodies.close()
  })

  test('is shared: bodies of one owner that come slowly leave some to others', async () => {
    const bodies = new LargeBodies(systemClock, new MemoryShares(systemClock), 1.5 * LARGEST_BYTES)
    const release = await bodies.reserve(LARGEST_BYTES, 'slow')
    const waiting = bodies.reserve(2 * BODY_LIMIT, 'slow')
    const other = await bodies.reserve(LARGEST_BYTES / 2, 'other')
    other()
    release()
    ;(await waiting)()
    await bodies.close()
  })

  test('is waited for no longer than a request may take', async () => {
    const clock = new ManualClock()
    const bodies = new LargeBodies(clock, new MemoryShares(clock), LARGEST_BYTES)
    const release = await bodies.reserve(LARGEST_BYTES, 'first')
    const refused = assert.rejects(bodies.reserve(2 * BODY_LIMIT, 'second'), { code: 'service_unavailable' })
    clock.advance(REQUEST_TIMEOUT_MS / 2)
    await refused
    release()
    await bodies.close()
  })

  test('comes back from clients that leave in the middle', async () => {
    const leave = async () => {
      const socket = connect(fixture.port, '127.0.0.1')
      const head = `POST /api/v1/large HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nContent-Length: ${LIMIT}\r\n\r\n`
      await new Promise<void>((resolve) => socket.write(`${head}${MIB}`, () => resolve()))
      socket.destroy()
    }
    // More than fit at a time.
    for (let i = 0; i < (2 * LARGE_BYTES_AT_ONCE) / LIMIT; i++) await leave()
    assert.equal((await post({ name: 'a', content: MIB })).status, 200)
  })
})

test('a route that lets large bodies in without a reader does not open', async () => {
  const { reader: _, ...without } = large
  await assert.rejects(openHttpFixture([without as Route]), /needs a reader/)
})
