// Sending accounts over the API: create, show without secrets, update, activate, delete, count.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, walk } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')

const BODY = {
  name: 'Primary',
  smtp_host: 'smtp.example.test',
  smtp_port: 587,
  smtp_protocol: 'starttls',
  smtp_username: 'shop',
  smtp_password: 'very secret words',
}
const create = (body: object = {}) => appliance.call('POST', '/providers', team.key, { ...BODY, ...body })
const act = (id: string, action: string) => appliance.call('POST', `/providers/${id}/${action}`, team.key)
const change = (id: string, body: object, headers?: Record<string, string>) =>
  appliance.call('PATCH', `/providers/${id}`, team.key, body, headers)

test('an account shows every member and no secret', async () => {
  const reply = await create({
    from_email: 'News@Shop.Example',
    quotas: { per_minute: 60, per_day: { min: 5, max: 9 } },
  })
  const made = data<ProviderJson>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/providers/${made.id}`)
  assert.deepEqual(Object.keys(made).length, 29)
  assert.deepEqual([made.status, made.is_active, made.has_smtp_password], ['pending', false, true])
  assert.deepEqual(made.quotas, {
    per_second: null,
    per_minute: { min: 60, max: 60 },
    per_hour: null,
    per_day: { min: 5, max: 9 },
  })
  assert.equal(made.from_email, 'News@shop.example')
  assert.ok(!JSON.stringify(reply.body).includes('very secret'))
  failure(await appliance.get(`/providers/${made.id}`, other.key), 404, 'not_found')
})

test('errors of a body are reported by member', async () => {
  const wrong = async (body: object, expected: string[]) =>
    issues(await create(body), 422, 'validation_error', expected)
  await wrong({ smtp_host: '10.0.0.1' }, ['smtp_host forbidden_value'])
  await wrong({ smtp_host: '[::1]' }, ['smtp_host forbidden_value'])
  await wrong({ smtp_host: '::ffff:127.0.0.1' }, ['smtp_host forbidden_value'])
  await wrong({ smtp_host: '2130706433' }, ['smtp_host invalid_format'])
  await wrong({ smtp_host: '0x7f.1' }, ['smtp_host invalid_format'])
  await wrong({ smtp_host: 'a b' }, ['smtp_host invalid_format'])
  await wrong({ smtp_host: 'localhost' }, ['smtp_host forbidden_value'])
  await wrong({ smtp_username: 'a\r\nb' }, ['smtp_username invalid_format'])
  await wrong({ from_email: 'a@b@c' }, ['from_email invalid_format'])
  await wrong({ quotas: { per_day: { min: 9, max: 5 } } }, ['quotas.per_day.min too_big'])
  await wrong({ quotas: { per_day: 0 } }, ['quotas.per_day invalid_union'])
  await wrong({ quotas: { per_week: 1 } }, ['quotas.per_week unknown_field'])
  await wrong({ percentage: 101 }, ['percentage too_big'])
  await wrong({ surprise: 1 }, ['surprise unknown_field'])
})

test('an update keeps members left out, clears null ones, and checks If-Match', async () => {
  const made = data<ProviderJson>(await create({ quotas: { per_minute: 60, per_hour: 5 }, percentage: 10 }), 201)
  // The check of a new account changes what is shown.
  await appliance.app.outbound.accounts.checks.runDue()
  const etag = etagOf(await appliance.get(`/providers/${made.id}`, team.key))
  const next = data<ProviderJson>(
    await change(made.id, { quotas: { per_hour: null }, percentage: null }, { 'if-match': etag }),
  )
  assert.deepEqual(next.quotas.per_minute, { min: 60, max: 60 })
  assert.deepEqual([next.quotas.per_hour, next.percentage], [null, null])
  failure(await change(made.id, { name: 'Other' }, { 'if-match': etag }), 409, 'conflict')
  issues(await change(made.id, {}), 422, 'validation_error', ['body too_small'])
  failure(
    await appliance.call('DELETE', `/providers/${made.id}`, team.key, undefined, { 'if-match': etag }),
    409,
    'conflict',
  )
  assert.equal(data<ProviderJson>(await appliance.get(`/providers/${made.id}`, team.key)).name, 'Primary')
})

test('a change of the connection triggers a new check, and its password can be changed but not read', async () => {
  const made = data<ProviderJson>(await create(), 201)
  const reply = await change(made.id, { smtp_password: 'other secret words' })
  const changed = data<ProviderJson>(reply)
  assert.deepEqual([changed.status, changed.has_smtp_password], ['pending', true])
  assert.ok(!JSON.stringify(reply.body).includes('secret words'))
  const provider = appliance.app.outbound.accounts.providers.byId(made.id)!
  assert.equal(
    appliance.app.outbound.accounts.providers.connections.secretsOf(provider).smtpPassword,
    'other secret words',
  )
})

test('a stored password is sent to no other server or user name', async () => {
  const made = data<ProviderJson>(await create({}), 201)
  const { smtp_host, smtp_port, smtp_username } = made
  for (const body of [{ smtp_host: 'smtp.evil.test' }, { smtp_username: 'eve' }])
    issues(await change(made.id, body), 422, 'validation_error', ['smtp_password required'])
  data(await change(made.id, { smtp_host: 'SMTP.example.test.', smtp_port, smtp_username, name: 'Same' }))
  const secrets = () => appliance.app.outbound.accounts.providers.connections.secretsOf({ id: made.id }).smtpPassword
  assert.equal(secrets(), 'very secret words')
  const moved = { smtp_host: 'smtp.other.test', smtp_password: 'the other one' }
  assert.equal(data<ProviderJson>(await change(made.id, moved)).smtp_host, 'smtp.other.test')
  assert.equal(smtp_host, 'smtp.example.test')
  assert.equal(secrets(), 'the other one')
})

test('an account is checked soon after its creation, without a request', async () => {
  const made = data<ProviderJson>(await create({ smtp_host: 'nowhere.example.test' }), 201)
  let shown = made
  // The health check was triggered when the account was created, and is in progress.
  for (let i = 0; shown.status === 'pending' && i < 1000; i++) {
    shown = data<ProviderJson>(await appliance.get(`/providers/${made.id}`, team.key))
  }
  assert.equal(shown.status, 'error')
  assert.match(shown.status_reason!, /^dns: .*nowhere\.example\.test/)
  assert.equal(shown.last_tested_at, '2030-01-02T03:04:05.000Z')
})

test('repetitions with the same key create one account', async () => {
  const headers = { 'idempotency-key': 'once' }
  const post = () => appliance.call('POST', '/providers', team.key, BODY, headers)
  const [first, second] = [data<ProviderJson>(await post(), 201), data<ProviderJson>(await post(), 201)]
  assert.equal(first.id, second.id)
})

test('an account is deactivated and activated', async () => {
  const made = data<ProviderJson>(await create(), 201)
  const off = data<ProviderJson>(await act(made.id, 'deactivate'))
  assert.deepEqual(
    [off.status, off.allowed_actions.activate, off.allowed_actions.deactivate],
    ['inactive', true, false],
  )
  failure(await act(made.id, 'deactivate'), 409, 'conflict')
  assert.equal(data<ProviderJson>(await change(made.id, { smtp_port: 465 })).status, 'inactive')
  assert.equal(data<ProviderJson>(await act(made.id, 'activate')).status, 'pending')
})

test('an account that a group or a mailbox uses cannot be deleted', async () => {
  const made = data<ProviderJson>(await create(), 201)
  const members = [{ provider_id: made.id }]
  const group = data<{ id: string }>(
    await appliance.call('POST', '/delivery-groups', team.key, { name: 'All', members }),
    201,
  )
  const remove = () => appliance.call('DELETE', `/providers/${made.id}`, team.key)
  issues(await remove(), 409, 'conflict', ['members in_use'])
  assert.match(failure(await remove(), 409, 'conflict').message, /the delivery group All\.$/)
  data(await appliance.call('DELETE', `/delivery-groups/${group.id}`, team.key))
  await team.domain('shop.test')
  const send_scope = { type: 'providers', provider_public_ids: [made.id] }
  const box = data<{ id: string }>(
    await appliance.call('POST', '/mailboxes', team.key, { email: 'ana@shop.test', send_scope }),
    201,
  )
  issues(await remove(), 409, 'conflict', ['send_scope in_use'])
  assert.match(failure(await remove(), 409, 'conflict').message, /the send_scope of ana@shop\.test\.$/)
  await appliance.app.administration.mailboxes.delete(team.id, box.id)
  assert.deepEqual(data(await remove()), { deleted: true, id: made.id })
  failure(await appliance.get(`/providers/${made.id}`, team.key), 404, 'not_found')
})

test('lists are filtered, and counted', async () => {
  const all = await walk<ProviderJson>(appliance, '/providers', team.key)
  const inactive = await walk<ProviderJson>(appliance, '/providers?status=inactive&type=smtp', team.key)
  const stats = data<{ total: number; inactive: number; by_type: { smtp: number } }>(
    await appliance.get('/providers/stats', team.key),
  )
  assert.deepEqual([stats.total, stats.by_type.smtp, stats.inactive], [all.length, all.length, inactive.length])
  assert.equal((await walk(appliance, '/providers', other.key)).length, 0)
})

test('the use of an account names its windows with a quota; other teams find none', async () => {
  const made = data<ProviderJson>(await create({ quotas: { per_minute: 60, per_day: 500 } }), 201)
  const use = data<{ windows: object[] }>(await appliance.get(`/providers/${made.id}/usage`, team.key))
  const now = clock.now()
  const ends = (ms: number) => new Date(now - (now % ms) + ms).toISOString()
  assert.deepEqual(use.windows, [
    { window: 'minute', used: 0, most: 60, ends_at: ends(60_000) },
    { window: 'day', used: 0, most: 500, ends_at: ends(86_400_000) },
  ])
  failure(await appliance.get(`/providers/${made.id}/usage`, other.key), 404, 'not_found')
})
