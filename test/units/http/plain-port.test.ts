// The plain ports once HTTPS is proven: what they serve to whom.

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { plainPort } from '../../../src/http/plain-port.ts'

interface Outcome {
  status: number
  location?: string | undefined
}

/** @param from address of the peer */
function ask(
  url: string,
  { from = '192.0.2.1', method = 'GET', headers = {}, isClosed = true }: Partial<Request> = {},
): Outcome {
  let outcome: Outcome = { status: 0 }
  const handler = plainPort(() => (outcome = { status: 200 }), {
    origin: 'https://mail.example.com',
    isClosed: () => isClosed,
    isProxy: (address) => address === '192.0.2.9',
    refuse: (_req, _res, { status }) => (outcome = { status }),
  })
  const res = {
    writeHead(status: number, { location }: { location: string }) {
      outcome = { status, location }
      return { end() {} }
    },
  }
  const req = { url, method, headers: { host: 'evil.example', ...headers }, socket: { remoteAddress: from } }
  handler(req as unknown as IncomingMessage, res as unknown as ServerResponse)
  return outcome
}

interface Request {
  from: string
  method: string
  headers: Record<string, string>
  isClosed: boolean
}

test('a read goes to the configured origin, never to the host it names', () => {
  const origin = 'https://mail.example.com'
  assert.deepEqual(ask('/docs?x=1'), { status: 308, location: `${origin}/docs?x=1` })
  for (const url of ['//evil.example/x', 'http://evil.example/x', '*', '\\\\evil.example']) {
    assert.deepEqual(ask(url), { status: 308, location: `${origin}/` }, url)
  }
})

test('a credential is refused, and so is a write', () => {
  const credentials: Record<string, string>[] = [
    { authorization: 'Bearer x' },
    { cookie: 'a=b; mailstead=x' },
    { 'x-source-authorization': 'x' },
  ]
  for (const headers of credentials) {
    assert.equal(ask('/api/v1/domains', { headers }).status, 403)
  }
  assert.equal(ask('/api/v1/domains', { method: 'POST' }).status, 403)
  assert.equal(ask('/', { headers: { cookie: 'other=1' } }).status, 308)
})

test('the authority reads challenges, and this machine and proxies are served as before', () => {
  assert.equal(ask('/.well-known/acme-challenge/token').status, 200)
  for (const from of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '192.0.2.9']) {
    assert.equal(ask('/', { from, headers: { authorization: 'Bearer x' } }).status, 200, from)
  }
  assert.equal(ask('/', { isClosed: false }).status, 200)
})
