// What every response looks like, whatever was asked: docs/design/http.md §3, §5, §10 and docs/design/contract.md §2.1, §7.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ErrorCode } from '../../../src/base/errors.ts'
import { call, type HttpFixture, openHttpFixture, posted, type Reply, speak } from './http-fixture.ts'
import { memory, samples } from './samples.ts'

const ID = `mdom_${'x'.repeat(24)}`
let fixture: HttpFixture
before(async () => {
  fixture = await openHttpFixture(samples(memory()), { env: { CORS_ORIGINS: 'https://console.example' } })
})
after(() => fixture[Symbol.asyncDispose]())

function assertCommon(reply: Reply): void {
  const { headers } = reply
  assert.match(headers.get('x-request-id') ?? '', /^req_[a-z0-9]{24}$/)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('x-api-version'), '1.0.0')
  assert.equal(headers.get('strict-transport-security'), 'max-age=31536000')
  assert.match(headers.get('x-ratelimit-limit') ?? '', /^\d+$/)
  assert.match(headers.get('x-ratelimit-remaining') ?? '', /^\d+$/)
  assert.equal(headers.get('x-ratelimit-reset'), String(fixture.clock.now() / 1000 + 60))
  if (reply.json?.meta) assert.equal(reply.json.meta.request_id, headers.get('x-request-id'))
}

describe('every response', () => {
  const cases: [what: string, path: string, init: RequestInit & { key?: string | null }, status: number][] = [
    ['a read', '/api/v1/filter', {}, 200],
    ['HEAD', '/api/v1/filter', { method: 'HEAD' }, 200],
    ['a creation', '/api/v1/things', posted({ name: 'abc' }), 201],
    ['OPTIONS', '/api/v1/filter', { method: 'OPTIONS', key: null }, 204],
    ['bytes', '/api/v1/content', {}, 200],
    ['a range', '/api/v1/content', { headers: { range: 'bytes=1-2' } }, 206],
    ['unchanged', '/api/v1/filter', { headers: { 'if-none-match': '*' } }, 304],
    ['bad query', '/api/v1/things?limit=0', {}, 400],
    ['no credential', '/api/v1/filter', { key: null }, 401],
    ['no permission', '/api/v1/filter', { key: 'mailbox' }, 403],
    ['unknown path', '/api/v1/nothing', {}, 404],
    ['unknown path outside the API', '/nothing', { key: null }, 404],
    ['wrong method', '/api/v1/filter', { method: 'DELETE' }, 405],
    ['not acceptable', '/api/v1/filter', { headers: { accept: 'text/html' } }, 406],
    ['conflict', '/api/v1/things', posted({ name: 'taken' }), 409],
    ['too large', '/api/v1/things', posted('x'.repeat(1_048_577)), 413],
    ['wrong type', '/api/v1/things', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }, 415],
    ['wrong range', '/api/v1/content', { headers: { range: 'bytes=10-' } }, 416],
    ['broken rule', '/api/v1/things', posted({ name: 'a' }), 422],
    ['a fault', '/api/v1/failing', {}, 500],
    ['unavailable', '/api/v1/failing?code=service_unavailable', {}, 503],
    ['open document', '/healthz', { key: null }, 200],
    ['OpenAPI', '/api/v1/openapi.json', { key: null }, 200],
  ]
  for (const [what, path, init, status] of cases) {
    test(`${what}: ${status} with the common headers`, async () => {
      const reply = await fixture.call(path, init)
      assert.equal(reply.status, status, reply.text)
      assertCommon(reply)
      if (status < 400) return
      assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(reply.json.ok, false)
      assert.equal(reply.json.error.doc_url, `https://mail.example/docs/errors#${reply.json.error.code}`)
      assert.equal(typeof reply.json.error.message, 'string')
    })
  }
})

describe('errors', () => {
  const table: [ErrorCode, number, boolean][] = [
    ['invalid_parameter', 400, false],
    ['missing_parameter', 400, false],
    ['authentication_required', 401, false],
    ['insufficient_permissions', 403, false],
    ['not_found', 404, false],
    ['conflict', 409, false],
    ['idempotency_conflict', 409, false],
    ['payload_too_large', 413, false],
    ['validation_error', 422, false],
    ['rate_limit_exceeded', 429, true],
    ['internal_error', 500, true],
    ['service_unavailable', 503, true],
    ['method_not_allowed', 405, false],
    ['not_acceptable', 406, false],
    ['unsupported_media_type', 415, false],
    ['range_not_satisfiable', 416, false],
  ]
  for (const [code, status, retryable] of table) {
    test(`${code} is ${status}`, async () => {
      const reply = await fixture.call(`/api/v1/failing?code=${code}`)
      assert.equal(reply.status, status)
      assert.deepEqual([reply.json.error.code, reply.json.error.retryable], [code, retryable])
      assert.equal(reply.headers.has('retry-after'), status === 429 || status === 503)
      assert.ok(Number(reply.headers.get('retry-after') ?? 1) >= 1)
    })
  }

  test('an unknown error is answered without its text and logged once, secrets removed', async () => {
    const before = fixture.lines.length
    const reply = await fixture.call('/api/v1/failing')
    assert.equal(reply.json.error.code, 'internal_error')
    assert.doesNotMatch(reply.text, /cellar/)
    const lines = fixture.lines.slice(before)
    assert.equal(lines.length, 1)
    assert.equal(lines[0]?.request_id, reply.json.meta.request_id)
    assert.match(JSON.stringify(lines[0]), /cellar is on fire/)
    assert.doesNotMatch(JSON.stringify(lines[0]), /srk_/)
  })

  test('a "not now" that was said on purpose is noted in one line without a stack', async () => {
    const before = fixture.lines.length
    const reply = await fixture.call('/api/v1/failing?code=service_unavailable')
    const lines = fixture.lines.slice(before)
    assert.deepEqual(
      lines.map(({ level, event, request_id, err }) => [level, event, request_id, err]),
      [[30, 'http.unavailable', reply.json.meta.request_id, undefined]],
    )
  })

  test('a reply that breaks its schema is a fault where replies are checked, and passes where they are not', async () => {
    const reply = await fixture.call('/api/v1/untrue')
    assert.equal(reply.status, 500)
    assert.match(JSON.stringify(fixture.lines.at(-1)), /breaks its schema.*unknown_field/)
    await using careless = await openHttpFixture(samples(memory()), { checkReplies: false })
    assert.equal((await careless.call('/api/v1/untrue')).status, 200)
  })
})

describe('request ids', () => {
  test('a client cannot choose one; its own is logged, cut at 128 characters', async () => {
    const reply = await fixture.call('/api/v1/filter', { headers: { 'x-request-id': `mine-${'x'.repeat(200)}` } })
    assert.match(reply.json.meta.request_id, /^req_[a-z0-9]{24}$/)
    const line = fixture.lines.at(-1)
    assert.equal(line?.request_id, reply.json.meta.request_id)
    assert.equal(line?.client_request_id, `mine-${'x'.repeat(123)}`)
    assert.equal(line?.status, 200)
  })
})

describe('the log', () => {
  test('a link that is a secret does not stand in it', async () => {
    for (const [method, path] of [
      ['GET', '/links/s3cret-t0ken'],
      ['GET', '/links/s3cret%2Dt0ken/'],
      ['POST', '/links/s3cret-t0ken'],
    ] as const) {
      await fixture.call(path, { method, key: null, headers: { 'x-request-id': 'mine' } })
      const line = fixture.lines.at(-1)
      assert.equal(line?.client_request_id, 'mine')
      assert.doesNotMatch(JSON.stringify(line), /s3cret/)
    }
  })
})

describe('methods', () => {
  test('HEAD has the headers of GET and no body', async () => {
    for (const path of ['/api/v1/filter', '/api/v1/content', '/healthz', '/api/v1/things']) {
      const get = await fixture.call(path)
      const head = await fixture.call(path, { method: 'HEAD' })
      assert.equal(head.status, get.status)
      assert.equal(head.text, '')
      for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges', 'content-disposition']) {
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
      }
    }
  })

  test('HEAD needs what GET needs', async () => {
    assert.equal((await fixture.call('/api/v1/filter', { method: 'HEAD', key: null })).status, 401)
    assert.equal((await fixture.call('/api/v1/filter', { method: 'HEAD', key: 'mailbox' })).status, 403)
  })

  test('OPTIONS returns the methods of the path, without a credential', async () => {
    const reply = await fixture.call('/api/v1/filter', { method: 'OPTIONS', key: null })
    assert.equal(reply.status, 204)
    assert.deepEqual(reply.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'PUT'])
    assert.equal(reply.headers.has('access-control-allow-methods'), false)
  })

  test('OPTIONS of the whole server', async () => {
    const answer = await speak(fixture.port, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 204 [\s\S]*\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n/)
  })

  test('another method is 405 with Allow', async () => {
    for (const [method, path] of [
      ['DELETE', '/api/v1/filter'],
      ['TRACE', '/api/v1/filter'],
      ['PATCH', '/api/v1/things/count'],
      ['PROPFIND', '/healthz'],
    ] as const) {
      const raw = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nConnection: close\r\n\r\n`
      assert.match(await speak(fixture.port, raw), /^HTTP\/1\.1 405 [\s\S]*\r\nAllow: GET, (PUT, )?HEAD, OPTIONS\r\n/)
    }
  })
})

describe('paths', () => {
  test('one trailing slash is as none, two are another path; case matters', async () => {
    const cases: [string, number][] = [
      ['/api/v1/filter/', 200],
      ['/api/v1/filter//', 404],
      ['/api/v1//filter', 404],
      ['//api/v1/filter', 404],
      ['/api/v1/Filter', 404],
      ['/API/v1/filter', 404],
      ['/api/v1/filter/?&', 200],
      ['/api/v1/filter/?x=1', 422],
      ['/api/v1/./filter/..', 404],
      ['/api/v1/%66ilter', 404],
      [`/api/v1/things/${ID}/`, 200],
      ['/api/v1', 404],
      ['/api/v1/', 404],
      ['/', 404],
      ['http://x', 404],
    ]
    for (const [path, status] of cases) {
      // Raw, because fetch tidies paths up.
      const raw = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nConnection: close\r\n\r\n`
      const answer = await speak(fixture.port, raw)
      assert.equal(Number(answer.slice(9, 12)), status, path)
    }
  })

  test('a whole URL as the target is understood', async () => {
    const head = 'Host: x\r\nAuthorization: Bearer root\r\nConnection: close\r\n\r\n'
    const answer = await speak(fixture.port, `GET http://mail.example/api/v1/filter HTTP/1.1\r\n${head}`)
    assert.match(answer, /^HTTP\/1\.1 200 /)
  })

  test('the literal path comes before the parameter, whatever the order of the routes', async () => {
    assert.deepEqual((await fixture.call('/api/v1/things/count')).json.data, { count: 5 })
    assert.equal((await fixture.call(`/api/v1/things/${ID}`)).json.data.id, ID)
  })

  test('an id of another form is not found, however it is written', async () => {
    for (const id of [
      'mdom_short',
      'mdom_%00',
      `msg_${'x'.repeat(24)}`,
      '%zz',
      '%ff',
      `${ID}x`,
      encodeURIComponent('a/b'),
    ]) {
      const reply = await fixture.call(`/api/v1/things/${id}`)
      assert.equal(reply.status, 404, id)
      assert.equal(reply.json.error.code, 'not_found')
    }
  })
})

describe('the two origins', () => {
  test('each serves its own routes; the credential metadata is that of the origin', async () => {
    assert.equal((await call(`${fixture.send}/api/v1/both`)).json.data.kind, 'team')
    assert.equal((await call(`${fixture.send}/api/v1/both`, { key: 'mailbox' })).json.data.kind, 'mailbox')
    assert.equal((await call(`${fixture.send}/api/v1/filter`)).status, 404)
    const cold = await call(`${fixture.send}/api/v1/both`, { key: null })
    assert.equal(
      cold.headers.get('www-authenticate'),
      'Bearer resource_metadata="https://send.mail.example/.well-known/oauth-protected-resource/api/v1"',
    )
  })

  test('no HSTS where the public origin is plain http', async () => {
    await using plain = await openHttpFixture(samples(memory()), {
      env: { APP_ORIGIN: 'http://localhost:8080', SEND_ORIGIN: 'https://send.example' },
    })
    assert.equal((await plain.call('/healthz')).headers.has('strict-transport-security'), false)
    assert.equal((await call(`${plain.send}/api/v1/both`)).headers.has('strict-transport-security'), true)
  })
})

describe('CORS', () => {
  const from = (origin: string) => ({ headers: { origin } })

  test('what is open may be read by every origin, without credentials', async () => {
    for (const path of ['/healthz', '/api/v1/openapi.json']) {
      const { headers } = await fixture.call(path, { key: null, ...from('https://anyone.example') })
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.has('access-control-allow-credentials'), false)
    }
  })

  test('the API is for the configured origins', async () => {
    const known = await fixture.call('/api/v1/filter', from('https://console.example'))
    assert.equal(known.headers.get('access-control-allow-origin'), 'https://console.example')
    assert.equal(
      known.headers.get('access-control-expose-headers'),
      'ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotent-Replayed, Location',
    )
    assert.equal(known.headers.get('vary'), 'Origin')
    const strange = await fixture.call('/api/v1/filter', from('https://evil.example'))
    assert.equal(strange.headers.has('access-control-allow-origin'), false)
    assert.equal(strange.headers.get('vary'), 'Origin')
  })

  test('a preflight is answered for them alone, and before any credential', async () => {
    const ask = (origin: string) => ({
      method: 'OPTIONS',
      key: null,
      headers: { origin, 'access-control-request-method': 'PUT' },
    })
    const known = await fixture.call('/api/v1/filter', ask('https://console.example'))
    assert.equal(known.status, 204)
    assert.match(known.headers.get('access-control-allow-methods') ?? '', /\bPUT\b/)
    assert.match(
      known.headers.get('access-control-allow-headers') ?? '',
      /Authorization.*If-Match.*Idempotency-Key.*Mcp-Protocol-Version/,
    )
    const strange = await fixture.call('/api/v1/filter', ask('https://evil.example'))
    assert.equal(strange.status, 204)
    assert.equal(strange.headers.has('access-control-allow-methods'), false)
  })
})
