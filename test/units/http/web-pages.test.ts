// Pages and hooks beside the API: HTML with its own status, bodies under another name, requests that are not counted.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Type } from 'typebox'
import { buildOpenapi } from '../../../src/http/openapi.ts'
import { SOURCE_LIMIT } from '../../../src/http/rate-limit.ts'
import { page, route } from '../../../src/http/route.ts'
import { htmlPage, onwardPage } from '../../../src/pages/html.ts'
import { openHttpFixture } from './http-fixture.ts'

const COMMON = {
  root: true,
  docs: {
    hidden: true,
    tag: 'Pages',
  },
  access: { as: 'none' },
  reply: { schema: Type.Unknown() },
} as const
const showPage = route({
  ...COMMON,
  method: 'GET',
  path: '/page',
  docs: {
    ...COMMON.docs,
    operation: 'showPage',
    summary: 'A page.',
  },
  reply: { ...COMMON.reply, types: ['text/html'] },
  query: Type.Object({ text: Type.String() }),
  handle: ({ query }) =>
    htmlPage({ title: query.text, texts: [query.text], link: { href: query.text, text: 'Go on' } }, 410),
})
const goOn = route({
  ...COMMON,
  method: 'GET',
  path: '/onward',
  docs: {
    ...COMMON.docs,
    operation: 'goOn',
    summary: 'A page on the way.',
  },
  reply: { ...COMMON.reply, types: ['text/html'] },
  handle: () => onwardPage({ title: 'On', texts: [] }, 'https://mail.example/there'),
})
const hook = route({
  ...COMMON,
  method: 'POST',
  path: '/hook',
  docs: {
    ...COMMON.docs,
    operation: 'hook',
    summary: 'A hook.',
  },
  reply: { ...COMMON.reply, bare: true },
  body: { types: ['text/plain'], schema: Type.Object({ kind: Type.String() }, { additionalProperties: true }) },
  limits: { uncounted: true, throttle: { times: 3, seconds: 60 } },
  handle: async ({ body }) => body,
})
const replayed = route({
  ...COMMON,
  method: 'POST',
  path: '/replayed',
  docs: {
    ...COMMON.docs,
    operation: 'replayed',
    summary: 'A page that would be replayed.',
  },
  idempotent: true,
  handle: () => page({ status: 200, html: '', headers: {} }),
})

const fixture = await openHttpFixture([showPage, goOn, hook, replayed])
after(() => fixture[Symbol.asyncDispose]())

test('a page shows foreign text as text, runs nothing, loads nothing, and is put into no frame', async () => {
  const hostile = `"><script>alert('1')</script>&<!--`
  const reply = await fixture.call(`/page?text=${encodeURIComponent(hostile)}`, { key: null })
  assert.equal(reply.status, 410)
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.ok(!reply.text.includes('<script'))
  assert.ok(!/href="[^"]*"[^>]+alert/.test(reply.text))
  assert.equal(reply.text.match(/&lt;script&gt;/g)!.length, 4)
  const policy = reply.headers.get('content-security-policy')!
  for (const rule of [`default-src 'none'`, `frame-ancestors 'none'`, `form-action 'none'`, `base-uri 'none'`]) {
    assert.ok(policy.includes(rule), rule)
  }
  assert.ok(!policy.includes('unsafe'))
  assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(reply.headers.get('cache-control'), 'no-store')
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
})

test('the style of a page is the one its policy allows', async () => {
  const { text, headers } = await fixture.call('/page?text=x', { key: null })
  const style = /<style>([^<]*)<\/style>/.exec(text)![1]!
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64')
  assert.ok(headers.get('content-security-policy')!.includes(`style-src 'sha256-${hash}'`))
})

test('a page can lead on, and is asked for by HEAD without its text', async () => {
  const reply = await fixture.call('/onward', { key: null })
  assert.equal(reply.status, 303)
  assert.equal(reply.headers.get('location'), 'https://mail.example/there')
  const head = await fixture.call('/onward', { key: null, method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [303, ''])
})

test('a client that accepts no HTML gets 406', async () => {
  const reply = await fixture.call('/page?text=x', { key: null, headers: { accept: 'application/json' } })
  assert.equal(reply.status, 406)
})

function post(type: string, body = '{"kind":"x","more":1}') {
  return fixture.call('/hook', { key: null, method: 'POST', body, headers: { 'content-type': type } })
}

test('a hook takes JSON that is called text, and no other text; its requests do not count for their address', async () => {
  const before = await fixture.call('/page?text=x', { key: null })
  const left = Number(before.headers.get('x-ratelimit-remaining'))
  assert.deepEqual((await post('text/plain; charset=UTF-8')).json, { kind: 'x', more: 1 })
  assert.equal((await post('text/plain; charset=iso-8859-1')).status, 415)
  assert.equal((await post('text/html')).status, 415)
  assert.equal((await post('application/json')).status, 200)
  const after = await fixture.call('/page?text=x', { key: null })
  assert.equal(Number(after.headers.get('x-ratelimit-remaining')), left - 1)
})

test('other routes take no text', async () => {
  const reply = await fixture.call('/replayed', {
    key: null,
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal(reply.status, 415)
})

test('a hook is answered while its address has used up its minute, within its own pace', async () => {
  fixture.clock.advance(60_000)
  for (let n = 0; n <= SOURCE_LIMIT; n++) await fixture.call('/nowhere', { key: null })
  assert.equal((await fixture.call('/page?text=x', { key: null })).status, 429)
  assert.equal((await post('text/plain')).status, 200)
  assert.equal((await post('text/plain')).status, 200)
  assert.equal((await post('text/plain')).status, 200)
  assert.equal((await post('text/plain')).status, 429)
})

test('a page is never kept for replay', async () => {
  fixture.clock.advance(60_000)
  const reply = await fixture.call('/replayed', { key: null, method: 'POST', headers: { 'idempotency-key': 'k' } })
  assert.equal(reply.status, 500)
})

test('neither stands in the description of the API', () => {
  const config = { APP_ORIGIN: 'https://mail.example', SEND_ORIGIN: 'https://send.mail.example' }
  const { paths } = buildOpenapi([showPage, hook], config as never, 'app') as { paths: object }
  assert.deepEqual(paths, {})
})
