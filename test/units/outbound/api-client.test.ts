// Calls to the interfaces of providers: bounded in time and size, never redirected, and honest about what may have been read.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { after, test } from 'node:test'
import { ANSWER_MAX, ApiClient, failureOf, shown, textAt, valueAt } from '../../../src/outbound/model/api-client.ts'
import { startApi } from '../../support/api-server.ts'
import { ManualClock } from '../../support/clock.ts'

const clock = new ManualClock()
const client = new ApiClient(clock)
after(() => client.close())

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('an answer is read as JSON where it is some, and as text', async () => {
  await using api = await startApi(({ path }) => ({ status: 418, body: path === '/json' ? { a: [1] } : 'plain' }))
  const json = await client.call({ method: 'GET', url: `${api.origin}/json` })
  assert.deepEqual(json, { kind: 'answered', status: 418, text: '{"a":[1]}', body: { a: [1] }, retryAfterMs: null })
  const plain = await client.call({ method: 'POST', url: `${api.origin}/`, body: 'x' })
  assert.deepEqual(plain, { kind: 'answered', status: 418, text: 'plain', body: null, retryAfterMs: null })
})

test('a redirect is an answer: no redirect is followed with a token', async () => {
  await using api = await startApi(() => ({ status: 307, headers: { location: 'http://169.254.169.254/' } }))
  const result = await client.call({ method: 'GET', url: api.origin, headers: { authorization: 'Bearer x' } })
  assert.ok(result.kind === 'answered' && result.status === 307)
  assert.equal(api.requests.length, 1)
})

test('an answer longer than the bound is not read', async () => {
  await using api = await startApi(({ path }) => ({
    status: 200,
    body: 'x'.repeat(ANSWER_MAX + Number(path.slice(1))),
  }))
  assert.equal((await client.call({ method: 'GET', url: `${api.origin}/0` })).kind, 'answered')
  assert.equal((await client.call({ method: 'GET', url: `${api.origin}/1` })).kind, 'broken')
})

test('an answer that never ends, or never begins, ends with the timeout of the caller', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/drip') response.write('x')
  })
  const origin = await listening(server)
  try {
    for (const path of ['/silent', '/drip']) {
      const result = await client.call({ method: 'GET', url: origin + path, timeoutMs: 50 })
      assert.deepEqual(result, { kind: 'broken', text: 'No answer within 0.05 seconds.' })
    }
    const leaving = AbortSignal.timeout(20)
    assert.equal((await client.call({ method: 'GET', url: `${origin}/silent`, signal: leaving })).kind, 'broken')
    const gone = await client.call({ method: 'GET', url: `${origin}/silent`, signal: AbortSignal.abort() })
    assert.equal(gone.kind, 'unreached')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('a server that speaks something else is an answer that cannot be read', async () => {
  const server = createTcpServer((socket) => socket.on('error', () => {}).end('220 smtp.test ESMTP\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  assert.equal((await client.call({ method: 'GET', url })).kind, 'broken')
  server.close()
})

test('Retry-After is returned in milliseconds, within bounds', async () => {
  const values = [
    '5',
    '0',
    '999999999',
    'Thu, 01 Jan 2026 00:00:30 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'soon',
    '-5',
    '1e9',
  ]
  await using api = await startApi(({ path }) => ({
    status: 429,
    headers: { 'retry-after': values[Number(path.slice(1))]! },
  }))
  const told = []
  for (const index of values.keys()) {
    const result = await client.call({ method: 'GET', url: `${api.origin}/${index}` })
    assert.ok(result.kind === 'answered')
    told.push(result.retryAfterMs)
  }
  // Date.parse makes a year of many a number: nothing more than a day, nothing less than now.
  assert.deepEqual(told.slice(0, 6), [5000, 0, 86_400_000, 30_000, 0, null])
  for (const ms of told.slice(6)) assert.ok(ms === null || (ms >= 0 && ms <= 86_400_000))
})

test('only what was surely not read counts as not reached', () => {
  const error = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })
  const stage = (thrown: unknown) => {
    const failure = failureOf(thrown, null)
    return failure.kind === 'unreached' ? failure.stage : failure.kind
  }
  assert.equal(stage(error('ECONNREFUSED', { syscall: 'connect' })), 'connect')
  assert.equal(stage(error('ENOTFOUND')), 'dns')
  assert.equal(stage(error('UND_ERR_CONNECT_TIMEOUT')), 'connect')
  assert.equal(stage(error('CERT_HAS_EXPIRED')), 'tls')
  assert.equal(stage(error('DEPTH_ZERO_SELF_SIGNED_CERT')), 'tls')
  assert.equal(stage(error('ERR_TLS_CERT_ALTNAME_INVALID')), 'tls')
  const cut = new Error('Client network socket disconnected before secure TLS connection was established')
  assert.equal(stage(Object.assign(cut, { code: 'ECONNRESET' })), 'tls')
  assert.equal(stage(new AggregateError([error('ECONNREFUSED'), error('ENETUNREACH')])), 'connect')
  for (const thrown of [
    error('ETIMEDOUT', { syscall: 'read' }),
    error('EHOSTUNREACH', { syscall: 'write' }),
    error('ECONNRESET'),
    error('EPIPE'),
    error('UND_ERR_SOCKET'),
    error('UND_ERR_HEADERS_TIMEOUT'),
    new Error('?'),
    null,
    'text',
  ]) {
    assert.equal(stage(thrown), 'broken')
  }
})

test('foreign words are one line of bounded length', () => {
  assert.equal(shown('a\r\nb\u0000c\u202e d'), 'a b c d')
  assert.equal(shown('x'.repeat(1000)).length, 200)
  assert.equal(shown('  '), '')
})

test('values inside an answer are its own', () => {
  const body = JSON.parse('{"a":{"b":["x"]},"__proto__":{"c":"y"}}')
  assert.equal(textAt(body, 'a', 'b', 0), 'x')
  assert.equal(textAt(body, 'a', 'b', 1), null)
  assert.equal(textAt(body, 'toString'), null)
  assert.equal(valueAt(body, 'a', 'constructor'), undefined)
  assert.equal(valueAt(null, 'a'), undefined)
  assert.equal(textAt({ a: 7 }, 'a'), null)
})

test('a fault of this program before anything was sent is thrown, not taken for an answer that was lost', async () => {
  await using api = await startApi(() => ({ status: 200, body: '' }))
  await assert.rejects(client.call({ method: 'GET', url: api.origin, headers: { 'no token': '1' } }), {
    code: 'UND_ERR_INVALID_ARG',
  })
  assert.deepEqual(api.requests, [])
})
