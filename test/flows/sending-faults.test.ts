// Failures of sending and their rows in the log: dead accounts, wrong certificates, exhausted quotas, broken DNS.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLogDetail, DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { data, walk } from '../api/expect.ts'
import { startAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { certificateFor, startMailServer } from '../support/mail-server.ts'

const MINUTE = 60_000
const clock = new ManualClock()
let refusal: { code: number; text: string } | null = null
const relay = await startMailServer({
  onRcptTo(_address, _session, done) {
    done(refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
  },
})
const appliance = await startAppliance({
  clock,
  zone: {
    'relay.test': { A: ['127.0.0.1'] },
    'broken.example': { error: 'servfail' },
    'null.example': { MX: [{ priority: 0, exchange: '' }] },
  },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
})
after(async () => {
  await appliance.close()
  await relay[Symbol.asyncDispose]()
})

/** A team with a domain of its own. */
async function furnish(domain: string): Promise<TestTeam> {
  const team = await appliance.team(domain)
  await team.domain(domain)
  return team
}

async function account(team: TestTeam, body: object): Promise<ProviderJson> {
  const base = { name: 'Relay', smtp_host: 'relay.test', smtp_port: relay.port, smtp_protocol: 'none' }
  const whole = { ...base, smtp_username: 'u', smtp_password: 'p', ...body }
  const made = data<ProviderJson>(await appliance.call('POST', '/providers', team.key, whole), 201)
  await appliance.settle()
  return data<ProviderJson>(await appliance.get(`/providers/${made.id}`, team.key))
}

async function send(team: TestTeam, from: string, to: string): Promise<string> {
  const message = { from: { email: from }, to: { email: to }, subject: 'Hello', text_body: 'Hello.' }
  const path = `${appliance.sendOrigin}/api/v1/emails/send/batch`
  const reply = await appliance.call('POST', path, team.key, { messages: [message] })
  const [result] = data<{ results: { message_id: string }[] }>(reply).results
  await appliance.settle()
  return result!.message_id
}

async function outcome(team: TestTeam, id: string): Promise<DeliveryLogDetail> {
  const [row] = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${id}`, team.key)
  return data<DeliveryLogDetail>(await appliance.get(`/emails/logs/${row!.id}`, team.key))
}

/** A server that takes next to nothing: it says so at once, or only when it has a message (RFC 1870). */
function startSmallServer(saysSo: boolean) {
  if (saysSo) return startMailServer({ size: 100, closeTimeout: 10 })
  return startMailServer({
    closeTimeout: 10,
    hideSize: true,
    onData(stream, _session, done) {
      stream.resume()
      stream.on('end', () => done(Object.assign(new Error('5.3.4 Too big for us'), { responseCode: 552 })))
    },
  })
}

async function pass(minutes: number): Promise<void> {
  for (let i = 0; i < minutes; i++) {
    clock.advance(MINUTE)
    await appliance.settle()
  }
}

test('messages are routed to another account when one fails, and the failed one is not used', async () => {
  const team = await furnish('failover.test')
  const dying = await startMailServer()
  const dead = await account(team, { name: 'Dying', smtp_port: dying.port, percentage: 99 })
  await account(team, { name: 'Alive', percentage: 1 })
  assert.equal(dead.status, 'active')
  await dying[Symbol.asyncDispose]()
  for (let i = 0; i < 12; i++) {
    const row = await outcome(team, await send(team, 'a@failover.test', `p${i}@customer.example`))
    assert.deepEqual([row.status, row.provider_name, row.attempts], ['sent', 'Alive', 1], JSON.stringify(row))
  }
  const now = data<ProviderJson>(await appliance.get(`/providers/${dead.id}`, team.key))
  assert.equal(now.status, 'error')
  assert.match(now.status_reason ?? '', /^connect: /)
})

for (const saysSo of [true, false]) {
  test(`a message too large for one account is sent through another (${saysSo ? 'SIZE' : '552'})`, async () => {
    const domain = `large-${saysSo}.test`
    const team = await furnish(domain)
    await using small = await startSmallServer(saysSo)
    const narrow = await account(team, { name: 'Narrow', smtp_port: small.port, percentage: 100 })
    await account(team, { name: 'Wide', percentage: 0 })
    const row = await outcome(team, await send(team, `a@${domain}`, 'p@customer.example'))
    assert.deepEqual([row.status, row.provider_name, row.attempts], ['sent', 'Wide', 1], JSON.stringify(row))
    assert.match(row.timeline.findLast(({ type }) => type === 'routed')!.detail ?? '', /; too large for: Narrow\.$/)
    assert.equal(data<ProviderJson>(await appliance.get(`/providers/${narrow.id}`, team.key)).status, 'active')
    assert.equal(small.messages.length, 0)
  })
}

test('a message is rejected as too large only when it is too large for all accounts', async () => {
  const team = await furnish('larger.test')
  await using first = await startSmallServer(true)
  await using second = await startSmallServer(false)
  await account(team, { name: 'One', smtp_port: first.port, percentage: 100 })
  await account(team, { name: 'Two', smtp_port: second.port, percentage: 0 })
  const row = await outcome(team, await send(team, 'a@larger.test', 'p@customer.example'))
  assert.equal(row.status, 'rejected')
  assert.equal(
    row.status_reason,
    'message_too_large: The message is too large for every sending account for this From address: One, Two. ' +
      '552 5.3.4 Too big for us',
  )
  // One that cannot be reached, and one that is full, may still take it.
  const dying = await startMailServer()
  const dead = await account(team, { name: 'Dying', smtp_port: dying.port, percentage: 0 })
  await dying[Symbol.asyncDispose]()
  const delayed = await send(team, 'a@larger.test', 'q@customer.example')
  const waiting = await outcome(team, delayed)
  assert.deepEqual([waiting.status, waiting.attempts], ['pending', 1], JSON.stringify(waiting))
  data(await appliance.call('DELETE', `/providers/${dead.id}`, team.key))
  clock.advance(60 * MINUTE - (clock.now() % (60 * MINUTE)) + MINUTE)
  await account(team, { name: 'Full', percentage: 0, quotas: { per_hour: 1 } })
  await pass(1)
  assert.equal((await outcome(team, delayed)).provider_name, 'Full')
  const held = await send(team, 'a@larger.test', 'r@customer.example')
  assert.match((await outcome(team, held)).status_reason ?? '', /^deferred: The quota is full until .*Full\.$/)
  await pass(60)
  assert.equal((await outcome(team, held)).status, 'sent')
})

test('an account that defers for an hour is retried until it accepts', async () => {
  const team = await furnish('later.test')
  await account(team, {})
  refusal = { code: 451, text: '4.7.1 Try again later' }
  const id = await send(team, 'a@later.test', 'slow@customer.example')
  const first = await outcome(team, id)
  assert.deepEqual([first.status, first.status_reason], ['pending', 'deferred: 451 4.7.1 Try again later'])
  await pass(60)
  refusal = null
  await pass(70)
  const row = await outcome(team, id)
  assert.deepEqual([row.status, row.provider_name], ['sent', 'Relay'])
  assert.ok(row.timeline.some(({ type, smtp_code }) => type === 'deferred' && smtp_code === 451))
})

test('with an exhausted quota the rest waits for the next window', async () => {
  const team = await furnish('quota.test')
  await account(team, { name: 'Small', quotas: { per_hour: 2 } })
  clock.advance(60 * MINUTE - (clock.now() % (60 * MINUTE)) + MINUTE)
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push(await send(team, 'a@quota.test', `p${i}@customer.example`))
  const waiting = await outcome(team, ids[2]!)
  assert.equal(waiting.status, 'pending')
  assert.match(waiting.status_reason ?? '', /^deferred: .*Small/)
  await pass(60)
  assert.equal((await outcome(team, ids[2]!)).status, 'sent')
})

test('a certificate for another host is reported for the account', async () => {
  const team = await furnish('tls.test')
  const secure = await startMailServer({ secure: true, ...(await certificateFor('other.test')) })
  const wrong = await account(team, { smtp_port: secure.port, smtp_protocol: 'ssl' })
  await secure[Symbol.asyncDispose]()
  assert.equal(wrong.status, 'error')
  assert.match(wrong.status_reason ?? '', /^tls: .*certificate/i)
  assert.deepEqual(secure.messages, [])
})

test('a DNS failure is retried; a domain without mail service is not', async () => {
  const team = await furnish('dns.test')
  const waiting = await outcome(team, await send(team, 'a@dns.test', 'p@broken.example'))
  assert.equal(waiting.status, 'pending')
  assert.match(waiting.status_reason ?? '', /^deferred: .*broken\.example/)
  const never = await outcome(team, await send(team, 'a@dns.test', 'p@null.example'))
  assert.equal(never.status, 'failed')
  assert.match(never.status_reason ?? '', /^bounced: .*5\.1\.10/)
})

test('queued messages of a suspended team wait, and are sent when it is active again', async () => {
  const team = await furnish('pause.test')
  await account(team, {})
  refusal = { code: 451, text: '4.7.1 Try again later' }
  const id = await send(team, 'a@pause.test', 'p@customer.example')
  refusal = null
  await appliance.app.directory.teams.setStatus(team.id, 'suspended')
  await pass(30)
  const email = appliance.app.outbound.log.emails.byId(id)!
  const [held] = appliance.app.outbound.log.emails.deliveriesOf(email.n)
  assert.deepEqual([held!.status, held!.attempts], ['pending', 1])
  await appliance.app.directory.teams.setStatus(team.id, 'active')
  await pass(3)
  assert.equal((await outcome(team, id)).status, 'sent')
})
