// Updates of messages over the API: keywords, folders, Trash, deletion; permissions and errors.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, receive } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
let folders: Map<string, string>
let ids: string[]

before(async () => {
  const all = data<FolderJson[]>(await appliance.get('/mailbox/folders', ana.key))
  folders = new Map(all.map(({ role, id }) => [role!, id]))
  for (let n = 0; n < 4; n++) {
    clock.advance(1000)
    await receive(appliance, { to: ana.email, subject: `Mail ${n}`, text: `word${n}` })
  }
  ids = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', ana.key)).map(({ id }) => id)
})

const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  appliance.call(method, `/mailbox/messages${path}`, ana.key, body, headers)
const counts = async (role: string) => {
  const { total_messages: all, unread_messages: unread } = data<FolderJson>(
    await appliance.get(`/mailbox/folders/${folders.get(role)}`, ana.key),
  )
  return [all, unread]
}

test('keywords are added, removed and set, and the flags follow', async () => {
  const path = `/${ids[0]}/keywords`
  const added = data<Json>(await call('PATCH', path, { add: ['$Seen', 'Work'] }))
  assert.deepEqual([added.keywords, added.flags.seen], [['$seen', 'work'], true])
  assert.deepEqual(await counts('inbox'), [4, 3])
  assert.deepEqual(data<Json>(await call('PATCH', path, { remove: ['work'], add: ['$flagged'] })).keywords, [
    '$flagged',
    '$seen',
  ])
  assert.deepEqual(data<Json>(await call('PATCH', path, { set: [] })).keywords, [])
  issues(await call('PATCH', path, { set: [], add: ['x'] }), 422, 'validation_error', ['set forbidden_value'])
  failure(await call('PATCH', path, { add: ['a b'] }), 422, 'validation_error')
  failure(await call('PATCH', path, { add: Array.from({ length: 51 }, (_, n) => `k${n}`) }), 422, 'validation_error')
  const many = Array.from({ length: 100 }, (_, n) => `k${n}`)
  data(await call('PATCH', path, { set: many }))
  issues(await call('PATCH', path, { add: ['one'] }), 422, 'validation_error', ['add forbidden_value'])
  const flagged = await call('PATCH', `/${ids[0]}`, { flags: { seen: true } })
  issues(flagged, 422, 'validation_error', ['flags forbidden_value'])
  const both = await call('PATCH', `/${ids[0]}`, { keywords: many, flags: { seen: true } })
  issues(both, 422, 'validation_error', ['keywords forbidden_value'])
  const foreign = await call('PATCH', `/${ids[0]}`, { folder_ids: [`fld_${'a'.repeat(24)}`] })
  issues(foreign, 422, 'validation_error', ['folder_ids forbidden_value'])
  data(await call('PATCH', path, { set: [] }))
  failure(await call('PATCH', `/msg_${'a'.repeat(24)}/keywords`, { add: ['x'] }), 404, 'not_found')
  const junk = data<Json>(await call('PATCH', path, { add: ['$junk'] }))
  assert.deepEqual(junk.keywords, ['$junk'])
  assert.deepEqual(await counts('junk'), [1, 1])
  assert.deepEqual(data<Json>(await call('PATCH', path, { add: ['$notjunk'] })).keywords, ['$notjunk'])
  assert.deepEqual(
    [await counts('junk'), await counts('inbox')],
    [
      [0, 0],
      [4, 4],
    ],
  )
})

test('a message is updated in the version that was read; of fifty concurrent updates with the same ETag one wins', async () => {
  const path = `/${ids[1]}`
  const archive = folders.get('archive')!
  const moved = await call('PATCH', path, { flags: { seen: true }, folder_ids: [archive] })
  assert.deepEqual(data<MessageSummaryJson>(moved).folder_ids, [archive])
  const tag = etagOf(moved)
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) => call('PATCH', path, { keywords: [`k${n}`] }, { 'if-match': tag })),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies) if (reply.status !== 200) failure(reply, 409, 'conflict')
  issues(await call('PATCH', path, { folder_ids: [] }), 422, 'validation_error', ['folder_ids too_small'])
  failure(await call('PATCH', path, { folder_ids: [`fld_${'a'.repeat(24)}`] }), 422, 'validation_error')
  failure(await call('PATCH', path, {}), 422, 'validation_error')
})

test('the ETag of a message permits its update and deletion until it has changed', async () => {
  const path = `/${ids[3]}`
  const tag = { 'if-match': etagOf(await call('GET', path)) }
  data(await call('PATCH', path, { keywords: ['read'] }, tag))
  failure(await call('PATCH', path, { keywords: ['late'] }, tag), 409, 'conflict')
  for (const end of [path, `${path}?permanent=true`]) {
    failure(await call('DELETE', end, undefined, tag), 409, 'conflict')
  }
  const fresh = { 'if-match': etagOf(await call('GET', path)) }
  data(await call('DELETE', path, undefined, fresh))
  data(await call('PATCH', path, { folder_ids: [folders.get('inbox')!] }))
  data(await call('PATCH', path, { keywords: [] }))
})

test('many are updated at once, each independently', async () => {
  const unknown = `msg_${'b'.repeat(24)}`
  const inbox = folders.get('inbox')!
  const body = { ids: [ids[1], ids[2], unknown], add_keywords: ['later'], remove_folder_ids: [inbox] }
  const done = data<Json>(await call('POST', '/batch-update', body))
  assert.deepEqual([done.updated, done.not_found], [[ids[1]], [unknown]])
  assert.deepEqual(
    done.not_updated.map(({ id, code }: Json) => [id, code]),
    [[ids[2], 'validation_error']],
  )
  const both = { ids, set_folder_ids: [inbox], add_folder_ids: [inbox] }
  issues(await call('POST', '/batch-update', both), 422, 'validation_error', ['set_folder_ids forbidden_value'])
  failure(await call('POST', '/batch-update', { ids: [ids[0], ids[0]] }), 422, 'validation_error')
})

test('changes list the messages to fetch again; several messages are read at once, and counted', async () => {
  const { messages: since } = data<Json>(await appliance.get('/mailbox/session', ana.key)).states
  await call('PATCH', `/${ids[2]}/keywords`, { add: ['$seen'] })
  await receive(appliance, { to: ana.email, subject: 'New' })
  const reported = data<Json>(await call('GET', `/changes?since_state=${since}`))
  assert.deepEqual(
    [reported.updated, reported.created.length, reported.destroyed, reported.total],
    [[ids[2]], 1, [], 2],
  )
  assert.equal(reported.has_more_changes, false)
  const page = data<Json>(await call('GET', `/changes?since_state=${since}&limit=1`))
  assert.equal(page.has_more_changes, true)
  assert.equal(
    data<Json>(await appliance.get(`/mailbox/threads/changes?since_state=${since.replace('m', 't')}`, ana.key)).total,
    2,
  )
  for (const state of ['m0zzzz', 'x1', 'm'])
    failure(await call('GET', `/changes?since_state=${state}`), 409, 'conflict')
  failure(await call('GET', '/changes'), 400, 'missing_parameter')
  const batch = data<Json>(await call('POST', '/batch-get', { ids: [ids[2], `msg_${'c'.repeat(24)}`], body_chars: 4 }))
  assert.deepEqual([batch.list[0].text_body, batch.list[0].body_truncated.text], ['word', true])
  assert.deepEqual(batch.not_found, [`msg_${'c'.repeat(24)}`])
  const all = data<Json>(await call('GET', '/count'))
  assert.equal(all.count, 5)
  assert.ok(all.total_size_bytes > 500)
  assert.equal(data<Json>(await call('GET', '/count?q=word2')).count, 1)
  assert.equal(data<Json>(await call('GET', '/count?is_unread=true')).count, all.unread_count)
  assert.equal(data<Json>(await call('GET', `/count?folder_id=${folders.get('archive')}`)).count, 1)
})

test('deleting moves to Trash and is idempotent; permanent deletion needs the scope', async () => {
  const gone = data<Json>(await call('DELETE', `/${ids[0]}`))
  assert.deepEqual(gone, { deleted: true, id: ids[0], permanent: false })
  assert.deepEqual(data<Json>(await call('DELETE', `/${ids[0]}`)), gone)
  assert.deepEqual((await counts('trash'))[0], 1)
  const { key } = data<{ key: string }>(
    await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, {
      name: 'x',
      permissions: ['mailbox.read', 'email.receive'],
    }),
    201,
  )
  const erase = `/mailbox/messages/${ids[0]}?permanent=true`
  failure(await appliance.call('DELETE', erase, key), 403, 'insufficient_permissions')
  const { used_bytes: before } = await usage()
  assert.deepEqual(data<Json>(await appliance.call('DELETE', erase, ana.key)), {
    deleted: true,
    id: ids[0],
    permanent: true,
  })
  failure(await appliance.call('DELETE', erase, ana.key), 404, 'not_found')
  failure(await call('GET', `/${ids[0]}`), 404, 'not_found')
  assert.ok((await usage()).used_bytes < before)
  assert.deepEqual(await counts('trash'), [0, 0])
})

async function usage(): Promise<{ used_bytes: number }> {
  return { used_bytes: data<Json>(await appliance.get('/mailbox/me', ana.key)).quota_used_bytes }
}

test('a suspended mailbox can be read, not changed', async () => {
  await appliance.app.directory.mailboxes.suspend(team.id, ana.id)
  assert.equal((await call('GET', `/${ids[2]}`)).status, 200)
  failure(await call('PATCH', `/${ids[2]}/keywords`, { add: ['x'] }), 409, 'conflict')
  failure(await call('DELETE', `/${ids[2]}`), 409, 'conflict')
  await appliance.app.directory.mailboxes.reactivate(team.id, ana.id)
})
