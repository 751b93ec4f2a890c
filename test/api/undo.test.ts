// Changes of threads that are undone: folders, keywords, what the spam filter was taught, and what was changed since.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { UNDO_MS, UNDO_RECORDS_MAX } from '../../src/store/messages/undo-records.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, receive } from './expect.ts'

const clock = new ManualClock(Date.now())
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
const folders = data<FolderJson[]>(await appliance.get('/mailbox/folders', ana.key))
const idOf = (role: string) => folders.find((folder) => folder.role === role)!.id

async function arrive(subject: string): Promise<MessageSummaryJson> {
  await receive(appliance, { to: ana.email, subject })
  const [message] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))
  return message!
}

const read = async (id: string) => data<MessageSummaryJson>(await appliance.get(`/mailbox/messages/${id}`, ana.key))
const change = (body: Json, headers = {}) =>
  appliance.call('POST', '/mailbox/threads/batch-update', ana.key, body, headers)
const changeMessage = (id: string, body: Json) =>
  appliance.call('POST', '/mailbox/messages/batch-update', ana.key, { ids: [id], ...body })
const undo = (id: string, key = ana.key, headers = {}) =>
  appliance.call('POST', `/mailbox/undo/${id}`, key, undefined, headers)

test('folders and keywords of unchanged messages come back; changed and deleted ones are listed and stay', async () => {
  const [one, two, three] = [await arrive('One'), await arrive('Two'), await arrive('Three')]
  const ids = [one, two, three].map(({ thread_id }) => thread_id)
  const made = data<Json>(await change({ ids, set_folder_ids: [idOf('archive')], add_keywords: ['$seen', 'done'] }))
  assert.deepEqual((await read(one.id)).folder_ids, [idOf('archive')])
  data(await changeMessage(two.id, { add_keywords: ['later'] }))
  data(await appliance.call('DELETE', `/mailbox/messages/${three.id}?permanent=true`, ana.key))
  const undone = data<Json>(await undo(made.undo_id))
  assert.deepEqual(undone.restored, [one.id])
  assert.deepEqual(
    undone.not_restored.map(({ id, code }: Json) => [id, code]).sort(),
    [
      [two.id, 'conflict'],
      [three.id, 'not_found'],
    ].sort(),
  )
  const { folder_ids, keywords } = await read(one.id)
  assert.deepEqual([folder_ids, keywords], [one.folder_ids, one.keywords])
  assert.deepEqual((await read(two.id)).folder_ids, [idOf('archive')])
  failure(await undo(made.undo_id), 404, 'not_found')
})

test('a change that changes nothing has nothing to undo', async () => {
  const { thread_id } = await arrive('Nothing')
  assert.equal(data<Json>(await change({ ids: [thread_id], remove_keywords: ['absent'] })).undo_id, null)
})

test('what Junk taught the filter is taken back, and what was said before is said again', async () => {
  const { id, thread_id } = await arrive('Offer')
  const label = async () =>
    data<Json>(await appliance.call('POST', `/mailbox/messages/${id}/classify`, ana.key, { as: 'none' })).previous_label
  const junk = data<Json>(await change({ ids: [thread_id], add_keywords: ['$junk'] }))
  assert.deepEqual((await read(id)).folder_ids, [idOf('junk')])
  data(await undo(junk.undo_id))
  assert.deepEqual((await read(id)).folder_ids, [idOf('inbox')])
  assert.equal(await label(), null)
  data(await appliance.call('POST', `/mailbox/messages/${id}/classify`, ana.key, { as: 'ham' }))
  const again = data<Json>(await change({ ids: [thread_id], add_keywords: ['$junk'] }))
  data(await undo(again.undo_id))
  assert.equal(await label(), 'ham')
})

test('with an Idempotency-Key a change and its undoing happen once, and the answers are the same', async () => {
  const { id, thread_id } = await arrive('Once')
  const key = { 'idempotency-key': 'action-1' }
  const body = { ids: [thread_id], set_folder_ids: [idOf('archive')] }
  const first = data<Json>(await change(body, key))
  data(await changeMessage(id, { set_folder_ids: [idOf('inbox')] }))
  assert.deepEqual(data<Json>(await change(body, key)), first)
  assert.deepEqual((await read(id)).folder_ids, [idOf('inbox')], 'not repeated')
  const undone = { 'idempotency-key': 'undo-1' }
  const outcome = data<Json>(await undo(first.undo_id, ana.key, undone))
  assert.equal(outcome.not_restored[0].code, 'conflict')
  assert.deepEqual(data<Json>(await undo(first.undo_id, ana.key, undone)), outcome)
})

test('a change can be undone for a day, by its mailbox, and a mailbox keeps a bounded number', async () => {
  const { thread_id } = await arrive('Bounds')
  const flag = async (flagged: boolean) => data<Json>(await change({ ids: [thread_id], flags: { flagged } })).undo_id
  const first = await flag(true)
  failure(await undo(first, bob.key), 404, 'not_found')
  for (let at = 0; at < UNDO_RECORDS_MAX; at++) await flag(at % 2 === 1)
  failure(await undo(first), 404, 'not_found')
  const last = await flag(false)
  clock.advance(UNDO_MS)
  failure(await undo(last), 404, 'not_found')
  await appliance.app.store.edit.undo.expire(new AbortController().signal)
  assert.equal(appliance.app.db.read.get<{ count: number }>('SELECT count(*) AS count FROM undo_records')!.count, 0)
})
