// Sending accounts over the API: made, shown without secrets, changed, switched, ended, and counted.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Provider } from '../../src/api/schemas/provider.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'
import { data, etagOf, failure, issues, walk } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const house = await startHouse({ clock })
after(() => house.close())
const team = await house.team()
const other = await house.team('Other')

const BODY = {
  name: 'Primary',
  smtp_host: 'smtp.example.test',
  smtp_port: 587,
  smtp_protocol: 'starttls',
  smtp_username: 'shop',
  smtp_password: 'very secret words',
}
const create = (body: object = {}) => house.call('POST', '/providers', team.key, { ...BODY, ...body })
const act = (id: string, action: string) => house.call('POST', `/providers/${id}/${action}`, team.key)
const change = (id: string, body: object, headers?: Record<string, string>) =>
  house.call('PATCH', `/providers/${id}`, team.key, body, headers)

test('an account shows every field and no secret', async () => {
  const reply = await create({
    from_email: 'News@Shop.Example',
    quotas: { per_minute: 60, per_day: { min: 5, max: 9 } },
  })
  const made = data<Provider>(reply, 201)
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
  failure(await house.get(`/providers/${made.id}`, other.key), 404, 'not_found')
})

test('what is wrong with a body is named', async () => {
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

test('a change keeps what is left out, takes away what is null, and is checked by If-Match', async () => {
  const made = data<Provider>(await create({ quotas: { per_minute: 60, per_hour: 5 }, percentage: 10 }), 201)
  // The check of a new account changes what is shown.
  await house.app.outbound.providers.health.checkDue()
  const etag = etagOf(await house.get(`/providers/${made.id}`, team.key))
  const next = data<Provider>(
    await change(made.id, { quotas: { per_hour: null }, percentage: null }, { 'if-match': etag }),
  )
  assert.deepEqual(next.quotas.per_minute, { min: 60, max: 60 })
  assert.deepEqual([next.quotas.per_hour, next.percentage], [null, null])
  failure(await change(made.id, { name: 'Other' }, { 'if-match': etag }), 409, 'conflict')
  issues(await change(made.id, {}), 422, 'validation_error', ['body too_small'])
  failure(
    await house.call('DELETE', `/providers/${made.id}`, team.key, undefined, { 'if-match': etag }),
    409,
    'conflict',
  )
  assert.equal(data<Provider>(await house.get(`/providers/${made.id}`, team.key)).name, 'Primary')
})

test('a change of the connection has the account checked anew, and its password can be changed but never read', async () => {
  const made = data<Provider>(await create(), 201)
  const reply = await change(made.id, { smtp_password: 'other secret words' })
  const changed = data<Provider>(reply)
  assert.deepEqual([changed.status, changed.has_smtp_password], ['pending', true])
  assert.ok(!JSON.stringify(reply.body).includes('secret words'))
  const provider = (await house.app.outbound.providers.byId(made.id))!
  assert.equal((await house.app.outbound.providers.secretsOf(provider)).smtpPassword, 'other secret words')
})

test('an account is checked soon after it was made, by nobody’s asking', async () => {
  const made = data<Provider>(await create({ smtp_host: 'nowhere.example.test' }), 201)
  let shown = made
  // The watch was rung when the account was made; its look is under way.
  for (let i = 0; shown.status === 'pending' && i < 1000; i++) {
    shown = data<Provider>(await house.get(`/providers/${made.id}`, team.key))
  }
  assert.equal(shown.status, 'error')
  assert.match(shown.status_reason!, /^dns: .*nowhere\.example\.test/)
  assert.equal(shown.last_tested_at, '2030-01-02T03:04:05.000Z')
})

test('one repetition with the same key makes one account', async () => {
  const headers = { 'idempotency-key': 'once' }
  const post = () => house.call('POST', '/providers', team.key, BODY, headers)
  const [first, second] = [data<Provider>(await post(), 201), data<Provider>(await post(), 201)]
  assert.equal(first.id, second.id)
})

test('an account is switched off and on', async () => {
  const made = data<Provider>(await create(), 201)
  const off = data<Provider>(await act(made.id, 'deactivate'))
  assert.deepEqual(
    [off.status, off.allowed_actions.activate, off.allowed_actions.deactivate],
    ['inactive', true, false],
  )
  failure(await act(made.id, 'deactivate'), 409, 'conflict')
  assert.equal(data<Provider>(await change(made.id, { smtp_port: 465 })).status, 'inactive')
  assert.equal(data<Provider>(await act(made.id, 'activate')).status, 'pending')
})

test('an account that a group or a mailbox names cannot be ended', async () => {
  const made = data<Provider>(await create(), 201)
  const members = [{ provider_id: made.id }]
  const group = data<{ id: string }>(
    await house.call('POST', '/delivery-groups', team.key, { name: 'All', members }),
    201,
  )
  const remove = () => house.call('DELETE', `/providers/${made.id}`, team.key)
  issues(await remove(), 409, 'conflict', ['members in_use'])
  assert.match(failure(await remove(), 409, 'conflict').message, /the delivery group All\.$/)
  data(await house.call('DELETE', `/delivery-groups/${group.id}`, team.key))
  await team.domain('shop.test')
  const send_scope = { type: 'providers', provider_public_ids: [made.id] }
  const box = data<{ id: string }>(
    await house.call('POST', '/mailboxes', team.key, { email: 'ana@shop.test', send_scope }),
    201,
  )
  issues(await remove(), 409, 'conflict', ['send_scope in_use'])
  assert.match(failure(await remove(), 409, 'conflict').message, /the send_scope of ana@shop\.test\.$/)
  await house.app.directory.mailboxes.delete(team.id, box.id)
  assert.deepEqual(data(await remove()), { deleted: true, id: made.id })
  failure(await house.get(`/providers/${made.id}`, team.key), 404, 'not_found')
})

test('lists are filtered, and counted', async () => {
  const all = await walk<Provider>(house, '/providers', team.key)
  const inactive = await walk<Provider>(house, '/providers?status=inactive&type=smtp', team.key)
  const stats = data<{ total: number; inactive: number; by_type: { smtp: number } }>(
    await house.get('/providers/stats', team.key),
  )
  assert.deepEqual([stats.total, stats.by_type.smtp, stats.inactive], [all.length, all.length, inactive.length])
  assert.equal((await walk(house, '/providers', other.key)).length, 0)
})
