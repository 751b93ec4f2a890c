// The events of a team over the API: order, catching up, filters, and other teams.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, walk } from './expect.ts'

const START = Date.UTC(2030, 0, 2, 3, 4, 5)
const clock = new ManualClock(START)
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ben = await team.mailbox('ben@shop.test')
const stranger = await appliance.team('Stranger')

async function send(to: string): Promise<void> {
  const message = { from: 'news@shop.test', to, subject: 'Hello', text_body: 'Hello' }
  data(await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, team.key, message), 202)
  await appliance.settle()
}
const list = (query = '') => walk<Json>(appliance, `/events?${query}`, team.key)

await send(ana.email)
await send(ben.email)

test('events are listed in their order, and each later one once', async () => {
  const all = await list()
  assert.ok(all.length >= 4)
  assert.deepEqual(await list('limit=1'), all)
  const [first] = all
  assert.deepEqual(await list(`after_id=${first!.id}`), all.slice(1))
  assert.deepEqual(await list(`after_id=${all.at(-1)!.id}`), [])
  assert.deepEqual(data(await appliance.get(`/events/${first!.id}`, team.key)), first)
  assert.deepEqual([first!.team_id, first!.api_version, typeof first!.data], [team.id, '1.0.0', 'object'])
  const last = all.at(-1)!.id
  await send(ana.email)
  const later = await list(`after_id=${last}`)
  assert.deepEqual(later.map(({ type }) => type).sort(), ['message.delivered', 'message.received'])
})

test('filters narrow the list', async () => {
  const delivered = await list('type=message.delivered')
  assert.ok(delivered.length >= 2 && delivered.every(({ type }) => type === 'message.delivered'))
  const received = await list(`mailbox_id=${ben.id}`)
  assert.deepEqual(
    received.map(({ type, data: { mailbox_id } }) => [type, mailbox_id]),
    [['message.received', ben.id]],
  )
  assert.deepEqual(await list(`before=${new Date(START).toISOString()}`), [])
  assert.deepEqual(await list(`after=${new Date(START).toISOString()}`), await list())
  issues(await appliance.get('/events?type=message.read', team.key), 400, 'invalid_parameter', ['type invalid_enum'])
})

test('other teams and keys without the permission see none', async () => {
  const [first] = await list()
  assert.deepEqual(await walk(appliance, '/events', stranger.key), [])
  for (const path of [`/events/${first!.id}`, `/events?after_id=${first!.id}`, `/events?mailbox_id=${ana.id}`]) {
    failure(await appliance.get(path, stranger.key), 404, 'not_found')
  }
  const made = await appliance.call('POST', '/api-keys', team.key, { name: 'Logs', permissions: ['logs.read'] })
  failure(await appliance.get('/events', data<Json>(made, 201).key), 403, 'insufficient_permissions')
})
