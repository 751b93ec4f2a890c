// Folders over the API: create, move and delete, and the messages in deleted ones.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, receive } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  appliance.call(method, `/mailbox/folders${path}`, ana.key, body, headers)
const make = async (name: string, parent: string | null = null) =>
  data<FolderJson>(await call('POST', '', { name, parent_id: parent }), 201)
const role = async (name: string) => data<FolderJson[]>(await call('GET', `?role=${name}`))[0]!

test('folders are created inside others, with unique names, at most ten deep', async () => {
  const work = await make('Work')
  const year = await make('2030', work.id)
  assert.deepEqual([year.path, year.parent_id, year.role], ['Work/2030', work.id, null])
  failure(await call('POST', '', { name: '2030', parent_id: work.id }), 409, 'conflict')
  // The same letters in another form are the same name.
  await make('Caf\u00e9')
  failure(await call('POST', '', { name: 'Cafe\u0301' }), 409, 'conflict')
  for (const name of ['a/b', '..', 'a\u0000', '\ud800']) {
    assert.ok([400, 422].includes((await call('POST', '', { name })).status), name)
  }
  issues(await call('POST', '', { name: 'x', parent_id: `fld_${'a'.repeat(24)}` }), 422, 'validation_error', [
    'parent_id not_found',
  ])
  let parent = year.id
  for (let depth = 3; depth <= 10; depth++) parent = (await make(`d${depth}`, parent)).id
  issues(await call('POST', '', { name: 'too deep', parent_id: parent }), 422, 'validation_error', [
    'parent_id too_big',
  ])
})

test('a folder is renamed and moved, never into itself; role folders stay; of fifty concurrent changes with one ETag one wins', async () => {
  const one = await make('One')
  const two = await make('Two', one.id)
  const inbox = await role('inbox')
  issues(await call('PATCH', `/${one.id}`, { parent_id: two.id }), 422, 'validation_error', [
    'parent_id forbidden_value',
  ])
  assert.equal(data<FolderJson>(await call('PATCH', `/${two.id}`, { parent_id: null, name: 'Zwei' })).path, 'Zwei')
  failure(await call('PATCH', `/${two.id}`, { name: 'One' }), 409, 'conflict')
  failure(await call('PATCH', `/${inbox.id}`, { name: 'Eingang' }), 409, 'conflict')
  assert.equal(
    data<FolderJson>(await call('PATCH', `/${inbox.id}`, { is_subscribed: false, sort_order: 5 })).sort_order,
    5,
  )
  const tag = etagOf(await call('GET', `/${two.id}`))
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) => call('PATCH', `/${two.id}`, { name: `n${n}` }, { 'if-match': tag })),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
})

test('no top-level folder shadows the Inbox, in any letter case', async () => {
  const outer = await make('Outer')
  const inner = await make('inbox', outer.id)
  failure(await call('POST', '', { name: 'INBOX' }), 409, 'conflict')
  failure(await call('PATCH', `/${outer.id}`, { name: 'iNbOx' }), 409, 'conflict')
  failure(await call('PATCH', `/${inner.id}`, { parent_id: null }), 409, 'conflict')
  const inbox = await role('inbox')
  assert.equal(data<FolderJson>(await call('PATCH', `/${inbox.id}`, { sort_order: 3 })).sort_order, 3)
})

test('a folder with messages is deleted in three ways, and the changes report it', async () => {
  const since = data<Json>(await appliance.get('/mailbox/session', ana.key)).states.folders
  const [keep, drop] = [await make('Keep'), await make('Drop')]
  await receive(appliance, { to: ana.email, subject: 'one' })
  await receive(appliance, { to: ana.email, subject: 'two' })
  const ids = data<Json[]>(await appliance.get('/mailbox/messages', ana.key)).map(({ id }) => id)
  const both = { ids, set_folder_ids: [keep.id, drop.id] }
  data(await appliance.call('POST', '/mailbox/messages/batch-update', ana.key, both))
  failure(await call('DELETE', `/${keep.id}`), 409, 'conflict')
  assert.equal(data<Json>(await call('DELETE', `/${keep.id}?on_messages=delete`)).moved, 2)
  assert.equal(data<Json>(await appliance.get('/mailbox/messages/count', ana.key)).count, 2, 'they lay elsewhere too')
  assert.equal(data<Json>(await call('DELETE', `/${drop.id}?on_messages=trash`)).moved, 2)
  assert.equal((await role('trash')).total_messages, 2)
  const last = await make('Last')
  data(await appliance.call('POST', '/mailbox/messages/batch-update', ana.key, { ids, set_folder_ids: [last.id] }))
  assert.equal(data<Json>(await call('DELETE', `/${last.id}?on_messages=delete`)).moved, 2)
  assert.equal(data<Json>(await appliance.get('/mailbox/messages/count?in_trash_or_junk=true', ana.key)).count, 0)
  failure(await call('DELETE', `/${(await role('inbox')).id}`), 409, 'conflict')
  failure(await call('DELETE', `/${last.id}`), 404, 'not_found')
  const reported = data<Json>(await call('GET', `/changes?since_state=${since}`))
  assert.ok(
    !reported.created.includes(last.id) && !reported.destroyed.includes(last.id),
    'a folder created and deleted in between is not reported',
  )
  assert.ok(reported.updated.includes((await role('trash')).id))
})
