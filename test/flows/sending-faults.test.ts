// What goes wrong on the way out leaves a row a person understands: dead accounts, wrong certificates, full quotas, broken DNS.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLog, DeliveryLogDetail } from '../../src/api/schemas/delivery-log.ts'
import type { Provider } from '../../src/api/schemas/provider.ts'
import { data, walk } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse, type TestTeam } from '../support/house.ts'
import { certificateFor, startMailServer } from '../support/mail-server.ts'

const MINUTE = 60_000
const clock = new ManualClock()
let refusal: { code: number; text: string } | null = null
const relay = await startMailServer({
  onRcptTo(_address, _session, done) {
    done(refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
  },
})
const house = await startHouse({
  clock,
  zone: {
    'relay.test': { A: ['127.0.0.1'] },
    'broken.example': { fault: 'servfail' },
    'null.example': { MX: [{ priority: 0, exchange: '' }] },
  },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
})
after(async () => {
  await house.close()
  await relay[Symbol.asyncDispose]()
})

/** A team with a domain of its own. */
async function furnish(domain: string): Promise<TestTeam> {
  const team = await house.team(domain)
  await team.domain(domain)
  return team
}

async function account(team: TestTeam, body: object): Promise<Provider> {
  const base = { name: 'Relay', smtp_host: 'relay.test', smtp_port: relay.port, smtp_protocol: 'none' }
  const whole = { ...base, smtp_username: 'u', smtp_password: 'p', ...body }
  const made = data<Provider>(await house.call('POST', '/providers', team.key, whole), 201)
  await house.settle()
  return data<Provider>(await house.get(`/providers/${made.id}`, team.key))
}

async function send(team: TestTeam, from: string, to: string): Promise<string> {
  const message = { from: { email: from }, to: { email: to }, subject: 'Hello', text_body: 'Hello.' }
  const path = `${house.sendOrigin}/api/v1/emails/send/batch`
  const reply = await house.call('POST', path, team.key, { messages: [message] })
  const [result] = data<{ results: { message_id: string }[] }>(reply).results
  await house.settle()
  return result!.message_id
}

async function fate(team: TestTeam, id: string): Promise<DeliveryLogDetail> {
  const [row] = await walk<DeliveryLog>(house, `/emails/logs?message_id=${id}`, team.key)
  return data<DeliveryLogDetail>(await house.get(`/emails/logs/${row!.id}`, team.key))
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
    await house.settle()
  }
}

test('mail goes through another account when one is dead, and the dead one leaves the routing', async () => {
  const team = await furnish('failover.test')
  const dying = await startMailServer()
  const dead = await account(team, { name: 'Dying', smtp_port: dying.port, percentage: 99 })
  await account(team, { name: 'Alive', percentage: 1 })
  assert.equal(dead.status, 'active')
  await dying[Symbol.asyncDispose]()
  for (let i = 0; i < 12; i++) {
    const row = await fate(team, await send(team, 'a@failover.test', `p${i}@customer.example`))
    assert.deepEqual([row.status, row.provider_name, row.attempts], ['sent', 'Alive', 1], JSON.stringify(row))
  }
  const now = data<Provider>(await house.get(`/providers/${dead.id}`, team.key))
  assert.equal(now.status, 'error')
  assert.match(now.status_reason ?? '', /^connect: /)
})

for (const saysSo of [true, false]) {
  test(`a message too large for one account goes through another (${saysSo ? 'SIZE' : '552'})`, async () => {
    const domain = `large-${saysSo}.test`
    const team = await furnish(domain)
    await using small = await startSmallServer(saysSo)
    const narrow = await account(team, { name: 'Narrow', smtp_port: small.port, percentage: 100 })
    await account(team, { name: 'Wide', percentage: 0 })
    const row = await fate(team, await send(team, `a@${domain}`, 'p@customer.example'))
    assert.deepEqual([row.status, row.provider_name, row.attempts], ['sent', 'Wide', 1], JSON.stringify(row))
    assert.match(row.timeline.findLast(({ type }) => type === 'routed')!.detail ?? '', /; too large for: Narrow\.$/)
    assert.equal(data<Provider>(await house.get(`/providers/${narrow.id}`, team.key)).status, 'active')
    assert.equal(small.mails.length, 0)
  })
}

test('a message is rejected as too large only where it is too large for all accounts', async () => {
  const team = await furnish('larger.test')
  await using first = await startSmallServer(true)
  await using second = await startSmallServer(false)
  await account(team, { name: 'One', smtp_port: first.port, percentage: 100 })
  await account(team, { name: 'Two', smtp_port: second.port, percentage: 0 })
  const row = await fate(team, await send(team, 'a@larger.test', 'p@customer.example'))
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
  const waiting = await fate(team, delayed)
  assert.deepEqual([waiting.status, waiting.attempts], ['pending', 1], JSON.stringify(waiting))
  data(await house.call('DELETE', `/providers/${dead.id}`, team.key))
  clock.advance(60 * MINUTE - (clock.now() % (60 * MINUTE)) + MINUTE)
  await account(team, { name: 'Full', percentage: 0, quotas: { per_hour: 1 } })
  await pass(1)
  assert.equal((await fate(team, delayed)).provider_name, 'Full')
  const held = await send(team, 'a@larger.test', 'r@customer.example')
  assert.match((await fate(team, held)).status_reason ?? '', /^deferred: The quota is full until .*Full\.$/)
  await pass(60)
  assert.equal((await fate(team, held)).status, 'sent')
})

test('an account that puts off for an hour is asked again until it takes', async () => {
  const team = await furnish('later.test')
  await account(team, {})
  refusal = { code: 451, text: '4.7.1 Try again later' }
  const id = await send(team, 'a@later.test', 'slow@customer.example')
  const first = await fate(team, id)
  assert.deepEqual([first.status, first.status_reason], ['pending', 'deferred: 451 4.7.1 Try again later'])
  await pass(60)
  refusal = null
  await pass(70)
  const row = await fate(team, id)
  assert.deepEqual([row.status, row.provider_name], ['sent', 'Relay'])
  assert.ok(row.timeline.some(({ type, smtp_code }) => type === 'deferred' && smtp_code === 451))
})

test('a full quota lets the rest wait for the next window', async () => {
  const team = await furnish('quota.test')
  await account(team, { name: 'Small', quotas: { per_hour: 2 } })
  clock.advance(60 * MINUTE - (clock.now() % (60 * MINUTE)) + MINUTE)
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push(await send(team, 'a@quota.test', `p${i}@customer.example`))
  const waiting = await fate(team, ids[2]!)
  assert.equal(waiting.status, 'pending')
  assert.match(waiting.status_reason ?? '', /^deferred: .*Small/)
  await pass(60)
  assert.equal((await fate(team, ids[2]!)).status, 'sent')
})

test('a certificate that does not fit its host is said in the account', async () => {
  const team = await furnish('tls.test')
  const secure = await startMailServer({ secure: true, ...(await certificateFor('other.test')) })
  const wrong = await account(team, { smtp_port: secure.port, smtp_protocol: 'ssl' })
  await secure[Symbol.asyncDispose]()
  assert.equal(wrong.status, 'error')
  assert.match(wrong.status_reason ?? '', /^tls: .*certificate/i)
  assert.deepEqual(secure.mails, [])
})

test('DNS that fails is waited for; a domain that takes no mail is not', async () => {
  const team = await furnish('dns.test')
  const waiting = await fate(team, await send(team, 'a@dns.test', 'p@broken.example'))
  assert.equal(waiting.status, 'pending')
  assert.match(waiting.status_reason ?? '', /^deferred: .*broken\.example/)
  const never = await fate(team, await send(team, 'a@dns.test', 'p@null.example'))
  assert.equal(never.status, 'failed')
  assert.match(never.status_reason ?? '', /^bounced: .*5\.1\.10/)
})

test('what a suspended team has queued waits, and leaves when it is active again', async () => {
  const team = await furnish('pause.test')
  await account(team, {})
  refusal = { code: 451, text: '4.7.1 Try again later' }
  const id = await send(team, 'a@pause.test', 'p@customer.example')
  refusal = null
  await house.app.directory.teams.setStatus(team.id, 'suspended')
  await pass(30)
  const email = (await house.app.outbound.emails.byId(id))!
  const [held] = await house.app.outbound.emails.deliveriesOf(email.n)
  assert.deepEqual([held!.status, held!.attempts], ['pending', 1])
  await house.app.directory.teams.setStatus(team.id, 'active')
  await pass(3)
  assert.equal((await fate(team, id)).status, 'sent')
})
