// Quotas and usage: counts, warning limits, and changes.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, receive, receiveRaw } from './expect.ts'

const HOUR_MS = 3_600_000
const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { ...EASY_WORK, AGENT_SEND_DAILY: '7' } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
await team.mailbox('carl@shop.test')
await team.mailbox('dora@shop.test')
let made = 0
let ana: { id: string; email: string; key: string }

beforeEach(async () => {
  ana = await team.mailbox(`ana${++made}@shop.test`)
})

const get = async (path: string) => data<Json>(await appliance.get(`/mailbox${path}`, ana.key))
const quotas = async () => Object.fromEntries((await get('/quotas')).map((quota: Json) => [quota.name, quota]))
const change = (id: string, body: object) => appliance.call('PATCH', `/mailbox/quotas/${id}`, ana.key, body)
const states = async () => (await get('/session')).states
const send = (more: object = {}) =>
  appliance.call('POST', '/mailbox/messages/send', ana.key, {
    ...{
      to: [{ email: 'carl@shop.test' }, { email: 'dora@shop.test' }],
      subject: 'Hello',
      text_body: 'Hello',
      ...more,
    },
  })

const withFile = [
  'From: bob@else.test\r\nTo: ana@shop.test\r\nSubject: file\r\nMIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b\r\n',
  '--b\r\nContent-Type: text/plain\r\n\r\nHello',
  '--b\r\nContent-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\n12345',
  '--b--\r\n',
].join('\r\n')

test('stored, deleted and sent messages are counted, in quotas and usage alike', async () => {
  assert.deepEqual(
    Object.values(await quotas()).map((quota: Json) => [quota.name, quota.resource_type, quota.used, quota.hard_limit]),
    [
      ['storage', 'octets', 0, 5_368_709_120],
      ['messages', 'count', 0, null],
      ['daily_recipients', 'count', 0, null],
    ],
  )
  await receiveRaw(appliance, { from: 'bob@else.test', to: ana.email, content: withFile })
  data(await send({ attachments: [{ filename: 'b.txt', content: 'YWJj' }] }), 202)
  data(await send({ save_to_sent: false }), 202)
  data(await appliance.call('POST', '/mailbox/attachments', ana.key, { filename: 'c.txt', content: 'YWJjZA==' }), 201)
  const usage = await get('/usage')
  const { storage, messages, daily_recipients: recipients } = await quotas()
  const listed: Json[] = await get('/messages')
  assert.equal(
    usage.quota_used_bytes,
    listed.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
  )
  assert.deepEqual([usage.message_count, usage.folder_count, usage.sent_last_24h], [2, 6, 2])
  assert.deepEqual([usage.attachment_bytes, usage.upload_bytes_pending], [8, 4])
  assert.deepEqual([storage.used, messages.used, recipients.used], [usage.quota_used_bytes, 2, 4])
  assert.equal(usage.state, (await states()).quotas)
  for (const { id } of listed) data(await appliance.call('DELETE', `/mailbox/messages/${id}?permanent=true`, ana.key))
  const empty = await get('/usage')
  assert.deepEqual([empty.quota_used_bytes, empty.message_count, empty.attachment_bytes], [0, 0, 0])
  clock.advance(23 * HOUR_MS)
  assert.equal((await get('/usage')).sent_last_24h, 2)
  clock.advance(HOUR_MS)
  assert.deepEqual([(await get('/usage')).sent_last_24h, (await quotas()).daily_recipients.used], [0, 0])
  data(await send(), 202)
  assert.equal((await quotas()).daily_recipients.used, 2)
})

test('the ratio shows the used part, above 1 too', async () => {
  const fill = (bytes: number) =>
    appliance.app.db.write((tx) => tx.run('UPDATE accounts SET used_bytes = ? WHERE mailbox_id = ?', [bytes, ana.id]))
  for (const [bytes, ratio] of [
    [0, 0],
    [1_342_177_280, 0.25],
    [8_053_063_680, 1.5],
  ] as const) {
    await fill(bytes)
    assert.equal((await get('/usage')).quota_used_ratio, ratio)
  }
})

test('warning limits are ordered, and clients cannot set the hard limit', async () => {
  const { storage, messages } = await quotas()
  const ordered = data<Json>(await change(storage.id, { warn_limit: 1000, soft_limit: 2000 }))
  assert.deepEqual([ordered.warn_limit, ordered.soft_limit, ordered.name], [1000, 2000, 'storage'])
  for (const [body, wrong] of [
    [{ warn_limit: 2000 }, 'warn_limit too_big'],
    [{ soft_limit: 1000 }, 'warn_limit too_big'],
    [{ soft_limit: 5_368_709_120 }, 'soft_limit too_big'],
    [{ soft_limit: null, warn_limit: 5_368_709_120 }, 'warn_limit too_big'],
    [{ hard_limit: 1 }, 'hard_limit unknown_field'],
    [{ warn_limit: 0 }, 'warn_limit too_small'],
  ] as const) {
    issues(await change(storage.id, body), 422, 'validation_error', [wrong])
  }
  assert.deepEqual([(await quotas()).storage.warn_limit, (await quotas()).storage.soft_limit], [1000, 2000])
  data(await change(storage.id, { warn_limit: null }))
  assert.equal((await quotas()).storage.warn_limit, null)
  // Without a bound of the appliance any number goes.
  data(await change(messages.id, { soft_limit: Number.MAX_SAFE_INTEGER }))
  const other = await team.mailbox(`other${made}@shop.test`)
  failure(
    await appliance.call('PATCH', `/mailbox/quotas/${storage.id}`, other.key, { warn_limit: 1 }),
    404,
    'not_found',
  )
})

test('the state changes with usage, and shows when nothing else changed', async () => {
  const ids = (await get('/quotas')).map(({ id }: Json) => id)
  const changes = (since: string) => get(`/quotas/changes?since_state=${since}`)
  const first = await changes('q0')
  assert.deepEqual([first.created, first.updated, first.updated_properties], [ids, [], null])
  const before = (await states()).quotas
  const none = await changes(before)
  assert.deepEqual([none.updated, none.updated_properties, none.new_state], [[], null, before])
  await receive(appliance, { to: ana.email })
  const used = await changes(before)
  assert.deepEqual([used.updated, used.updated_properties, used.total], [ids, ['used'], 3])
  assert.equal(used.new_state, (await states()).quotas)
  data(await send({ save_to_sent: false }), 202)
  assert.deepEqual((await changes(used.new_state)).updated_properties, ['used'])
  const late = (await states()).quotas
  data(await change(ids[0], { warn_limit: 5 }))
  assert.deepEqual((await changes(late)).updated_properties, null)
  const last = (await states()).quotas
  data(await appliance.call('PATCH', `/mailboxes/${ana.id}`, team.key, { quota_bytes: 10_485_760 }))
  const smaller = await changes(last)
  assert.deepEqual([smaller.updated.includes(ids[0]), smaller.updated_properties], [true, null])
  assert.equal((await quotas()).storage.hard_limit, 10_485_760)
  failure(await appliance.get('/mailbox/quotas/changes?since_state=qzzzz', ana.key), 409, 'conflict')
})

test('folders show when only their counts changed', async () => {
  const counts = ['total_messages', 'unread_messages', 'total_threads', 'unread_threads']
  const changes = (since: string) => get(`/folders/changes?since_state=${since}`)
  const inbox = (await get('/folders?role=inbox'))[0]
  const before = (await states()).folders
  await receive(appliance, { to: ana.email })
  const mail = await changes(before)
  assert.deepEqual([mail.updated, mail.updated_properties], [[inbox.id], counts])
  const [message] = await get('/messages')
  data(await appliance.call('PATCH', `/mailbox/messages/${message.id}`, ana.key, { flags: { seen: true } }))
  assert.deepEqual((await changes(mail.new_state)).updated_properties, counts)
  const late = (await states()).folders
  data(await appliance.call('PATCH', `/mailbox/folders/${inbox.id}`, ana.key, { sort_order: 7 }))
  await receive(appliance, { to: ana.email })
  assert.deepEqual((await changes(late)).updated_properties, null)
  assert.deepEqual((await changes((await states()).folders)).updated_properties, null, 'nothing changed at all')
  const last = (await states()).folders
  await receive(appliance, { to: ana.email })
  assert.deepEqual((await changes(last)).updated_properties, counts)
})

test('an agent has a daily limit', async () => {
  const agent = new AgentClient(appliance)
  const registered = await agent.register()
  const token = await agent.readToken(registered.identity_assertion)
  const listed = data<Json[]>(await appliance.get('/mailbox/quotas', token))
  assert.deepEqual(
    listed.map(({ hard_limit: hard }) => hard),
    [524_288_000, null, 7],
  )
  const [identity] = data<Json[]>(await appliance.get('/mailbox/identities', token))
  assert.deepEqual([identity.email, identity.is_primary], [registered.mailbox.email, true])
  failure(await appliance.call('PATCH', `/mailbox/quotas/${listed[0]!.id}`, token, {}), 403, 'insufficient_permissions')
})
