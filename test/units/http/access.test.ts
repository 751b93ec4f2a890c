// Who may ask: credentials, permissions, and the order in which a request is checked (docs/design/http.md §4, directory.md §1, agents.md §8).

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type HttpFixture, MAILBOX, openHttpFixture, posted } from './http-fixture.ts'
import { type Memory, memory, samples } from './samples.ts'

const METADATA = 'Bearer resource_metadata="https://mail.example/.well-known/oauth-protected-resource/api/v1"'
let kept: Memory
let fixture: HttpFixture
before(async () => {
  kept = memory()
  fixture = await openHttpFixture(samples(kept))
})
after(() => fixture[Symbol.asyncDispose]())

describe('credentials', () => {
  test('every path under the API answers 401 without one, known or not', async () => {
    for (const path of [
      '/api/v1',
      '/api/v1/',
      '/api/v1/filter',
      '/api/v1/nothing',
      '/api/v1//filter',
      '/api/v1/things/x',
    ]) {
      const reply = await fixture.call(path, { key: null })
      assert.equal(reply.status, 401, path)
      assert.equal(reply.json.error.code, 'authentication_required')
      assert.equal(reply.headers.get('www-authenticate'), METADATA)
    }
    assert.equal((await fixture.call('/api/v1/filter', { key: null, method: 'DELETE' })).status, 401)
    assert.equal((await fixture.call('/api/v1/nothing', { key: null, method: 'OPTIONS' })).status, 401)
  })

  test('outside the API nothing asks for one', async () => {
    assert.equal((await fixture.call('/nothing', { key: null })).status, 404)
    assert.equal((await fixture.call('/api/v1x', { key: null })).status, 404)
    assert.equal((await fixture.call('/healthz', { key: null })).status, 200)
    assert.equal((await fixture.call('/api/v1/openapi.json', { key: null })).status, 200)
    assert.equal((await fixture.call('/healthz', { key: 'nobody' })).status, 200)
    assert.equal((await fixture.call('/api/v1/openapi.json', { key: null, method: 'DELETE' })).status, 405)
  })

  test('forms of the header', async () => {
    const cases: [header: string, status: number, expected: string][] = [
      ['Bearer root', 200, ''],
      ['bearer root', 200, ''],
      ['BEARER   root  ', 200, ''],
      ['Bearer nobody', 401, `${METADATA}, error="invalid_token"`],
      ['Bearer', 401, `${METADATA}, error="invalid_token"`],
      [`Bearer ${'x'.repeat(5000)}`, 401, `${METADATA}, error="invalid_token"`],
      ['Bearer root, Bearer reader', 401, `${METADATA}, error="invalid_token"`],
      ['Basic cm9vdDpyb290', 401, METADATA],
      ['root', 401, METADATA],
      ['Bearerroot', 401, METADATA],
    ]
    for (const [authorization, status, expected] of cases) {
      const reply = await fixture.call('/api/v1/filter', { headers: { authorization } })
      assert.equal(reply.status, status, authorization)
      assert.equal(reply.headers.get('www-authenticate') ?? '', expected, authorization)
    }
    assert.ok(![...fixture.looked].some((secret) => secret.length > 256), 'an endless credential is not looked up')
  })

  test('a suspended team is refused everything', async () => {
    for (const path of ['/api/v1/filter', '/api/v1/nothing']) {
      const reply = await fixture.call(path, { key: 'suspended' })
      assert.equal(reply.status, 403)
      assert.equal(reply.json.error.code, 'insufficient_permissions')
    }
    assert.equal((await fixture.call('/healthz', { key: 'suspended' })).status, 200)
  })
})

const missing = (names: string) => `The permission ${names} is missing. Use a key that has it.`

describe('permissions', () => {
  const cases: [what: string, key: string, path: string, init: RequestInit, status: number, expected: string][] = [
    ['a wildcard covers its namespace', 'root', '/api/v1/things', posted({ name: 'abc' }), 201, ''],
    [
      'a read does not cover a write',
      'reader',
      '/api/v1/things',
      posted({ name: 'abc' }),
      403,
      missing('domain.create'),
    ],
    [
      'a root key on a mailbox route',
      'root',
      '/api/v1/mailbox/me',
      {},
      403,
      'This path needs a mailbox key; root keys cannot read messages.',
    ],
    ['a mailbox credential on a management route', 'mailbox', '/api/v1/filter', {}, 403, missing('domain.read')],
    ['a mailbox credential on its route', 'mailbox', '/api/v1/mailbox/me', {}, 200, ''],
    [
      'one of several is enough',
      'reader',
      `/api/v1/things/mdom_${'x'.repeat(24)}/verify`,
      { method: 'POST' },
      403,
      missing('domain.verify or domain.manage'),
    ],
  ]
  for (const [what, key, path, init, status, expected] of cases) {
    test(what, async () => {
      const reply = await fixture.call(path, { ...init, key })
      assert.equal(reply.status, status)
      if (status < 400) return
      assert.equal(reply.json.error.code, 'insufficient_permissions')
      assert.equal(reply.json.error.message, expected)
    })
  }

  test('the handler gets the principal', async () => {
    await fixture.call('/api/v1/mailbox/me', { key: 'mailbox' })
    assert.equal(kept.seen, MAILBOX)
  })
})

// Each request breaks its own rule and every later one; the first in the order of docs/design/http.md §4 is reported.
describe('the order of checks', () => {
  const large = 'x'.repeat(1_048_577)
  const bad = { 'content-type': 'text/plain', accept: 'text/html', 'idempotency-key': 'ä b' }
  const init = (method: string, body: string, headers = {}) => ({ method, body, headers: { ...bad, ...headers } })
  const cases: [what: string, path: string, init: RequestInit & { key?: string | null }, status: number][] = [
    ['declared size', '/api/v1/nothing', { ...init('POST', large), key: null }, 413],
    ['authentication', '/api/v1/nothing', { ...init('POST', 'x'), key: null }, 401],
    ['route', '/api/v1/nothing', { ...init('POST', 'x'), key: 'reader' }, 404],
    ['method', '/api/v1/things', { ...init('PUT', 'x'), key: 'reader' }, 405],
    ['permission', '/api/v1/things', { ...init('POST', 'x'), key: 'reader' }, 403],
    ['accept', '/api/v1/things', init('POST', 'x'), 406],
    ['content type', '/api/v1/things', init('POST', 'x', { accept: '*/*' }), 415],
    ['headers', '/api/v1/things', init('POST', 'x', { accept: '*/*', 'content-type': 'application/json' }), 400],
    ['path', '/api/v1/things/bad/verify', { ...posted({ unknown: 1 }) }, 404],
    ['body', `/api/v1/things/mdom_${'x'.repeat(24)}/verify`, { ...posted({ unknown: 1 }) }, 422],
  ]
  for (const [what, path, request, status] of cases) {
    test(`${what}: ${status}`, async () => {
      const headers = new Headers()
      for (const [name, value] of Object.entries(request.headers ?? {})) {
        headers.set(name, Buffer.from(String(value)).toString('latin1'))
      }
      assert.equal((await fixture.call(path, { ...request, headers })).status, status)
    })
  }

  test('the query is reported before the body, and the body before the precondition', async () => {
    const both = await fixture.call('/api/v1/things?limit=x', { ...posted({}), key: 'reader' })
    assert.equal(both.status, 403)
    const body = await fixture.call('/api/v1/filter', {
      ...posted({ mode: 'x', rules: [] }, { 'if-match': '"other"' }),
      method: 'PUT',
    })
    assert.equal(body.status, 422)
  })
})

describe('types', () => {
  test('Accept', async () => {
    const cases: [path: string, accept: string, result: number | string][] = [
      ['/api/v1/either', '*/*', 'application/json'],
      ['/api/v1/either', 'application/*', 'application/json'],
      ['/api/v1/either', 'application/json; charset=utf-8', 'application/json'],
      ['/api/v1/either', 'text/html, application/json;q=0.1', 'application/json'],
      ['/api/v1/either', 'message/rfc822', 'message/rfc822'],
      ['/api/v1/either', 'application/json;q=0.5, message/rfc822', 'message/rfc822'],
      ['/api/v1/either', 'application/json;q=0, message/*', 'message/rfc822'],
      ['/api/v1/either', 'text/html', 406],
      ['/api/v1/either', 'application/json;q=0', 406],
      ['/api/v1/either', 'nonsense', 406],
      ['/api/v1/content', 'text/html', 200],
    ]
    for (const [path, accept, result] of cases) {
      const reply = await fixture.call(path, { headers: { accept } })
      if (typeof result === 'number') assert.equal(reply.status, result, accept)
      else assert.equal(reply.json.data.accepts, result, accept)
    }
  })

  test('Content-Type and Content-Encoding', async () => {
    const cases: [headers: Record<string, string>, status: number][] = [
      [{ 'content-type': 'application/json' }, 201],
      [{ 'content-type': 'application/json; charset=utf-8' }, 201],
      [{ 'content-type': 'Application/JSON;charset="UTF-8"' }, 201],
      [{ 'content-type': 'application/vnd.thing+json' }, 201],
      [{ 'content-type': 'application/json; charset=iso-8859-1' }, 415],
      [{ 'content-type': 'text/plain' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
      [{ 'content-type': 'application/jsonx' }, 415],
      [{ 'content-type': 'application/json', 'content-encoding': 'identity' }, 201],
      [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    ]
    for (const [headers, status] of cases) {
      const reply = await fixture.call('/api/v1/things', { method: 'POST', body: '{"name":"abc"}', headers })
      assert.equal(reply.status, status, JSON.stringify(headers))
    }
    const untyped = await fixture.call('/api/v1/things', { method: 'POST', body: Buffer.from('{"name":"abc"}') })
    assert.equal(untyped.status, 201, 'a body without a type is taken for JSON')
  })

  test('a type of many spaces is read in no time', async () => {
    const type = `application/json${' '.repeat(15_000)}x`
    assert.equal((await fixture.call('/api/v1/things', posted('{}', { 'content-type': type }))).status, 415)
  })

  test('415 names the right type', async () => {
    const wrong = { body: 'x', headers: { 'content-type': 'text/plain' } }
    const post = await fixture.call('/api/v1/things', { method: 'POST', ...wrong })
    assert.equal(post.headers.get('accept-post'), 'application/json')
    const patch = await fixture.call(`/api/v1/things/mdom_${'x'.repeat(24)}`, { method: 'PATCH', ...wrong })
    assert.equal(patch.headers.get('accept-patch'), 'application/json')
  })
})
