// An agent invites its owner: one real signed message; the decisions of the person; and the limits of invitations.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { failure } from '../api/expect.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

const DAY_MS = 86_400_000
const clock = new ManualClock()
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
  'mx.people.example': { A: ['127.0.0.1'] },
}
const env = {
  ...EASY_WORK,
  ALLOW_PRIVATE_SMTP_HOSTS: 'true',
  DIRECT_PORT: String(remote.port),
  TRUSTED_PROXIES: '127.0.0.1',
}
const appliance = await startAppliance({ clock, zone, env })
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
let sources = 0
const call: typeof appliance.call = (method, path, key, body, headers) =>
  appliance.call(method, path, key, body, { ...headers, 'x-forwarded-for': `203.0.113.${++sources % 250}` })
const agent = new AgentClient({ ...appliance, call })
const { agents } = appliance.app

async function newAgent(members: Record<string, string> = {}): Promise<{ registered: Json; token: string }> {
  const registered = await agent.register(members)
  return { registered, token: await agent.readToken(registered.identity_assertion) }
}

/** The text of the last message to a recipient, with its lines joined. */
function lastMail(to: string): { raw: string; text: string } {
  const mail = remote.messages.findLast((one) => one.to.includes(to))
  assert.ok(mail, `no message to ${to}`)
  const raw = mail.bytes.toString()
  return { raw, text: raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') }
}

function linkTo(to: string): string {
  const [, token] = /\/invites\/([A-Za-z0-9_-]{43})/.exec(lastMail(to).text) ?? []
  assert.ok(token)
  return token
}

/** Lets time pass when nothing is being sent: a message under way would take the leap for a server that does not answer. */
async function pass(ms: number): Promise<void> {
  await appliance.settle()
  clock.leap(ms)
}

const state = (registered: Json) => agents.registrations.byId(appliance.app.db.read, registered.registration_id)!.state

test('a person gets one signed message with a link the agent never sees, and decides twice', async () => {
  const { registered, token } = await newAgent({ mailbox_local_part: 'scout', client_name: 'demo & <b>' })
  const reply = await agent.invite(token, 'Ana@People.example')
  assert.equal(reply.status, 202)
  assert.match(reply.body.invite_id, /^ainv_/)
  assert.deepEqual([reply.body.status, reply.body.expires_at], ['pending', '2026-01-08T00:00:00.000Z'])
  assert.equal(state(registered), 'invited')
  await appliance.settle()
  const { raw, text } = lastMail('ana@people.example')
  assert.match(raw, /^DKIM-Signature: .*d=agents\.mailstead\.test/s)
  assert.match(raw, /^From: .*invites@agents\.mailstead\.test/m)
  assert.match(raw, /^Auto-Submitted: auto-generated/m)
  assert.match(raw, /^Subject: Request to become owner of scout@agents\.mailstead\.test/m)
  assert.match(text, /calls itself "demo & b"/)
  assert.match(text, /calls itself &quot;demo &amp; b&quot;/, 'the HTML shows it as text')
  assert.ok(!JSON.stringify(reply.body).includes(linkTo('ana@people.example')))
  const link = linkTo('ana@people.example')
  const decided = await agents.invites.decide(link, { accept: true, approveSending: false, optOut: false })
  assert.equal(decided.invite.state, 'accepted')
  assert.equal(
    (await agents.invites.decide(link, { accept: false, approveSending: false, optOut: true })).decided,
    false,
  )
  assert.equal(state(registered), 'accepted')
  failure(await agent.invite(token, 'ben@people.example'), 409, 'conflict')
})

test('a repeated invitation has a new link; an invitation of another person ends the first', async () => {
  const { registered, token } = await newAgent()
  const first = await agent.invite(token, 'carl@people.example')
  await appliance.settle()
  const old = linkTo('carl@people.example')
  clock.leap(60_000)
  const again = await agent.invite(token, 'carl@people.example')
  assert.deepEqual(again.body, first.body)
  await appliance.settle()
  assert.equal(agents.invites.open(old), undefined)
  assert.notEqual(linkTo('carl@people.example'), old)
  const other = await agent.invite(token, 'dora@people.example')
  assert.notEqual(other.body.invite_id, first.body.invite_id)
  assert.equal(agents.invites.open(linkTo('carl@people.example'))?.invite.state, 'revoked')
  failure(await agent.invite(token, 'carl@people.example'), 429, 'rate_limit_exceeded')
  assert.equal(state(registered), 'invited')
  await pass(DAY_MS)
  assert.equal(
    (await agent.invite(await agent.readToken(registered.identity_assertion), 'carl@people.example')).status,
    202,
  )
})

test('an address that registers many agents sends six invitations a day with all of them', async () => {
  const headers = { 'x-forwarded-for': '198.51.100.9' }
  const one = new AgentClient({
    ...appliance,
    call: (method, path, key, body, more) => appliance.call(method, path, key, body, { ...more, ...headers }),
  })
  const made: { token: string }[] = []
  for (let times = 0; times < 3; times++) {
    made.push({ token: await agent.readToken((await one.register()).identity_assertion) })
  }
  const codes: number[] = []
  for (const [index, { token }] of made.entries()) {
    for (const name of ['x', 'y', 'z']) codes.push((await agent.invite(token, `${name}${index}@people.example`)).status)
  }
  assert.deepEqual(codes, [202, 202, 202, 202, 202, 202, 429, 429, 429])
  const refused = await agent.invite(made[2]!.token, 'w@people.example')
  assert.equal(failure(refused, 429, 'rate_limit_exceeded').code, 'rate_limit_exceeded')
  await pass(DAY_MS)
})

test('the name of an agent has no link', async () => {
  const { status, body } = await agent.post('/agent/identity/challenge', {
    ...{ type: 'anonymous', mailbox_local_part: 'linked', client_name: 'Locked, see http://evil.example/x' },
  })
  assert.deepEqual([status, body.error?.errors?.[0]?.field ?? body.error?.param], [422, 'client_name'])
})

test('a person with an open invitation gets none from another agent', async () => {
  const one = await newAgent()
  const two = await newAgent()
  assert.equal((await agent.invite(one.token, 'emil@people.example')).status, 202)
  const over = await agent.invite(two.token, 'emil@people.example')
  failure(over, 429, 'rate_limit_exceeded')
  assert.equal(over.headers.get('retry-after'), String((7 * DAY_MS) / 1000))
  await pass(7 * DAY_MS)
  const later = await agent.readToken(two.registered.identity_assertion)
  assert.equal((await agent.invite(later, 'emil@people.example')).status, 202)
  await appliance.settle()
})

test('a person who blocked invitations gets no more, and the agent cannot detect it', async () => {
  const { registered, token } = await newAgent()
  await agent.invite(token, 'fay@people.example')
  await appliance.settle()
  await agents.invites.decide(linkTo('fay@people.example'), { accept: false, approveSending: false, optOut: true })
  assert.equal((await agent.claim(registered.claim_token)).body.error, 'access_denied')
  assert.equal(state(registered), 'unclaimed')
  const before = remote.messages.length
  const reply = await agent.invite(token, 'fay@people.example')
  assert.deepEqual([reply.status, reply.body.status], [202, 'pending'])
  await appliance.settle()
  assert.equal(remote.messages.length, before)
  await pass(7 * DAY_MS + 60_000)
  await agents.invites.expireDue()
  assert.equal((await agent.claim(registered.claim_token)).body.error, 'expired_token')
})

test('an invitation needs an address of a person, an Idempotency-Key, and a token for reading', async () => {
  const { token } = await newAgent()
  for (const email of [
    'nobody',
    'a@b@c',
    'ana@people.example, ben@people.example',
    'other@agents.mailstead.test',
    'a\r\nb@c.example',
  ]) {
    failure(await agent.invite(token, email), 422, 'validation_error')
  }
  const body = { email: 'gil@people.example', requested_role: 'owner' }
  failure(await agent.post('/agent/identity/invite', body, { token }), 400, 'missing_parameter')
  const differs = { ...body, idempotency_key: 'one' }
  failure(await agent.post('/agent/identity/invite', differs, { token, key: 'two' }), 400, 'invalid_parameter')
  failure(
    await agent.post('/agent/identity/invite', { ...body, requested_role: 'admin' }, { token, key: 'x' }),
    422,
    'validation_error',
  )
  failure(await agent.post('/agent/identity/invite', body, { key: 'x' }), 401, 'authentication_required')
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  failure(await agent.invite(ana.key, 'gil@people.example'), 403, 'insufficient_permissions')
  const key = randomUUID()
  const [first, second] = [await agent.invite(token, body.email, key), await agent.invite(token, body.email, key)]
  assert.deepEqual(second.body, first.body)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
})
