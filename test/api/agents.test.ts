// Registration of agents: proof of work, inbox, tokens, and requests rejected before anything is computed or created.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { IN_ALL, takeDispatch } from '../../src/agents/invite-limits.ts'
import { PER_HOUR, PER_SOURCE_AND_DAY } from '../../src/agents/registrations.ts'
import { newId } from '../../src/base/ids.ts'
import { agentInboxes } from '../../src/jobs/agents.ts'
import { AgentClient, EASY_WORK, JWT_BEARER, proofOf } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { failure } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { ...EASY_WORK, TRUSTED_PROXIES: '127.0.0.1' } })
after(() => appliance.close())
const agent = new AgentClient(appliance)
let sources = 0

/** As `agent`, from an address that has registered nothing yet. */
function stranger(): AgentClient {
  const address = `198.51.100.${++sources}`
  const from = (headers: Record<string, string> = {}) => ({ ...headers, 'x-forwarded-for': address })
  const call: typeof appliance.call = (method, path, key, body, headers) =>
    appliance.call(method, path, key, body, from(headers))
  return new AgentClient({ ...appliance, call })
}

test('an agent solves the challenge, gets an inbox, reads it, and cannot send', async () => {
  const registered = await stranger().register({ mailbox_local_part: 'scout', client_name: 'demo' })
  assert.match(registered.registration_id, /^areg_[a-z0-9]{24}$/)
  assert.deepEqual(registered.mailbox, { email: 'scout@agents.mailstead.test', status: 'active' })
  assert.deepEqual(registered.pre_claim_scopes, ['mailbox.read', 'email.receive'])
  assert.match(registered.claim_token, /^clm_[0-9A-Za-z]{46}$/)
  assert.equal(registered.claim_token_expires, '2026-01-31T00:00:00.000Z')
  const token = await agent.readToken(registered.identity_assertion)
  const me = await appliance.get('/mailbox/me', token)
  assert.equal(me.status, 200, JSON.stringify(me.body))
  assert.equal(me.body.data.email, 'scout@agents.mailstead.test')
  assert.equal(me.body.data.quota_bytes, 500 * 1024 * 1024)
  const sent = await agent.send(token, { to: { email: 'ana@shop.test' }, subject: 'Hi', text_body: 'x' })
  failure(sent, 403, 'insufficient_permissions')
  assert.match(sent.headers.get('www-authenticate')!, /error="insufficient_scope", scope="email.send"/)
  const write = { to: [{ email: 'ana@shop.test' }], subject: 'Hi', text_body: 'x' }
  failure(await appliance.call('POST', '/mailbox/messages/send', token, write), 403, 'insufficient_permissions')
  failure(await appliance.get('/domains', token), 403, 'insufficient_permissions')
})

test('an inbox is active with the response to its registration', async () => {
  const one = stranger()
  const request = { type: 'anonymous' }
  const body = { ...request, proof_of_work: await one.proof(request) }
  const registered = (await one.post('/agent/identity', body, { key: randomUUID() })).body
  const token = await agent.readToken(registered.identity_assertion)
  assert.equal((await appliance.get('/mailbox/me', token)).status, 200)
  assert.equal((await appliance.get('/mailbox/folders', token)).body.data.length, 6)
  assert.equal((await agent.invite(token, 'owner@people.test')).status, 202)
})

test('a registration that fails leaves neither an inbox nor a spent proof', async () => {
  const { registrations } = appliance.app.agents
  const email = registrations.addressOf('halfway')
  const proof = { nonce: Buffer.from('halfway'), expiresAt: clock.now() + 1000 }
  const input = { id: newId('agentRegistration'), email, clientName: null, source: 'halfway', key: 'halfway', proof }
  const accounts = () => appliance.app.db.read.get<{ count: number }>('SELECT count(*) AS count FROM accounts')!.count
  const before = accounts()
  const failed = registrations.register(input, () => {
    throw new Error('The disk is full.')
  })
  await assert.rejects(failed, { message: 'The disk is full.' })
  assert.deepEqual([registrations.isFree(email), accounts()], [true, before])
  await registrations.register(input)
  assert.deepEqual([registrations.isFree(email), accounts()], [false, before + 1])
})

test('a registration of an earlier version gets its inbox; until then each API reports it in its own format', async () => {
  const { agents } = appliance.app
  const id = await registeredBefore('earlier@agents.mailstead.test')
  const { token: assertion } = await agents.assertions.sign(id, 'earlier@agents.mailstead.test', 1)
  const early = await agent.token({ grant_type: JWT_BEARER, assertion })
  assert.equal(early.status, 503)
  assert.equal(early.headers.get('retry-after'), '10')
  const { error, retry_after, request_id } = early.body
  assert.deepEqual({ error, retry_after }, { error: 'temporarily_unavailable', retry_after: 10 })
  assert.equal(request_id, early.headers.get('x-request-id'))
  await assert.rejects(agents.invites.send(id, 'ana@people.test'), { code: 'service_unavailable' })
  const { teamId, mailboxId } = agents.registrations.byId(appliance.app.db.read, id)!
  const key = await appliance.app.directory.mailboxes.issueKey(teamId, mailboxId, { name: 'x', createdBy: 'operator' })
  const unread = await appliance.get('/mailbox/me', key.secret)
  failure(unread, 503, 'service_unavailable')
  assert.equal(unread.headers.get('retry-after'), '10')
  const job = { app: appliance.app, log: appliance.app.log, signal: new AbortController().signal }
  assert.equal(await agentInboxes.run(job), 1)
  const token = await agent.readToken(assertion)
  assert.equal((await appliance.get('/mailbox/me', token)).status, 200)
  assert.equal(await agentInboxes.run(job), 0)
})

/** As earlier versions registered: the mail account was made by a job. @returns `areg_…` */
async function registeredBefore(email: string): Promise<string> {
  const { db, directory, config } = appliance.app
  const domain = await directory.domains.system(config.AGENT_MAILBOX_DOMAIN)
  return db.write((tx) => {
    const id = newId('agentRegistration')
    const team = directory.teams.createForAgent(tx, email)
    const inbox = { teamId: team.id, domainId: domain.id, email, quotaBytes: 1_000_000, registrationId: id }
    const mailbox = directory.mailboxes.createForAgent(tx, inbox)
    const now = clock.now()
    tx.insert('agent_registrations', {
      ...{ id, team_id: team.id, mailbox_id: mailbox.id, email, client_name: null, source: null, state: 'unclaimed' },
      ...{ request_scope: Buffer.from(email), claim_hash: Buffer.from(email), claim_expires_at: now + 86_400_000 },
      ...{ durable_hash: null, created_at: now },
    })
    return id
  })
}

test('auth.md warns that OAuth clients do not read authorization_pending at 503', async () => {
  const text = await (await fetch(`${appliance.origin}/auth.md`)).text()
  assert.match(
    text,
    /\*\*503\*\* with `Retry-After`[\s\S]*authorization_pending[\s\S]*RFC 8628[\s\S]*plain HTTP client/,
  )
  assert.doesNotMatch(text, /being set up/)
})

test('one solution sent a hundred times concurrently creates one inbox', async () => {
  const one = stranger()
  const request = { type: 'anonymous' }
  const body = { ...request, proof_of_work: await one.proof(request) }
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => one.post('/agent/identity', body, { key: randomUUID() })),
  )
  assert.equal(replies.filter(({ status }) => status === 201).length, 1)
  const others = replies.filter(({ status }) => status !== 201)
  assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([409]))
  for (const reply of others) failure(reply, 409, 'conflict')
})

test('the same request with the same key returns the same secrets for a day, from the same address only', async () => {
  const one = stranger()
  const request = { type: 'anonymous', client_name: 'twice' }
  const body = { ...request, proof_of_work: await one.proof(request) }
  const key = randomUUID()
  const first = await one.post('/agent/identity', body, { key })
  const second = await one.post('/agent/identity', body, { key })
  assert.equal(second.status, 201)
  assert.deepEqual(second.body, first.body)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  failure(await one.post('/agent/identity', { ...body, client_name: 'other' }, { key }), 409, 'idempotency_conflict')
  failure(await stranger().post('/agent/identity', body, { key }), 409, 'conflict')
  clock.leap(86_400_001)
  const late = { ...request, proof_of_work: await one.proof(request) }
  const error = failure(await one.post('/agent/identity', late, { key }), 409, 'conflict')
  assert.match(error.message, /cannot be shown again/)
})

test('an invalid proof is rejected with the reason, and the challenge stays valid', async () => {
  const one = stranger()
  const request = { type: 'anonymous', mailbox_local_part: 'keeper' }
  const challenge = (await one.post('/agent/identity/challenge', request)).body.challenge
  const good = await proofOf(challenge)
  const parts = JSON.parse(Buffer.from(good, 'base64').toString())
  const write = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  const tries: [proof: string, issue: string][] = [
    [
      write({ ...parts, challenge: { ...challenge, parameters: { ...challenge.parameters, cost: 1 } } }),
      'invalid_signature',
    ],
    [write({ ...parts, challenge: { ...challenge, signature: 'f'.repeat(64) } }), 'invalid_signature'],
    [write({ ...parts, challenge: { ...challenge, signature: 'zz' } }), 'invalid_signature'],
    [write({ ...parts, solution: { ...parts.solution, counter: parts.solution.counter + 1 } }), 'invalid_solution'],
    [write({ ...parts, solution: { counter: 1.5, derivedKey: parts.solution.derivedKey } }), 'invalid_solution'],
    [write({ ...parts, solution: { counter: 1, derivedKey: 'xyz' } }), 'invalid_solution'],
  ]
  for (const [proof, issue] of tries) {
    const reply = await one.post('/agent/identity', { ...request, proof_of_work: proof }, { key: randomUUID() })
    const error = failure(reply, 422, 'validation_error')
    assert.deepEqual(
      error.errors?.map(({ field, code }) => ({ field, code })),
      [{ field: 'proof_of_work', code: issue }],
    )
  }
  for (const proof of ['%%%', 'bm90IGpzb24', write([1]), write({ challenge: 1, solution: 2 }), '/'.repeat(8)]) {
    const reply = await one.post('/agent/identity', { ...request, proof_of_work: proof }, { key: randomUUID() })
    failure(reply, 400, 'invalid_parameter')
  }
  const other = { ...request, mailbox_local_part: 'other', proof_of_work: good }
  const mismatch = failure(await one.post('/agent/identity', other, { key: randomUUID() }), 422, 'validation_error')
  assert.equal(mismatch.errors?.[0]?.code, 'request_mismatch')
  const missing = await one.post('/agent/identity', request, { key: randomUUID() })
  failure(missing, 400, 'missing_parameter')
  const huge = await one.post('/agent/identity', { ...request, proof_of_work: 'A'.repeat(8193) }, { key: randomUUID() })
  assert.equal(failure(huge, 422, 'validation_error').errors?.[0]?.code, 'too_big')
  const kept = await one.post('/agent/identity', { ...request, proof_of_work: good }, { key: randomUUID() })
  assert.equal(kept.status, 201, 'the proof is still worth an inbox')
  clock.leap(600_001)
  const late = failure(
    await one.post('/agent/identity', { ...request, proof_of_work: good }, { key: randomUUID() }),
    422,
    'validation_error',
  )
  assert.equal(late.errors?.[0]?.code, 'expired')
})

test('names are checked before the proof is computed', async () => {
  const one = stranger()
  await one.register({ mailbox_local_part: 'taken' })
  const ask = (body: object) => one.post('/agent/identity/challenge', { type: 'anonymous', ...body })
  failure(await ask({ mailbox_local_part: 'taken' }), 409, 'conflict')
  for (const name of ['postmaster', 'invites', 'a..b', 'Upper', 'ab', '-abc', 'x'.repeat(41), 'a b', 'ä-b']) {
    failure(await ask({ mailbox_local_part: name }), 422, 'validation_error')
  }
  for (const name of [
    '',
    'a\nb',
    'x'.repeat(81),
    'a\u202eb',
    'a\u200bb',
    'ceo@bank.example',
    'http://evil',
    'evil.example',
  ])
    failure(await ask({ client_name: name }), 422, 'validation_error')
  failure(await one.post('/agent/identity/challenge', { type: 'human' }), 422, 'validation_error')
  failure(await one.post('/agent/identity/challenge', {}), 400, 'missing_parameter')
  const request = { type: 'anonymous', idempotency_key: 'one' }
  const body = { ...request, proof_of_work: await one.proof(request) }
  failure(await one.post('/agent/identity', body, { key: 'two' }), 400, 'invalid_parameter')
  const noKey = failure(await one.post('/agent/identity', body), 400, 'missing_parameter')
  assert.equal(noKey.param, 'Idempotency-Key')
})

test('three inboxes a day from one address; three more on the next day', async () => {
  const one = stranger()
  for (let made = 0; made < PER_SOURCE_AND_DAY; made++) await one.register()
  const request = { type: 'anonymous' }
  const body = { ...request, proof_of_work: await one.proof(request) }
  const over = await one.post('/agent/identity', body, { key: randomUUID() })
  failure(over, 429, 'rate_limit_exceeded')
  const untilMidnight = 86_400_000 - (clock.now() % 86_400_000)
  assert.equal(over.headers.get('retry-after'), String(Math.ceil(untilMidnight / 1000)))
  await stranger().register()
  clock.leap(untilMidnight)
  await one.register()
})

test('one network uses up neither the registrations nor the invitations of all agents', async () => {
  clock.leap(86_400_000)
  const { db, agents } = appliance.app
  const { registrations } = agents
  let made = 0
  const register = async (source: string) => {
    const id = newId('agentRegistration')
    const proof = { nonce: Buffer.from(id), expiresAt: clock.now() + 1000 }
    const input = { id, email: registrations.addressOf(null), clientName: null, source, key: String(++made), proof }
    return (await registrations.register(input)).registration
  }
  const refused = { code: 'rate_limit_exceeded', message: /from this network/ }
  const inviters: Awaited<ReturnType<typeof register>>[] = []
  for (let n = 0; n < PER_HOUR / 10; n++) inviters.push(await register(`2001:db8:1:${n.toString(16)}::/64`))
  await assert.rejects(register('2001:db8:1:ffff::/64'), refused, 'a /48 takes a tenth')
  for (let n = 0; n < (PER_HOUR * 4) / 10; n++) {
    await register(`2001:db8:${2 + Math.floor(n / 50)}:${(n % 50).toString(16)}::/64`)
  }
  await assert.rejects(register('2001:db8:9:1::/64'), refused, 'a /32 takes half')
  for (let n = 0; n < PER_HOUR / 10; n++) await register(`203.0.113.${n}`)
  await assert.rejects(register('203.0.113.99'), refused, 'so does a /24 of IPv4')
  const elsewhere = await register('203.0.114.1')

  let count = 0
  const invite = (registration: (typeof inviters)[number]) => {
    const email = `person${++count}@people.test`
    return db.write((tx) => takeDispatch(tx, { registration, email, now: clock.now() }))
  }
  for (let n = 0; n < IN_ALL / 10; n++) await invite(inviters[n % inviters.length]!)
  await assert.rejects(invite(inviters[0]!), { code: 'rate_limit_exceeded' })
  await invite(elsewhere)
  clock.leap(3_600_000)
  await register('2001:db8:1:ffff::/64')
  await invite(inviters[0]!)
})

test('an agent can end while its inbox is deleted, and an inbox is not reactivated while its agent ends', async () => {
  const { mailboxes, operatorKeys } = appliance.app.directory
  const { agents } = appliance.app
  const { secret } = await operatorKeys.issue('test')
  const end = (id: string) =>
    appliance.call('POST', `http://127.0.0.1:${appliance.ports.operator}/operator/v1/agents/${id}/revoke`, secret)
  for (let round = 0; round < 5; round++) {
    const one: Json = await stranger().register()
    const { teamId, mailboxId } = agents.registrations.byId(appliance.app.db.read, one.registration_id)!
    const [, ended] = await Promise.all([
      appliance.app.administration.mailboxes.delete(teamId, mailboxId),
      end(one.registration_id),
    ])
    assert.equal(ended.status, 200, JSON.stringify(ended.body))

    const other: Json = await stranger().register()
    const inbox = agents.registrations.byId(appliance.app.db.read, other.registration_id)!
    const { secret: key } = await appliance.app.directory.keys.issue({
      ...{ teamId: inbox.teamId, kind: 'root', name: 'test', role: 'root:full', createdBy: 'operator' },
    })
    await Promise.all([
      end(other.registration_id),
      appliance.call('POST', `/mailboxes/${inbox.mailboxId}/reactivate`, key),
    ])
    assert.equal(mailboxes.byId(inbox.mailboxId)!.status, 'suspended')
  }
})

test('the operator lists agents, ends one or many, and disables registration', async () => {
  const { secret } = await appliance.app.directory.operatorKeys.issue('test')
  const base = `http://127.0.0.1:${appliance.ports.operator}/operator/v1`
  const ask = (method: string, path: string, body?: object) => appliance.call(method, base + path, secret, body)
  clock.leap(1000)
  const since = new Date(clock.now()).toISOString()
  const one = stranger()
  const first: Json = await one.register({ client_name: 'first' })
  await one.register()
  const listed = (await ask('GET', `/agents?created_after=${since}`)).body.data
  assert.equal(listed.length, 2)
  assert.equal(listed[0].source_hash, listed[1].source_hash)
  assert.deepEqual((await ask('GET', `/agents?after=${since}`)).body.data, listed)
  failure(await ask('GET', `/agents?after=${since}&created_after=${since}`), 400, 'invalid_parameter')
  const token = await agent.readToken(first.identity_assertion)
  assert.equal((await ask('POST', `/agents/${first.registration_id}/revoke`)).body.data.state, 'revoked')
  failure(await appliance.get('/mailbox/me', token), 401, 'authentication_required')
  assert.equal(
    (await agent.token({ grant_type: JWT_BEARER, assertion: first.identity_assertion })).body.error,
    'invalid_grant',
  )
  const all = { created_after: since }
  assert.deepEqual((await ask('POST', '/agents/revoke-all', { ...all, dry_run: true })).body.data, {
    revoked: 1,
    dry_run: true,
  })
  assert.equal((await ask('GET', `/agents?created_after=${since}&state=unclaimed`)).body.data.length, 1)
  assert.deepEqual((await ask('POST', '/agents/revoke-all', all)).body.data, { revoked: 1, dry_run: false })
  assert.equal((await ask('GET', `/agents?created_after=${since}&state=unclaimed`)).body.data.length, 0)
  assert.deepEqual((await ask('PUT', '/agents/registration', { enabled: false })).body.data, { enabled: false })
  const closed = await one.post('/agent/identity/challenge', { type: 'anonymous' })
  failure(closed, 503, 'service_unavailable')
  assert.equal(closed.headers.get('retry-after'), '3600')
  await ask('PUT', '/agents/registration', { enabled: true })
  await stranger().register()
})
