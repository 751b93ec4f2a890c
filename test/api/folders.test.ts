// The folders of a mailbox over the API.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, issues, receive, success, walk } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

test('a mailbox has its six folders, in order, paged', async () => {
  const folders = await walk<FolderJson>(appliance, '/mailbox/folders?limit=4', ana.key)
  assert.deepEqual(
    folders.map((folder) => [folder.role, folder.path, folder.total_messages]),
    [
      ['inbox', 'Inbox', 0],
      ['drafts', 'Drafts', 0],
      ['sent', 'Sent', 0],
      ['junk', 'Junk', 0],
      ['trash', 'Trash', 0],
      ['archive', 'Archive', 0],
    ],
  )
})

test('counts and the state of the folders follow changes of messages', async () => {
  const before = await appliance.get('/mailbox/folders', ana.key)
  await receive(appliance, { to: ana.email, id: 'one@client.test' })
  await receive(appliance, { to: ana.email, more: ['In-Reply-To: <one@client.test>'] })
  const reply = await appliance.get('/mailbox/folders?role=inbox', ana.key)
  const {
    data: [inbox],
    meta,
  } = success<FolderJson[]>(reply)
  const { total_messages, unread_messages, total_threads, unread_threads } = inbox!
  assert.deepEqual([total_messages, unread_messages, total_threads, unread_threads], [2, 2, 1, 1])
  assert.notEqual(meta.state, success<FolderJson[]>(before).meta.state)
})

test('a folder has an ETag that changes with its counts', async () => {
  const [inbox] = data<FolderJson[]>(await appliance.get('/mailbox/folders?role=inbox', ana.key))
  const path = `/mailbox/folders/${inbox!.id}`
  const first = await appliance.get(path, ana.key)
  assert.deepEqual(data<FolderJson>(first), inbox)
  const etag = etagOf(first)
  assert.equal((await appliance.get(path, ana.key, { 'if-none-match': `"x", ${etag}` })).status, 304)
  await receive(appliance, { to: ana.email })
  assert.equal((await appliance.get(path, ana.key, { 'if-none-match': etag })).status, 200)
})

test('a folder of another mailbox is not found', async () => {
  const [foreign] = data<FolderJson[]>(await appliance.get('/mailbox/folders', bob.key))
  for (const id of [foreign!.id, newId('folder')]) {
    const missing = failure(await appliance.get(`/mailbox/folders/${id}`, ana.key), 404, 'not_found')
    assert.equal(missing.message, 'There is no such folder.')
    failure(await appliance.get(`/mailbox/folders?parent_id=${id}`, ana.key), 404, 'not_found')
  }
  const [own] = data<FolderJson[]>(await appliance.get('/mailbox/folders', ana.key))
  assert.deepEqual(data(await appliance.get(`/mailbox/folders?parent_id=${own!.id}`, ana.key)), [])
})

test('an invalid role or id is reported by name', async () => {
  issues(await appliance.get('/mailbox/folders?role=spam', ana.key), 400, 'invalid_parameter', ['role invalid_enum'])
  const wrongId = await appliance.get('/mailbox/folders?parent_id=fld_x', ana.key)
  issues(wrongId, 400, 'invalid_parameter', ['parent_id invalid_format'])
})
