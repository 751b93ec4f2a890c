// What happens below the requests: sizes, broken bytes, slow clients, and shutdown.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { systemClock } from '../../../src/base/clock.ts'
import { LINGER_MS } from '../../../src/http/body.ts'
import {
  CONNECTIONS_MAX,
  DROP_MS,
  HEADER_MAX,
  HEADER_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  Listener,
  REQUEST_TIMEOUT_MS,
  SILENCE_TIMEOUT_MS,
} from '../../../src/http/listener.ts'
import { bytes, type Route, route } from '../../../src/http/route.ts'
import { Default } from '../../../src/http/schema.ts'
import { type HttpFixture, openHttpFixture, posted, speak } from './http-fixture.ts'
import { type Memory, memory, samples } from './samples.ts'

const LIMIT = 1_048_576
const PARTS = { clock: systemClock, handler: () => {}, refuse: () => '', perAddress: 500, isProxy: () => false }
const AUTH = 'Host: x\r\nAuthorization: Bearer root\r\n'
/** What the slow routes are waiting for and have seen. */
const seen = { started: Promise.withResolvers<void>(), gate: Promise.withResolvers<void>(), aborted: false, read: 0 }
function reset(): void {
  Object.assign(seen, { started: Promise.withResolvers(), gate: Promise.withResolvers(), aborted: false, read: 0 })
}

const base = {
  docs: {
    tag: 'Slow',
    summary: 'Slow.',
  },
  access: { as: 'team', permission: 'domain.read' },
} as const
const slow: Route[] = [
  route({
    ...base,
    method: 'GET',
    path: '/slow',
    docs: {
      ...base.docs,
      operation: 'getSlow',
    },
    reply: { schema: Type.Object({ aborted: Type.Boolean() }) },
    async handle({ request }) {
      request.signal.addEventListener('abort', () => {
        seen.aborted = true
        seen.gate.resolve()
      })
      seen.started.resolve()
      await seen.gate.promise
      return { aborted: seen.aborted }
    },
  }),
  route({
    ...base,
    method: 'GET',
    path: '/flood',
    docs: {
      ...base.docs,
      operation: 'getFlood',
    },
    reply: { schema: Type.String(), types: ['*/*'] },
    handle() {
      return bytes({
        type: 'application/octet-stream',
        sizeBytes: 1_000_000_000,
        etag: '"flood"',
        async *read() {
          seen.started.resolve()
          try {
            for (let n = 0; n < 1000; n++) {
              seen.read = n
              yield Buffer.alloc(1_000_000)
            }
          } finally {
            seen.gate.resolve()
          }
        },
      })
    },
  }),
  route({
    ...base,
    method: 'GET',
    path: '/drip',
    docs: {
      ...base.docs,
      operation: 'getDrip',
    },
    reply: { schema: Type.String(), types: ['*/*'] },
    handle() {
      return bytes({
        type: 'text/plain',
        sizeBytes: 6,
        etag: '"drip"',
        async *read() {
          yield Buffer.from('one')
          await seen.gate.promise
          yield Buffer.from('two')
        },
      })
    },
  }),
  route({
    ...base,
    method: 'GET',
    path: '/torn',
    docs: {
      ...base.docs,
      operation: 'getTorn',
    },
    query: Type.Object({ after: Default(Type.Integer(), 0) }),
    reply: { schema: Type.String(), types: ['*/*'] },
    handle({ query }) {
      return bytes({
        type: 'text/plain',
        sizeBytes: 100,
        etag: '"torn"',
        async *read() {
          for (let n = 0; n < query.after; n++) yield Buffer.from('x')
          throw new Error('a page of the database is corrupt')
        },
      })
    },
  }),
]

let kept: Memory
let fixture: HttpFixture
before(async () => {
  kept = memory()
  fixture = await openHttpFixture([...samples(kept), ...slow], { env: { RATE_LIMIT_PER_MINUTE: '100000' } })
})
after(() => fixture[Symbol.asyncDispose]())

const status = (answer: string) => Number(answer.slice(9, 12))
const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))

/** A connection that stays open; collects what comes. */
async function open(): Promise<{ socket: Socket; text: () => string; until: (words: RegExp) => Promise<string> }> {
  let text = ''
  const socket = connect(fixture.port, '127.0.0.1')
  socket.on('data', (chunk) => (text += String(chunk))).on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  const until = async (words: RegExp) => {
    while (!words.test(text)) await new Promise((resolve) => socket.once('data', resolve))
    return text
  }
  return { socket, text: () => text, until }
}

describe('bodies', () => {
  test('up to the limit are read, one byte more is 413', async () => {
    const fill = (size: number) => `{"name":"abc"}${' '.repeat(size - 14)}`
    assert.equal((await fixture.call('/api/v1/things', posted(fill(LIMIT)))).status, 201)
    const over = await fixture.call('/api/v1/things', posted(fill(LIMIT + 1)))
    assert.deepEqual([over.status, over.json.error.code], [413, 'payload_too_large'])
  })

  test('a declared gigabyte is refused before a byte of it is read', async () => {
    const { socket, until } = await open()
    socket.write(`POST /api/v1/things HTTP/1.1\r\n${AUTH}Content-Length: 1000000000\r\n\r\n`)
    const answer = await until(/\}$/)
    assert.equal(status(answer), 413)
    assert.match(answer, /\r\nConnection: close\r\n/i)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    fixture.clock.advance(LINGER_MS)
    await closed
  })

  test('a hundred megabytes sent without looking still find their answer', async () => {
    const { socket, text } = await open()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(`POST /api/v1/things HTTP/1.1\r\n${AUTH}Content-Length: 100000000\r\n\r\n`)
    const chunk = Buffer.alloc(1_000_000, 0x20)
    for (let n = 0; n < 100 && socket.writable; n++) {
      if (!socket.write(chunk)) await new Promise((resolve) => socket.once('drain', resolve))
    }
    await closed
    assert.equal(status(text()), 413)
  })

  test('without a declared size are counted while they come', async () => {
    const { socket, until } = await open()
    socket.write(`POST /api/v1/things HTTP/1.1\r\n${AUTH}Transfer-Encoding: chunked\r\n\r\n`)
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    for (let n = 0; n < 17; n++) socket.write(chunk)
    assert.equal(status(await until(/\}$/)), 413)
    socket.destroy()
    const small = `POST /api/v1/things HTTP/1.1\r\n${AUTH}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
    assert.equal(status(await speak(fixture.port, `${small}e\r\n{"name":"abc"}\r\n0\r\n\r\n`)), 201)
  })

  test('that are compressed are not opened', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, 0x20))
    const reply = await fixture.call('/api/v1/things', posted(bomb, { 'content-encoding': 'gzip' }))
    assert.deepEqual([reply.status, reply.headers.get('accept-encoding')], [415, 'identity'])
  })

  test('a client that sends Expect gets 100 Continue, or the final response', async () => {
    const ask = (length: number, key = 'root') =>
      `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
    const good = await open()
    good.socket.write(ask(14))
    await good.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
    good.socket.write('{"name":"abc"}')
    assert.match(await good.until(/\}$/), /HTTP\/1\.1 201 /)
    good.socket.destroy()
    for (const [length, key, code] of [
      [2_000_000, 'root', 413],
      [14, 'nobody', 401],
      [14, 'reader', 403],
    ] as const) {
      const answer = await speak(fixture.port, ask(length, key))
      assert.equal(status(answer), code, 'no 100 before the refusal, and the connection is closed')
    }
  })

  test('another expectation is not ours to meet and changes nothing', async () => {
    const raw = `GET /api/v1/filter HTTP/1.1\r\n${AUTH}Expect: 200-ok\r\nConnection: close\r\n\r\n`
    assert.equal(status(await speak(fixture.port, raw)), 200)
  })

  test('that break off leave nothing behind', async () => {
    const made = kept.made
    const { socket } = await open()
    socket.write(`POST /api/v1/things HTTP/1.1\r\n${AUTH}Content-Length: 100\r\n\r\n{"name":`)
    await new Promise(setImmediate)
    socket.destroy()
    assert.equal((await fixture.call('/api/v1/filter')).status, 200)
    assert.equal(kept.made, made)
  })

  test('refused small ones are read away, and the connection lives on', async () => {
    const post = `POST /api/v1/nothing HTTP/1.1\r\n${AUTH}Content-Length: 5\r\n\r\nhello`
    const get = `GET /api/v1/filter HTTP/1.1\r\n${AUTH}Connection: close\r\n\r\n`
    const answer = await speak(fixture.port, post + get)
    assert.match(answer, /^HTTP\/1\.1 404 [\s\S]*HTTP\/1\.1 200 /)
  })

  test('that have arrived with their header are known to have ended, or to be broken', async () => {
    const post = `POST /api/v1/nothing HTTP/1.1\r\n${AUTH}Transfer-Encoding: chunked\r\n\r\n`
    const get = `GET /api/v1/filter HTTP/1.1\r\n${AUTH}Connection: close\r\n\r\n`
    assert.match(await speak(fixture.port, `${post}0\r\n\r\n${get}`), /^HTTP\/1\.1 404 [\s\S]*HTTP\/1\.1 200 /)
    assert.equal(status(await speak(fixture.port, `${post}zz\r\n`)), 400)
  })
})

test('each request on a connection is judged by its own credential', async () => {
  const credentials = [
    'Bearer root',
    'Bearer root',
    'Bearer nobody',
    'Bearer suspended',
    null,
    'Bearer reader',
    'Bearer root',
  ]
  const requests = credentials.map((credential) => {
    const authorization = credential === null ? '' : `Authorization: ${credential}\r\n`
    return `GET /api/v1/filter HTTP/1.1\r\nHost: x\r\n${authorization}`
  })
  const text = `${requests.join('\r\n')}Connection: close\r\n\r\n`
  const answers = (await speak(fixture.port, text)).match(/HTTP\/1\.1 \d{3}/g)
  assert.deepEqual(answers?.map(status), [200, 200, 401, 403, 401, 200, 200])
})

describe('bytes that are no request', () => {
  const cases: [what: string, bytes: string][] = [
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['another version', 'GET / HTTP/9.9\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a space before the colon', `GET / HTTP/1.1\r\nHost : x\r\n\r\n`],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n'],
    ['two lengths', `POST /api/v1/things HTTP/1.1\r\n${AUTH}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\n${AUTH}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a negative length', `POST / HTTP/1.1\r\n${AUTH}Content-Length: -1\r\n\r\n`],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['a bare line feed', 'GET / HTTP/1.1\nHost: x\n\n'],
    ['an endless header', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(HEADER_MAX)}\r\n\r\n`],
    ['an endless path', `GET /${'a'.repeat(HEADER_MAX)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\nConnection: close\r\n\r\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ]
  for (const [what, raw] of cases) {
    test(`${what} is 400 with an envelope, and the end of the connection`, async () => {
      const answer = await speak(fixture.port, Buffer.from(raw, 'latin1'))
      assert.equal(status(answer), 400, answer)
      const { ok, error, meta } = bodyOf(answer)
      assert.deepEqual([ok, error.code, error.retryable], [false, 'invalid_parameter', false])
      assert.match(answer, new RegExp(`\r\nX-Request-Id: ${meta.request_id}\r\n`))
      for (const header of ['Cache-Control: no-store', 'X-RateLimit-Limit: 120', 'X-API-Version: 1.0.0']) {
        assert.ok(answer.includes(`\r\n${header}\r\n`), header)
      }
    })
  }

  test('HTTP/1.0 needs no Host', async () => {
    assert.equal(status(await speak(fixture.port, 'GET /healthz HTTP/1.0\r\n\r\n')), 200)
  })

  test('HTTP/1.0 with Transfer-Encoding ends the connection, and what follows is no request', async () => {
    const { socket, text } = await open()
    const closed = once(socket, 'close')
    const kept = 'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n'
    socket.write(`${kept}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${kept}\r\n`)
    await closed
    assert.equal(text().match(/^HTTP\/1\.\d 200/gm)?.length, 1)
    assert.match(text(), /\r\nConnection: close\r\n/i)
  })

  test('behind a whole request do not cost it its answer', async () => {
    const raw = `GET /api/v1/filter HTTP/1.1\r\n${AUTH}\r\nnonsense\r\n\r\n`
    const answer = await speak(fixture.port, raw)
    assert.equal(status(answer), 200)
    assert.match(answer, /"ok":true/)
  })

  test('end the connection, also where the answer waits for nothing', async () => {
    const answer = await speak(fixture.port, `GET /api/v1/nothing HTTP/1.1\r\n${AUTH}\r\nnonsense\r\n\r\n`)
    assert.deepEqual(answer.match(/^(?:HTTP\/1\.1 \d+|Connection: .*)/gm), ['HTTP/1.1 404', 'Connection: close'])
  })

  test('in a body are not answered before the requests in front of it', async () => {
    reset()
    const { socket, text, until } = await open()
    const closed = once(socket, 'close')
    socket.write(`GET /api/v1/slow HTTP/1.1\r\n${AUTH}\r\n`)
    await seen.started.promise
    socket.write(`POST /api/v1/things HTTP/1.1\r\n${AUTH}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)
    // Another round trip: the server has read the body by then.
    await speak(fixture.port, 'GET /healthz HTTP/1.0\r\n\r\n')
    assert.equal(text(), '')
    seen.gate.resolve()
    assert.deepEqual((await until(/HTTP\/1\.1 400/)).match(/HTTP\/1\.1 \d{3}/g)?.map(status), [200, 400])
    socket.end()
    await closed
  })

  test('end the connection behind an answer that had begun', async () => {
    reset()
    const { socket, text, until } = await open()
    socket.write(`GET /api/v1/drip HTTP/1.1\r\n${AUTH}\r\n`)
    await until(/one$/)
    for (let n = 0; n < 3; n++) {
      socket.write('nonsense\r\n\r\n')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(30_000) })
    seen.gate.resolve()
    await closed
    assert.match(text(), /\r\nConnection: keep-alive\r\n[\s\S]*onetwo$/i)
  })

  test('do not cost a client that goes on sending the answer, and not the server the connection', async () => {
    const socket = connect({ port: fixture.port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    socket.on('data', (chunk) => (text += String(chunk))).on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write('nonsense\r\n\r\n')
    await once(socket, 'end')
    for (let n = 0; n < 5; n++) {
      socket.write('more\r\n')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.deepEqual([status(text), socket.destroyed], [400, false])
    fixture.clock.advance(DROP_MS)
    const sending = setInterval(() => socket.write('more\r\n'), 20)
    socket.once('close', () => clearInterval(sending))
    await closed
  })
})

describe('bounds of a listener', () => {
  test('are set on the server', () => {
    const { server } = new Listener({ ...PARTS, failed: () => {} })
    assert.equal(server.headersTimeout, HEADER_TIMEOUT_MS)
    assert.equal(server.requestTimeout, REQUEST_TIMEOUT_MS)
    assert.equal(server.keepAliveTimeout, KEEP_ALIVE_MS)
    assert.equal(server.timeout, SILENCE_TIMEOUT_MS)
    assert.equal(server.maxConnections, CONNECTIONS_MAX)
    assert.ok(HEADER_TIMEOUT_MS <= 10_000 && REQUEST_TIMEOUT_MS <= 120_000)
  })
})

describe('a connection that takes too long', () => {
  test('is closed without a word while nothing was asked, and told so in the middle of a request', async () => {
    const listener = new Listener({ ...PARTS, refuse: (_, { message }) => message, failed: () => {} })
    Object.assign(listener.server, { headersTimeout: 1, requestTimeout: 1 })
    await listener.listen(0, '127.0.0.1')
    const said = async (sent: string) => {
      const socket = connect(listener.port, '127.0.0.1')
      let text = ''
      socket.on('data', (chunk) => (text += String(chunk))).on('end', () => socket.end())
      if (sent !== '') socket.write(sent)
      await once(socket, 'close')
      return text
    }
    const [spare, slow] = await Promise.all([said(''), said('GET / HT')])
    assert.equal(spare, '')
    assert.match(slow, /took too long/)
    await listener.close()
  })
})

describe('a port', () => {
  test('that is in use fails the start with the reason, and nothing stays open', async () => {
    const taken = { APP_ORIGIN: 'http://localhost:1', HTTP_PORT: '0', SEND_PORT: String(fixture.port) }
    await assert.rejects(openHttpFixture([], { env: taken }), {
      code: 'EADDRINUSE',
      port: fixture.port,
    })
  })

  test('goes on when a connection cannot be accepted', async () => {
    const failures: unknown[] = []
    const { server } = new Listener({ ...PARTS, failed: (error) => failures.push(error) })
    const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
    server.emit('error', error)
    assert.deepEqual(failures, [error])
  })
})

describe('a client that closes its half after the request', () => {
  test('gets its answer, and then the end of the connection', async () => {
    reset()
    const { socket, text } = await open()
    socket.end(`GET /api/v1/drip HTTP/1.1\r\n${AUTH}\r\n`)
    await once(socket, 'data')
    seen.gate.resolve()
    await once(socket, 'close')
    assert.equal(status(text()), 200)
    assert.match(text(), /onetwo$/)
  })
})

describe('a client that goes away', () => {
  test('ends the work it waited for', async () => {
    reset()
    const { socket } = await open()
    socket.write(`GET /api/v1/slow HTTP/1.1\r\n${AUTH}\r\n`)
    await seen.started.promise
    socket.destroy()
    await seen.gate.promise
    assert.equal(seen.aborted, true)
  })

  test('ends the download it read', async () => {
    reset()
    const { socket, until } = await open()
    socket.write(`GET /api/v1/flood HTTP/1.1\r\n${AUTH}\r\n`)
    await until(/\r\n\r\n/)
    socket.destroy()
    await seen.gate.promise
    assert.ok(seen.read < 999, 'no more is read than the client takes')
  })

  test('a content that cannot be read is an error; one that breaks off ends the connection', async () => {
    const unread = await fixture.call('/api/v1/torn')
    assert.deepEqual([unread.status, unread.json.error.code], [500, 'internal_error'])
    const answer = await speak(fixture.port, `GET /api/v1/torn?after=3 HTTP/1.1\r\n${AUTH}\r\n`)
    assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*Content-Length: 100\r\n[\s\S]*\r\n\r\nxxx$/)
    assert.match(JSON.stringify(fixture.lines.at(-1)), /corrupt.*Content aborted/)
  })
})

describe('closing', () => {
  test('lets what is under way finish, closes idle connections, and takes nothing new', async () => {
    await using other = await openHttpFixture([...samples(memory()), ...slow])
    reset()
    const idle = connect(other.port, '127.0.0.1')
    await new Promise((resolve) => idle.once('connect', resolve))
    idle.write(`GET /api/v1/filter HTTP/1.1\r\n${AUTH}\r\n`)
    await new Promise((resolve) => idle.once('data', resolve))
    const idleClosed = new Promise((resolve) => idle.once('close', resolve))
    idle.resume()
    const under = speak(other.port, `GET /api/v1/slow HTTP/1.1\r\n${AUTH}\r\n`)
    await seen.started.promise
    const stopped = other.stop()
    await idleClosed
    await assert.rejects(other.call('/healthz'))
    seen.gate.resolve()
    const answer = await under
    assert.equal(status(answer), 200)
    assert.match(answer, /\r\nConnection: close\r\n/i)
    await stopped
  })

  test('lets a download finish that had begun, and closes its connection then', async () => {
    await using other = await openHttpFixture([...samples(memory()), ...slow])
    reset()
    let text = ''
    const socket = connect(other.port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('data', (chunk) => (text += String(chunk)))
    socket.write(`GET /api/v1/drip HTTP/1.1\r\n${AUTH}\r\n`)
    while (!text.endsWith('one')) await new Promise((resolve) => socket.once('data', resolve))
    const stopped = other.stop()
    seen.gate.resolve()
    await Promise.all([stopped, closed])
    assert.match(text, /\r\nConnection: keep-alive\r\n[\s\S]*onetwo$/i)
  })
})
