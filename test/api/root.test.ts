// What lies at the roots of the two origins, and what the Sending origin does not have yet.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ERRORS } from '../../src/http/errors.ts'
import { startHouse } from '../support/house.ts'
import { failure } from './expect.ts'

const RESOURCE = '/.well-known/oauth-protected-resource/api/v1'

const house = await startHouse()
after(() => house.close())
const team = await house.team()
const { origin, sendOrigin } = house

test('health is bare, open, and on both origins', async () => {
  for (const url of [`${origin}/healthz`, `${sendOrigin}/healthz`, `${origin}/readyz`]) {
    const reply = await house.get(url)
    assert.equal(reply.status, 200, url)
    assert.deepEqual(reply.body, { status: 'ok' })
    assert.equal(reply.headers.get('cache-control'), 'no-store')
  }
})

test('readiness ends while the database cannot be written, and returns with it', async (t) => {
  const broken = t.mock.method(house.app.db, 'write', () => Promise.reject(new Error('the disk is full')))
  const reply = await house.get(`${origin}/readyz`)
  failure(reply, 503, 'service_unavailable')
  assert.equal(reply.headers.get('retry-after'), '1')
  assert.ok(!JSON.stringify(reply.body).includes('disk is full'))
  broken.mock.restore()
  assert.equal((await house.get(`${origin}/readyz`)).status, 200)
})

test('each origin tells where credentials for it come from', async () => {
  const app = await house.get(origin + RESOURCE, null, { origin: 'https://app.example' })
  assert.deepEqual(app.body, {
    resource: `${origin}/api/v1`,
    authorization_servers: [`${origin}/agent-auth`],
    bearer_methods_supported: ['header'],
    resource_documentation: `${origin}/api/v1/openapi.json`,
    resource_name: 'Mail appliance: Management and Mailbox API',
    scopes_supported: ['mailbox.read', 'email.receive'],
  })
  const send = await house.get(sendOrigin + RESOURCE, null, { origin: 'https://app.example' })
  assert.deepEqual(send.body, {
    resource: `${sendOrigin}/api/v1`,
    authorization_servers: [`${origin}/agent-auth`],
    bearer_methods_supported: ['header'],
    resource_documentation: `${sendOrigin}/api/v1/openapi.json`,
    resource_name: 'Mail appliance: Sending API',
    scopes_supported: ['email.send'],
  })
  for (const reply of [app, send]) assert.equal(reply.headers.get('access-control-allow-origin'), '*')
  assert.equal((await house.call('HEAD', origin + RESOURCE)).status, 200)
})

test('the document a cold 401 points to is there', async () => {
  for (const base of [origin, sendOrigin]) {
    const cold = await house.get(`${base}/api/v1/mailbox/me`)
    failure(cold, 401, 'authentication_required')
    const [, url] = /resource_metadata="([^"]+)"/.exec(cold.headers.get('www-authenticate') ?? '')!
    assert.equal((await house.get(url!)).status, 200)
  }
})

test('each origin describes itself without a credential', async () => {
  for (const base of [origin, sendOrigin]) {
    const reply = await house.get(`${base}/api/v1/openapi.json`, null, { origin: 'https://app.example' })
    assert.equal(reply.status, 200)
    const { openapi, info } = reply.body as unknown as { openapi: string; info: { version: string } }
    assert.deepEqual([openapi, info.version], ['3.1.0', '1.0.0'])
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    const etag = reply.headers.get('etag')!
    assert.equal((await house.get(`${base}/api/v1/openapi.json`, null, { 'if-none-match': etag })).status, 304)
  }
})

test('the Sending origin has nothing of the other one', async () => {
  for (const path of ['/api/v1/domains', '/api/v1/mailbox/me', '/api/v1/emails/logs', '/api/v1/nothing']) {
    failure(await house.get(sendOrigin + path), 401, 'authentication_required')
    failure(await house.get(sendOrigin + path, team.key), 404, 'not_found')
  }
  failure(await house.get(`${sendOrigin}/readyz`), 404, 'not_found')
})

test('every error leads to a page that says what to do', async () => {
  const reply = await house.call('GET', `${house.origin}/api/v1/domains`)
  const { doc_url: link } = reply.body.error
  const [address, anchor] = link.split('#')
  const page = await house.call('GET', address)
  assert.equal(page.status, 200)
  for (const code of [anchor, ...Object.keys(ERRORS)]) assert.match(page.body, new RegExp(`id="${code}"`))
  assert.equal((await house.call('GET', `${house.origin}/docs`)).status, 200)
  const home = await house.call('GET', `${house.origin}/`)
  assert.deepEqual([home.status, home.headers.get('location')], [303, '/docs'])
})
