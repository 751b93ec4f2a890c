// The description of the API, as it is built from routes (docs/design/http.md §11).

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { buildOpenapi } from '../../../src/http/openapi.ts'
import type { Route } from '../../../src/http/route.ts'
import { call, type HttpFixture, openHttpFixture } from './http-fixture.ts'
import { memory, samples } from './samples.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
type Any = any

let routes: readonly Route[]
let fixture: HttpFixture
let document: Any
before(async () => {
  routes = samples(memory())
  fixture = await openHttpFixture(routes)
  document = (await fixture.call('/api/v1/openapi.json', { key: null })).json
})
after(() => fixture[Symbol.asyncDispose]())

/** Every object inside a value. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (value === null || typeof value !== 'object') return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const member of Object.values(value)) yield* objectsIn(member)
}

describe('the document', () => {
  test('is bare JSON, tagged, and served at both origins, each with its own routes', async () => {
    assert.equal(document.openapi, '3.1.0')
    assert.equal(document.info.version, '1.0.0')
    assert.deepEqual(
      document.servers.map((server: Any) => server.url),
      ['https://mail.example/api/v1', 'https://send.mail.example/api/v1'],
    )
    const again = await fixture.call('/api/v1/openapi.json', { key: null })
    const etag = again.headers.get('etag') ?? ''
    assert.match(etag, /^W\/"[\w-]{27}"$/)
    assert.equal((await fixture.call('/api/v1/openapi.json', { headers: { 'if-none-match': etag } })).status, 304)
    const sending = (await call(`${fixture.send}/api/v1/openapi.json`, { key: null })).json
    assert.deepEqual(Object.keys(sending.paths), ['/both', '/openapi.json'])
    assert.equal(sending.servers[0].url, 'https://send.mail.example/api/v1')
    assert.ok('/both' in document.paths && '/filter' in document.paths)
  })

  test('has an operation for every route, each with its own name', () => {
    const operations = [...objectsIn(document.paths)].map((one) => one.operationId).filter((id) => id !== undefined)
    assert.deepEqual(operations.toSorted(), [...routes.map((route) => route.operation), 'getOpenapi'].toSorted())
    assert.equal(new Set(operations).size, operations.length)
    for (const id of operations) assert.match(String(id), /^[a-z]+[A-Z]\w*$/)
  })

  test('refers only to what it holds', () => {
    for (const { $ref } of objectsIn(document)) {
      if ($ref === undefined) continue
      const path = String($ref).slice(2).split('/')
      assert.ok(path.reduce<Any>((at, name) => at?.[name], document) !== undefined, String($ref))
    }
  })

  test('says which permission an operation takes, and which take none', () => {
    assert.equal(document.paths['/filter'].get['x-required-permission'], 'domain.read')
    assert.equal(document.paths['/things/{id}/verify'].post['x-required-permission'], 'domain.verify or domain.manage')
    assert.deepEqual(document.security, [{ bearerAuth: [] }])
    assert.deepEqual(document.components.securitySchemes.bearerAuth, { type: 'http', scheme: 'bearer' })
    assert.deepEqual(document.paths['/healthz'].get.security, [])
    assert.deepEqual(document.paths['/healthz'].servers, [{ url: 'https://mail.example' }])
    assert.equal('security' in document.paths['/filter'].get, false)
  })

  test('marks optional members', () => {
    const required = (operation: Any) =>
      operation.parameters.filter((one: Any) => one.required).map((one: Any) => one.name)
    assert.deepEqual(required(document.paths['/things'].get), [])
    assert.deepEqual(required(document.paths['/things/{id}'].get), ['id'])
    const { requestBody } = document.paths['/things'].post
    assert.equal(requestBody.required, true)
    assert.deepEqual(requestBody.content['application/json'].schema.required, ['name'])
    assert.equal(requestBody.content['application/json'].schema.additionalProperties, false)
  })

  test('has every error by reference, and the envelope around data', () => {
    const { responses } = document.paths['/things'].post
    assert.deepEqual(Object.keys(responses), [
      '201',
      '400',
      '401',
      '403',
      '406',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ])
    assert.deepEqual(responses['422'], { $ref: '#/components/responses/422' })
    const list = document.paths['/things'].get.responses['200'].content['application/json'].schema
    assert.deepEqual(list.required, ['ok', 'data', 'pagination', 'meta'])
    const health = document.paths['/healthz'].get.responses['200'].content['application/json'].schema
    assert.deepEqual(health.required, ['status', 'source'], 'bare where the route is bare')
    assert.match(document.components.responses['409'].description, /conflict: .* idempotency_conflict: /)
  })

  test('has the headers that change the behaviour', () => {
    const headers = (operation: Any) =>
      operation.parameters.filter((one: Any) => one.in === 'header').map((one: Any) => one.name)
    assert.deepEqual(headers(document.paths['/filter'].get), ['If-None-Match'])
    assert.deepEqual(headers(document.paths['/filter'].put), ['If-Match'])
    assert.deepEqual(headers(document.paths['/things'].post), ['Idempotency-Key'])
    assert.deepEqual(headers(document.paths['/content'].get), ['If-None-Match', 'Range', 'If-Range'])
    assert.ok('206' in document.paths['/content'].get.responses)
  })

  test('is the same however often it is built', () => {
    const config = { APP_ORIGIN: 'https://mail.example', SEND_ORIGIN: 'https://send.mail.example' }
    const build = () => JSON.stringify(buildOpenapi(routes, config as Any, 'app'))
    assert.equal(build(), build())
  })
})
