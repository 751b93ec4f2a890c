// The folders of a mailbox over the API.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Folder } from '../../src/api/schemas/folder.ts'
import { newId } from '../../src/base/ids.ts'
import { startHouse } from '../support/house.ts'
import { data, etagOf, failure, issues, receive, success, walk } from './expect.ts'

const house = await startHouse()
after(() => house.close())
const team = await house.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

test('a mailbox has its six folders, in order, page by page', async () => {
  const folders = await walk<Folder>(house, '/mailbox/folders?limit=4', ana.key)
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

test('counts follow the mail, and the state of the folders with them', async () => {
  const before = await house.get('/mailbox/folders', ana.key)
  await receive(house, { to: ana.email, id: 'one@client.test' })
  await receive(house, { to: ana.email, more: ['In-Reply-To: <one@client.test>'] })
  const reply = await house.get('/mailbox/folders?role=inbox', ana.key)
  const {
    data: [inbox],
    meta,
  } = success<Folder[]>(reply)
  const { total_messages, unread_messages, total_threads, unread_threads } = inbox!
  assert.deepEqual([total_messages, unread_messages, total_threads, unread_threads], [2, 2, 1, 1])
  assert.notEqual(meta.state, success<Folder[]>(before).meta.state)
})

test('one folder carries a tag that changes with its counts', async () => {
  const [inbox] = data<Folder[]>(await house.get('/mailbox/folders?role=inbox', ana.key))
  const path = `/mailbox/folders/${inbox!.id}`
  const first = await house.get(path, ana.key)
  assert.deepEqual(data<Folder>(first), inbox)
  const etag = etagOf(first)
  assert.equal((await house.get(path, ana.key, { 'if-none-match': `"x", ${etag}` })).status, 304)
  await receive(house, { to: ana.email })
  assert.equal((await house.get(path, ana.key, { 'if-none-match': etag })).status, 200)
})

test('a folder of another mailbox is as missing as one that never was', async () => {
  const [foreign] = data<Folder[]>(await house.get('/mailbox/folders', bob.key))
  for (const id of [foreign!.id, newId('folder')]) {
    const missing = failure(await house.get(`/mailbox/folders/${id}`, ana.key), 404, 'not_found')
    assert.equal(missing.message, 'There is no such folder.')
    failure(await house.get(`/mailbox/folders?parent_id=${id}`, ana.key), 404, 'not_found')
  }
  const [own] = data<Folder[]>(await house.get('/mailbox/folders', ana.key))
  assert.deepEqual(data(await house.get(`/mailbox/folders?parent_id=${own!.id}`, ana.key)), [])
})

test('a role or an id that cannot be is told by name', async () => {
  issues(await house.get('/mailbox/folders?role=spam', ana.key), 400, 'invalid_parameter', ['role invalid_enum'])
  const wrongId = await house.get('/mailbox/folders?parent_id=fld_x', ana.key)
  issues(wrongId, 400, 'invalid_parameter', ['parent_id invalid_format'])
})
