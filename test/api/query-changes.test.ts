// Changes of lists over the API since a state, of messages and of folders.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data, failure, issues, receive, success } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const get = (path: string) => appliance.get(`/mailbox/${path}`, ana.key)

async function list(type: 'messages' | 'folders', query: string): Promise<{ ids: string[]; state: string }> {
  const { data: items, meta } = success<{ id: string }[]>(await get(`${type}?${query}&limit=100`))
  return { ids: items.map(({ id }) => id), state: meta.query_state! }
}

/** Applies changes to a list as a client does. */
function apply(ids: string[], reported: Json): string[] {
  const held = ids.filter((id) => !reported.removed.includes(id))
  for (const { id, index } of reported.added) held.splice(index, 0, id)
  return held
}

for (const subject of ['One', 'Two', 'Three'])
  await receive(appliance, { to: ana.email, subject, id: `${subject}@else.test` })
const ids = (await list('messages', 'sort_direction=asc')).ids

test('changes of a list: removed entries and new positions, by type and combined', async () => {
  const before = await list('messages', 'is_unread=true')
  await receive(appliance, { to: ana.email, subject: 'Four' })
  await appliance.call('PATCH', `/mailbox/messages/${ids[1]}/keywords`, ana.key, { add: ['$seen'] })
  const query = `is_unread=true&since_query_state=${before.state}`
  const reported = data<Json>(await get(`messages/query-changes?${query}`))
  const now = await list('messages', 'is_unread=true')
  assert.deepEqual(apply(before.ids, reported), now.ids)
  assert.deepEqual([reported.old_query_state, reported.new_query_state, reported.total], [before.state, now.state, 3])
  assert.deepEqual(data(await get(`sync/query-changes?type=messages&${query}`)), reported)
  const unchanged = data<Json>(await get(`messages/query-changes?is_unread=true&since_query_state=${now.state}`))
  assert.deepEqual([unchanged.removed, unchanged.added, unchanged.total], [[], [], 3])
})

test('a list of threads follows the message that represents each thread', async () => {
  const query = 'collapse_threads=true&sort_direction=desc'
  const before = await list('messages', query)
  await receive(appliance, { to: ana.email, subject: 'Re: One', more: ['In-Reply-To: <One@else.test>'] })
  const reported = data<Json>(await get(`messages/query-changes?${query}&since_query_state=${before.state}`))
  const now = await list('messages', query)
  assert.equal(now.ids.length, before.ids.length)
  assert.deepEqual(apply(before.ids, reported), now.ids)
  assert.equal(reported.total, now.ids.length)
})

test('changes of another mailbox are not reported, although it reuses the number of a deleted thread', async () => {
  const other = await appliance.team('Other')
  await other.domain('others.test')
  const eve = await other.mailbox('eve@others.test')
  await receive(appliance, { to: ana.email, subject: 'Short-lived' })
  const query = 'collapse_threads=true&sort_direction=desc'
  const before = await list('messages', query)
  await appliance.call('DELETE', `/mailbox/messages/${before.ids[0]}?permanent=true`, ana.key)
  await receive(appliance, { to: eve.email, subject: 'None of hers' })
  const reported = data<Json>(await get(`messages/query-changes?${query}&since_query_state=${before.state}`))
  assert.deepEqual([reported.removed, reported.added], [[before.ids[0]], []])
})

test('entries after up_to_id are not reported', async () => {
  const before = await list('messages', '')
  for (const id of [before.ids[0], before.ids.at(-1)]) {
    await appliance.call('PATCH', `/mailbox/messages/${id}/keywords`, ana.key, { add: ['later'] })
  }
  const asked = `messages/query-changes?since_query_state=${before.state}`
  const reported = data<Json>(await get(`${asked}&up_to_id=${before.ids[1]}`))
  assert.deepEqual([reported.removed.length, reported.added], [2, [{ id: before.ids[0], index: 0 }]])
  // An id that names nothing bounds nothing.
  assert.equal(data<Json>(await get(`${asked}&up_to_id=${newId('message')}`)).added.length, 2)
})

test('changes of a folder list', async () => {
  const before = await list('folders', '')
  const made = data<Json>(
    await appliance.call('POST', '/mailbox/folders', ana.key, { name: 'First', sort_order: 1 }),
    201,
  )
  const query = `since_query_state=${before.state}`
  const reported = data<Json>(await get(`folders/query-changes?${query}`))
  const now = await list('folders', '')
  assert.deepEqual(apply(before.ids, reported), now.ids)
  assert.deepEqual(
    [reported.added, reported.total, reported.new_query_state],
    [[{ id: made.id, index: 0 }], now.ids.length, now.state],
  )
  assert.deepEqual(data(await get(`sync/query-changes?type=folders&${query}`)), reported)
  const inside = await list('folders', `parent_id=${made.id}`)
  await appliance.call('PATCH', `/mailbox/folders/${made.id}`, ana.key, { name: 'Second' })
  const below = data<Json>(await get(`folders/query-changes?parent_id=${made.id}&since_query_state=${inside.state}`))
  assert.deepEqual([below.removed, below.added, below.total], [[made.id], [], 0])
  failure(await get(`folders/query-changes?parent_id=${newId('folder')}&${query}`), 404, 'not_found')
})

test('the state of a list depends on its filters and its order, however they are written', async () => {
  const { state } = await list('messages', '')
  for (const same of ['sort=received_at', 'sort_direction=desc', 'collapse_threads=false', 'in_trash_or_junk=false']) {
    assert.equal((await list('messages', same)).state, state, same)
    data(await get(`messages/query-changes?${same}&since_query_state=${state}`))
  }
  for (const other of ['sort=size', 'sort_direction=asc', 'collapse_threads=true', 'is_unread=false', 'q=x']) {
    const reply = await get(`messages/query-changes?${other}&since_query_state=${state}`)
    issues(reply, 400, 'invalid_parameter', ['since_query_state forbidden_value'])
  }
})

test('a malformed or future state, or a list that depends on the time, must be fetched again', async () => {
  const { state } = await list('messages', '')
  const [, filters] = state.split('.')
  const gone = async (query: string, type = 'messages') => {
    const error = failure(await get(`${type}/query-changes?${query}`), 409, 'conflict')
    assert.equal(error.param, 'since_query_state')
  }
  for (const none of ['x', 'm0', `mzzzz.${filters}`, `f0.${filters}`, `${state}.00000000`]) {
    await gone(`since_query_state=${none}`)
  }
  await gone('since_query_state=x', 'folders')
  const young = await list('messages', 'q=newer_than:1d')
  await gone(`q=newer_than:1d&since_query_state=${young.state}`)
  // More changes than were asked for.
  for (let i = 0; i < 3; i++) await receive(appliance, { to: ana.email })
  await gone(`limit=2&since_query_state=${state}`)
  assert.equal(data<Json>(await get(`messages/query-changes?limit=3&since_query_state=${state}`)).added.length, 3)
  failure(await get('messages/query-changes'), 400, 'missing_parameter')
})

test('a list by the name of a folder must be fetched again when the name means another folder', async () => {
  const { id } = data<Json>(await appliance.call('POST', '/mailbox/folders', ana.key, { name: 'Plans' }), 201)
  const before = await list('messages', 'q=in:Plans')
  await appliance.call('PATCH', `/mailbox/messages/${ids[0]}`, ana.key, { folder_ids: [id] })
  const asked = `messages/query-changes?q=in:Plans&since_query_state=${before.state}`
  assert.deepEqual(data<Json>(await get(asked)).added, [{ id: ids[0], index: 0 }])
  await appliance.call('PATCH', `/mailbox/folders/${id}`, ana.key, { name: 'Plots' })
  failure(await get(asked), 409, 'conflict')
})

test('the session shows that lists have changes', async () => {
  const { capabilities, endpoints } = data<Json>(await get('session'))
  assert.deepEqual(
    [capabilities.messages.query_changes, capabilities.folders.query_changes, capabilities.sync.query_changes],
    [true, true, ['messages', 'folders', 'threads']],
  )
  assert.ok(endpoints.sync.includes('GET /mailbox/sync/query-changes'))
})
