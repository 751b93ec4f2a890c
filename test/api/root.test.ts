// The routes at the root of the two origins, and the limits of the Sending origin.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ERRORS } from '../../src/http/errors.ts'
import { startAppliance } from '../support/appliance.ts'
import { failure } from './expect.ts'

const RESOURCE = '/.well-known/oauth-protected-resource/api/v1'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const { origin, sendOrigin } = appliance

test('health has no envelope, is public, and is on both origins', async () => {
  for (const url of [`${origin}/healthz`, `${sendOrigin}/healthz`, `${origin}/readyz`]) {
    const reply = await appliance.get(url)
    assert.equal(reply.status, 200, url)
    assert.deepEqual(reply.body, { status: 'ok' })
    assert.equal(reply.headers.get('cache-control'), 'no-store')
  }
})

test('readiness fails while the database cannot be written, and recovers with it', async (t) => {
  const broken = t.mock.method(appliance.app.db, 'write', () => Promise.reject(new Error('the disk is full')))
  const reply = await appliance.get(`${origin}/readyz`)
  failure(reply, 503, 'service_unavailable')
  assert.equal(reply.headers.get('retry-after'), '1')
  assert.ok(!JSON.stringify(reply.body).includes('disk is full'))
  broken.mock.restore()
  assert.equal((await appliance.get(`${origin}/readyz`)).status, 200)
})

test('each origin names its authorization server', async () => {
  const app = await appliance.get(origin + RESOURCE, null, { origin: 'https://app.example' })
  assert.deepEqual(app.body, {
    resource: `${origin}/api/v1`,
    authorization_servers: [`${origin}/agent-auth`],
    bearer_methods_supported: ['header'],
    resource_documentation: `${origin}/api/v1/openapi.json`,
    resource_name: 'Mail appliance: Management and Mailbox API',
    scopes_supported: ['mailbox.read', 'email.receive'],
  })
  const send = await appliance.get(sendOrigin + RESOURCE, null, { origin: 'https://app.example' })
  assert.deepEqual(send.body, {
    resource: `${sendOrigin}/api/v1`,
    authorization_servers: [`${origin}/agent-auth`],
    bearer_methods_supported: ['header'],
    resource_documentation: `${sendOrigin}/api/v1/openapi.json`,
    resource_name: 'Mail appliance: Sending API',
    scopes_supported: ['email.send'],
  })
  for (const reply of [app, send]) assert.equal(reply.headers.get('access-control-allow-origin'), '*')
  assert.equal((await appliance.call('HEAD', origin + RESOURCE)).status, 200)
})

test('the metadata document named in a 401 exists', async () => {
  for (const base of [origin, sendOrigin]) {
    const cold = await appliance.get(`${base}/api/v1/mailbox/me`)
    failure(cold, 401, 'authentication_required')
    const [, url] = /resource_metadata="([^"]+)"/.exec(cold.headers.get('www-authenticate') ?? '')!
    assert.equal((await appliance.get(url!)).status, 200)
  }
})

test('each origin has its OpenAPI document without a credential', async () => {
  for (const base of [origin, sendOrigin]) {
    const reply = await appliance.get(`${base}/api/v1/openapi.json`, null, { origin: 'https://app.example' })
    assert.equal(reply.status, 200)
    const { openapi, info } = reply.body as unknown as { openapi: string; info: { version: string } }
    assert.deepEqual([openapi, info.version], ['3.1.0', '1.0.0'])
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    const etag = reply.headers.get('etag')!
    assert.equal((await appliance.get(`${base}/api/v1/openapi.json`, null, { 'if-none-match': etag })).status, 304)
  }
})

test('the Sending origin has no operation of the other one', async () => {
  for (const path of ['/api/v1/domains', '/api/v1/mailbox/me', '/api/v1/emails/logs', '/api/v1/nothing']) {
    failure(await appliance.get(sendOrigin + path), 401, 'authentication_required')
    failure(await appliance.get(sendOrigin + path, team.key), 404, 'not_found')
  }
  failure(await appliance.get(`${sendOrigin}/readyz`), 404, 'not_found')
})

test('every error has a documentation page', async () => {
  const reply = await appliance.call('GET', `${appliance.origin}/api/v1/domains`)
  const { doc_url: link } = reply.body.error
  const [address, anchor] = link.split('#')
  const page = await appliance.call('GET', address)
  assert.equal(page.status, 200)
  for (const code of [anchor, ...Object.keys(ERRORS)]) assert.match(page.body, new RegExp(`id="${code}"`))
  assert.equal((await appliance.call('GET', `${appliance.origin}/docs`)).status, 200)
  const home = await appliance.call('GET', `${appliance.origin}/`)
  assert.deepEqual([home.status, home.headers.get('location')], [303, '/first-run'])
})
