// Tokens of agents: grants, rejections, revocation and expiry.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, test } from 'node:test'
import { exportJWK, SignJWT } from 'jose'
import { ACCESS_TOKEN, AgentClient, EASY_WORK, EXCHANGE, JWT_BEARER } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { failure } from './expect.ts'

const DAY_MS = 86_400_000
const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { ...EASY_WORK, TRUSTED_PROXIES: '127.0.0.1' } })
after(() => appliance.close())
let sources = 0
const address = () => `203.0.113.${++sources % 250}`
const call: typeof appliance.call = (method, path, key, body, headers) =>
  appliance.call(method, path, key, body, { ...headers, 'x-forwarded-for': address() })
const agent = new AgentClient({ ...appliance, call })
const { agents } = appliance.app
const issuer = `${appliance.origin}/agent-auth`
const app = `${appliance.origin}/api/v1`
const send = `${appliance.sendOrigin}/api/v1`

/** As the owner's page does it: accepts, and allows sending if asked to. */
async function own(registered: Json, approveSending: boolean): Promise<void> {
  const token = await agent.readToken(registered.identity_assertion)
  const email = `owner-${registered.registration_id}@people.test`
  assert.equal((await agent.invite(token, email)).status, 202)
  const registration = agents.registrations.byId(appliance.app.db.read, registered.registration_id)!
  await appliance.app.db.write((tx) => {
    agents.ownership.accept(tx, registration, email)
    if (approveSending) agents.ownership.approveSending(tx, registration.id)
  })
}

function refusal(reply: { status: number; body: Json }, status: number, error: string): void {
  assert.equal(reply.status, status, JSON.stringify(reply.body))
  assert.equal(reply.body.error, error, JSON.stringify(reply.body))
  assert.equal(typeof reply.body.error_description, 'string')
}

test('a token is for one resource and one hour', async () => {
  const registered = await agent.register()
  const granted = await agent.token({
    grant_type: JWT_BEARER,
    assertion: registered.identity_assertion,
    resource: `${app}/`,
  })
  assert.deepEqual(Object.keys(granted.body).sort(), ['access_token', 'expires_in', 'scope', 'token_type'])
  assert.equal(granted.headers.get('pragma'), 'no-cache')
  assert.equal(granted.headers.get('cache-control'), 'no-store')
  const token = granted.body.access_token
  clock.leap(3_599_000)
  assert.equal((await appliance.get('/mailbox/me', token)).status, 200)
  clock.leap(1000)
  failure(await appliance.get('/mailbox/me', token), 401, 'authentication_required')
  const less = await agent.token({
    grant_type: JWT_BEARER,
    assertion: registered.identity_assertion,
    scope: 'email.receive',
  })
  assert.equal(less.body.scope, 'email.receive')
  failure(await appliance.get('/mailbox/me', less.body.access_token), 403, 'insufficient_permissions')
})

test('the claim token is polled until the owner has allowed sending, and then returns a token for sending', async () => {
  const registered = await agent.register()
  const poll = () => agent.claim(registered.claim_token)
  refusal(await poll(), 400, 'invalid_request')
  await own(registered, false)
  const waiting = await poll()
  refusal(waiting, 503, 'authorization_pending')
  assert.equal(waiting.headers.get('retry-after'), '10')
  assert.equal(waiting.body.retry_after, 10)
  await appliance.app.db.write((tx) => agents.ownership.approveSending(tx, registered.registration_id))
  const granted = await poll()
  assert.equal(granted.status, 200)
  assert.equal(granted.body.scope, 'email.send')
  const token = granted.body.access_token
  const mail = { to: { email: 'ana@elsewhere.test' }, subject: 'Hi', text_body: 'x' }
  const sent = await agent.send(token, mail)
  assert.equal(sent.body.data.summary.queued, 1, JSON.stringify(sent.body))
  failure(await appliance.get('/mailbox/me', token), 403, 'insufficient_permissions')
  const old = { grant_type: JWT_BEARER, assertion: registered.identity_assertion, resource: send }
  refusal(await agent.token(old), 400, 'invalid_grant')
  const newer = await agent.token({ ...old, assertion: granted.body.identity_assertion })
  assert.equal(newer.body.scope, 'email.send')
  assert.equal(newer.body.identity_assertion, undefined, 'renewed in its last days only')
  clock.leap(60 * DAY_MS)
  const renewed = await agent.token({ ...old, assertion: granted.body.identity_assertion })
  assert.equal(typeof renewed.body.identity_assertion, 'string')
  const reading = await agent.readToken(renewed.body.identity_assertion)
  const me = await appliance.get('/mailbox/me', reading)
  assert.equal(me.body.data?.quota_bytes, 5 * 1024 ** 3, JSON.stringify(me.body))
})

test('polling too often returns slow_down; waiting is not logged as an error', async (t) => {
  const error = t.mock.method(appliance.app.log, 'error')
  const registered = await agent.register()
  await own(registered, false)
  const poll = () => agent.claim(registered.claim_token)
  for (let asked = 0; asked < 5; asked++) refusal(await poll(), 503, 'authorization_pending')
  const over = await poll()
  refusal(over, 429, 'slow_down')
  assert.equal(over.headers.get('retry-after'), '15')
  clock.leap(15_000)
  refusal(await poll(), 503, 'authorization_pending')
  assert.equal(error.mock.callCount(), 0)
})

test('the owner revokes sending: tokens expire immediately, queued messages are rejected, reading continues', async () => {
  const registered = await agent.register()
  await own(registered, true)
  const token = (await agent.claim(registered.claim_token)).body.access_token
  const mail = { to: { email: 'ana@elsewhere.test' }, subject: 'Hi', text_body: 'x' }
  const queued = (await agent.send(token, mail)).body.data.results[0]
  await appliance.app.db.write((tx) => agents.ownership.revokeSending(tx, registered.registration_id))
  failure(await agent.send(token, mail), 401, 'authentication_required')
  const email = appliance.app.outbound.log.emails.byId(queued.message_id)!
  const [delivery] = appliance.app.outbound.log.emails.deliveriesOf(email.n)
  assert.match(delivery!.statusReason!, /^sending_not_approved/)
  refusal(await agent.claim(registered.claim_token), 503, 'authorization_pending')
  const reading = await agent.readToken(registered.identity_assertion)
  const me = await appliance.get('/mailbox/me', reading)
  assert.equal(me.body.data?.quota_bytes, 5 * 1024 ** 3, JSON.stringify(me.body))
})

test('a forged, foreign, altered or expired assertion is rejected', async () => {
  const registered = await agent.register()
  const [header, payload, signature] = registered.identity_assertion.split('.')
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = decode(payload)
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const sign = (changes: object, head: object = {}) =>
    new SignJWT({ ...claims, ...changes })
      .setProtectedHeader({ alg: 'ES256', typ: 'agent-identity+jwt', kid: decode(header).kid, ...head })
      .sign(stranger.privateKey)
  const published = (await appliance.call('GET', `${issuer}/oauth2/jwks`)).body.keys[0]
  const tries = [
    await sign({}),
    await sign({}, { jwk: await exportJWK(stranger.publicKey) }),
    `${encode({ ...decode(header), alg: 'none' })}.${payload}.`,
    `${header}.${encode({ ...claims, ver: 2 })}.${signature}`,
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'agent-identity+jwt', kid: published.kid })
      .sign(Buffer.from(JSON.stringify(published))),
    registered.claim_token,
    'x',
    `${'a'.repeat(3000)}.${'b'.repeat(3000)}.c`,
  ]
  for (const assertion of tries) refusal(await agent.token({ grant_type: JWT_BEARER, assertion }), 400, 'invalid_grant')
  clock.leap(30 * DAY_MS - 1000)
  assert.equal((await agent.token({ grant_type: JWT_BEARER, assertion: registered.identity_assertion })).status, 200)
  clock.leap(1000)
  refusal(await agent.token({ grant_type: JWT_BEARER, assertion: registered.identity_assertion }), 400, 'invalid_grant')
  refusal(await agent.claim(registered.claim_token), 400, 'expired_token')
})

test('a form is validated strictly: repeated members, other types, invalid resources and scopes', async () => {
  const { identity_assertion: assertion } = await agent.register()
  const good = { grant_type: JWT_BEARER, assertion }
  refusal(
    await agent.form('/oauth2/token', `grant_type=${JWT_BEARER}&assertion=${assertion}&assertion=${assertion}`),
    400,
    'invalid_request',
  )
  refusal(await agent.token({ grant_type: JWT_BEARER }), 400, 'invalid_request')
  refusal(await agent.token({ assertion }), 400, 'invalid_request')
  refusal(await agent.token({ ...good, grant_type: 'password' }), 400, 'unsupported_grant_type')
  refusal(await agent.token({ ...good, grant_type: EXCHANGE }), 400, 'unsupported_grant_type')
  refusal(await agent.token({ ...good, resource: 'https://elsewhere.test/api/v1' }), 400, 'invalid_target')
  refusal(await agent.token({ ...good, scope: 'email.send' }), 400, 'invalid_scope')
  refusal(await agent.token({ ...good, scope: ' ' }), 400, 'invalid_scope')
  refusal(await agent.token({ ...good, resource: send }), 503, 'authorization_pending')
  const json = await appliance.call('POST', `${issuer}/oauth2/token`, null, good)
  refusal(json, 415, 'invalid_request')
  refusal(await agent.form('/oauth2/token', `grant_type=${'x'.repeat(20_000)}`), 413, 'invalid_request')
  refusal(await agent.form('/oauth2/token', 'grant_type=%ff'), 400, 'invalid_request')
  refusal(await agent.form('/oauth2/revoke', ''), 400, 'invalid_request')
  assert.equal((await agent.form('/oauth2/token', `${new URLSearchParams(good)}&unknown=1`)).status, 200)
})

test('revoking any credential of an agent ends its registration, any number of times; a token for sending ends alone', async () => {
  for (const part of ['access', 'identity_assertion', 'claim_token'] as const) {
    const registered = await agent.register()
    await own(registered, true)
    const reading = await agent.readToken(registered.identity_assertion)
    const granted = (await agent.claim(registered.claim_token)).body
    assert.deepEqual((await agent.revoke(granted.access_token)).body, {})
    assert.equal((await appliance.get('/mailbox/me', reading)).status, 200)
    const again = (await agent.claim(registered.claim_token)).body.access_token
    const shown = part === 'access' ? reading : registered[part]
    for (let times = 0; times < 2; times++) assert.equal((await agent.revoke(shown)).status, 200)
    failure(await appliance.get('/mailbox/me', reading), 401, 'authentication_required')
    failure(await agent.send(again, {}), 401, 'authentication_required')
    refusal(await agent.claim(registered.claim_token), 400, 'invalid_grant')
    refusal(await agent.token({ grant_type: JWT_BEARER, assertion: granted.identity_assertion }), 400, 'invalid_grant')
    const mailbox = appliance.app.directory.mailboxes.byEmail(registered.mailbox.email)
    assert.equal(mailbox?.status, 'suspended')
  }
  assert.equal((await agent.revoke('nothing of ours')).status, 200)
})

test('no token survives a revocation that races with many exchanges', async () => {
  const registered = await agent.register()
  await own(registered, true)
  const reading = await agent.readToken(registered.identity_assertion)
  const [replies] = await Promise.all([
    Promise.all(Array.from({ length: 40 }, () => agent.claim(registered.claim_token))),
    agent.revoke(reading),
  ])
  for (const { status, body } of replies) {
    if (status === 200) failure(await agent.send(body.access_token, {}), 401, 'authentication_required')
    else assert.ok(['invalid_grant'].includes(body.error), JSON.stringify(body))
  }
})

test('after key rotation the previous key verifies once more, and then no longer', async () => {
  const registered = await agent.register()
  const token = () => agent.token({ grant_type: JWT_BEARER, assertion: registered.identity_assertion })
  await agents.assertions.rotate()
  const { keys } = (await appliance.call('GET', `${issuer}/oauth2/jwks`)).body
  assert.equal(keys.length, 2)
  assert.ok(keys.every((key: Json) => key.d === undefined && key.kty === 'EC'))
  assert.equal((await token()).status, 200)
  await agents.assertions.rotate()
  refusal(await token(), 400, 'invalid_grant')
})

test('an unclaimed inbox ends with its claim token, and is deleted two weeks later', async () => {
  const registered = await agent.register()
  clock.leap(30 * DAY_MS)
  await agents.ownership.sweep(0)
  const read = () => agents.registrations.byId(appliance.app.db.read, registered.registration_id)
  assert.equal(read()?.state, 'expired')
  const mailbox = () => appliance.app.directory.mailboxes.byId(mailboxId)
  const mailboxId = read()!.mailboxId
  assert.equal(mailbox()?.status, 'suspended')
  clock.leap(14 * DAY_MS)
  await agents.ownership.sweep(0)
  assert.equal(mailbox()?.status, 'deleted')
  assert.equal((await agent.claim(registered.claim_token)).body.error, 'expired_token')
})

test('with durable tokens an agent needs no proof of work, reads with one token and exchanges it for sending', async () => {
  await using other = await startAppliance({ clock, env: { ...EASY_WORK, AGENT_VARIANT: 'durable_token' } })
  const client = new AgentClient(other)
  const body = { type: 'anonymous', mailbox_local_part: 'durable', idempotency_key: 'k-1' }
  failure(await client.post('/agent/identity/challenge', { type: 'anonymous' }), 404, 'not_found')
  const reply = await client.post('/agent/identity', body, { key: 'k-1' })
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  const { access_token: token, registration_id: id, ...shown } = reply.body
  assert.deepEqual(shown, {
    registration_type: 'anonymous',
    token_type: 'Bearer',
    scope: 'mailbox.read email.receive',
    mailbox: { email: 'durable@agents.mailstead.test', status: 'active' },
  })
  assert.equal((await other.get('/mailbox/me', token)).status, 200)
  assert.equal((await client.post('/agent/identity', body, { key: 'k-1' })).body.access_token, token)
  failure(
    await client.post('/agent/identity', { type: 'anonymous', proof_of_work: 'x' }, { key: 'k-2' }),
    422,
    'validation_error',
  )
  const exchange = (members = {}) =>
    client.token({ grant_type: EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN, ...members })
  refusal(await exchange(), 503, 'authorization_pending')
  refusal(await exchange({ subject_token_type: 'other' }), 400, 'invalid_request')
  refusal(await exchange({ actor_token: 'x' }), 400, 'invalid_request')
  refusal(await exchange({ resource: `${other.origin}/api/v1` }), 400, 'invalid_target')
  refusal(await exchange({ subject_token: 'sat_none' }), 400, 'invalid_grant')
  refusal(await client.claim(token), 400, 'unsupported_grant_type')
  failure(await client.send(token, {}), 403, 'insufficient_permissions')
  const { ownership, registrations } = other.app.agents
  assert.equal((await client.invite(token, 'ana@people.test')).status, 202)
  await other.app.db.write((tx) => {
    ownership.accept(tx, registrations.byId(tx, id)!, 'ana@people.test')
    ownership.approveSending(tx, id)
  })
  const granted = await exchange({ resource: `${other.sendOrigin}/api/v1`, scope: 'email.send' })
  assert.equal(granted.body.issued_token_type, ACCESS_TOKEN)
  assert.equal(granted.body.scope, 'email.send')
  await client.revoke(token)
  failure(await other.get('/mailbox/me', token), 401, 'authentication_required')
  failure(await client.send(granted.body.access_token, {}), 401, 'authentication_required')
})
