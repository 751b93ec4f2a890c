// Tests of a sending account over the API, against real servers: the result, and its effect on the account.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ProviderJson, ProviderTest } from '../../src/api/schemas/provider.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'
import { data, failure, issues } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2))
const zone = { 'smtp.relay.test': { A: ['127.0.0.1'] } }
const appliance = await startAppliance({ clock, zone, env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true' } })
after(() => appliance.close())
const team = await appliance.team()
const server = await startMailServer({
  onAuth({ username, password }, _session, done) {
    if (password === 'right') done(null, { user: username })
    else done(new Error('No.'))
  },
  onRcptTo({ address }, _session, done) {
    if (address.startsWith('gone@')) done(Object.assign(new Error('No such user.'), { responseCode: 550 }))
    else done()
  },
})
after(() => server[Symbol.asyncDispose]())

const BODY = {
  ...{ name: 'Relay', smtp_host: 'smtp.relay.test', smtp_port: server.port, smtp_protocol: 'none' },
  ...{ smtp_username: 'shop', smtp_password: 'right', from_email: 'ann@shop.test' },
}

async function create(body: object = {}): Promise<ProviderJson> {
  const made = data<ProviderJson>(await appliance.call('POST', '/providers', team.key, { ...BODY, ...body }), 201)
  await appliance.app.outbound.accounts.checks.runDue()
  return made
}

const ask = (id: string, body?: object) => appliance.call('POST', `/providers/${id}/test`, team.key, body)
const act = (id: string, action: string) => appliance.call('POST', `/providers/${id}/${action}`, team.key)
const show = async (id: string) => data<ProviderJson>(await appliance.get(`/providers/${id}`, team.key))

test('a successful test reports its last stage; once in ten seconds', async () => {
  const { id } = await create()
  assert.equal((await show(id)).status, 'active')
  const answer = data<ProviderTest>(await ask(id))
  assert.deepEqual(Object.keys(answer).sort(), [
    ...['latency_ms', 'message', 'provider', 'smtp_code', 'stage', 'success', 'tested_at'],
  ])
  assert.deepEqual([answer.success, answer.stage, answer.smtp_code], [true, 'auth', 235])
  assert.equal(answer.tested_at, new Date(clock.now()).toISOString())
  assert.deepEqual(answer.provider, await show(id))
  const again = await ask(id)
  failure(again, 429, 'rate_limit_exceeded')
  assert.equal(again.headers.get('retry-after'), '10')
  // Another account has a throttle of its own.
  data(await ask((await create()).id))
  clock.advance(10_000)
  data(await ask(id))
})

test('with an address it sends one message, from the account', async () => {
  const { id } = await create()
  server.messages.length = 0
  const answer = data<ProviderTest>(await ask(id, { to_email: 'bob@else.test' }))
  assert.deepEqual([answer.success, answer.stage], [true, 'data'])
  assert.deepEqual(
    server.messages.map(({ from, to }) => [from, to]),
    [['ann@shop.test', ['bob@else.test']]],
  )
  clock.advance(10_000)
  const refused = data<ProviderTest>(await ask(id, { to_email: 'gone@else.test' }))
  assert.deepEqual([refused.success, refused.stage, refused.smtp_code], [false, 'recipient', 550])
  assert.equal(refused.provider.status, 'active', 'an unreachable server is no failure of the account')
  clock.advance(10_000)
  const wrong = await ask(id, { to_email: 'a@b.test,c@d.test' })
  assert.ok([400, 422].includes(wrong.status))
  clock.advance(10_000)
  issues(await ask(id, { to_email: 'a@host' }), 422, 'validation_error', ['to_email invalid_format'])
})

test('a failed test returns 200 and puts the account in error, and a successful one clears it', async () => {
  const { id } = await create()
  data(await appliance.call('PATCH', `/providers/${id}`, team.key, { smtp_password: 'wrong' }))
  await appliance.app.outbound.accounts.checks.runDue()
  const answer = data<ProviderTest>(await ask(id))
  assert.deepEqual([answer.success, answer.stage, answer.smtp_code], [false, 'auth', 535])
  assert.deepEqual([answer.provider.status, answer.provider.is_active], ['error', false])
  assert.match(answer.provider.status_reason!, /^auth: /)
  assert.ok(!JSON.stringify(answer).includes('wrong'))
  const seen = data<{ error: number; by_status: { error: number } }>(await appliance.get('/providers/stats', team.key))
  assert.deepEqual([seen.error, seen.by_status.error], [1, 1])
  assert.equal(data<ProviderJson>(await act(id, 'activate')).status, 'pending')
  await appliance.app.outbound.accounts.checks.runDue()
  assert.equal((await show(id)).status, 'error')
  data(await appliance.call('PATCH', `/providers/${id}`, team.key, { smtp_password: 'right' }))
  await appliance.app.outbound.accounts.checks.runDue()
  assert.deepEqual([(await show(id)).status, (await show(id)).status_reason], ['active', null])
})

test('an account tested within a day is activated immediately', async () => {
  const { id } = await create()
  assert.equal(data<ProviderJson>(await act(id, 'deactivate')).status, 'inactive')
  assert.equal(data<ProviderTest>(await ask(id)).provider.status, 'inactive', 'a test does not switch it on')
  assert.equal(data<ProviderJson>(await act(id, 'activate')).status, 'active')
  failure(await act(id, 'activate'), 409, 'conflict')
})

test('a host name that resolves to a private address is rejected when it is used', async () => {
  await using strict = await startAppliance({ zone })
  const owner = await strict.team()
  const body = { ...BODY, smtp_host: 'smtp.relay.test' }
  const { id } = data<ProviderJson>(await strict.call('POST', '/providers', owner.key, body), 201)
  const answer = data<ProviderTest>(await strict.call('POST', `/providers/${id}/test`, owner.key))
  assert.equal(answer.success, false)
  assert.ok(answer.stage === 'dns' || answer.stage === 'connect', answer.stage)
  assert.ok(!answer.message.includes('127.0.0.1'), answer.message)
})
