// Threads that are snoozed and return, and muted threads whose answers go to the Archive.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { ThreadJson } from '../../src/api/schemas/thread.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/durations.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail } from '../support/smtp.ts'
import { data, failure, issues, receive, receiveRaw } from './expect.ts'

const clock = new ManualClock(Date.now())
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
const foldersOf = async (key: string) => data<FolderJson[]>(await appliance.get('/mailbox/folders', key))
const own = await foldersOf(ana.key)
const idOf = (role: string) => own.find((folder) => folder.role === role)!.id

async function arrive(subject: string, more: { to?: string; more?: string[]; id?: string } = {}) {
  clock.advance(1000)
  await receive(appliance, { to: ana.email, subject, ...more })
  return data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))[0]!
}

const thread = async (id: string) => data<ThreadJson>(await appliance.get(`/mailbox/threads/${id}`, ana.key))
const inHours = (hours: number) => new Date(clock.now() + hours * HOUR_MS).toISOString()
const snooze = (id: string, body: Json, key = ana.key) =>
  appliance.call('PUT', `/mailbox/threads/${id}/snooze`, key, body)
const run = () => appliance.app.store.edit.snoozes.endDue(AbortSignal.timeout(60_000))

test('a snoozed thread waits in its folder, and returns unread at its time', async () => {
  const { thread_id: id } = await arrive('Later')
  data(await appliance.call('PATCH', `/mailbox/threads/${id}`, ana.key, { flags: { seen: true } }))
  const until = inHours(2)
  data(await snooze(id, { until }))
  const waiting = await thread(id)
  const snoozed = (await foldersOf(ana.key)).find(({ path }) => path === 'Snoozed')!
  assert.deepEqual([waiting.folder_ids, waiting.snoozed_until], [[snoozed.id], until])
  const [listed] = data<ThreadJson[]>(await appliance.get(`/mailbox/threads?folder_id=${snoozed.id}`, ana.key))
  assert.equal(listed!.snoozed_until, until)
  clock.advance(2 * HOUR_MS - 1)
  assert.equal(await run(), 0)
  clock.advance(1)
  assert.equal(await run(), 1)
  const back = await thread(id)
  assert.deepEqual([back.folder_ids, back.snoozed_until, back.unread_count], [[idOf('inbox')], null, 1])
})

test('a new time replaces the first one, DELETE returns the thread at once, and its undo puts it back', async () => {
  const { thread_id: id } = await arrive('Twice')
  const first = data<Json>(await snooze(id, { until: inHours(1) }))
  const again = data<Json>(await snooze(id, { until: inHours(3) }))
  assert.equal(again.undo_id, null)
  assert.equal((await thread(id)).snoozed_until, again.until)
  const path = `/mailbox/threads/${id}/snooze`
  data(await appliance.call('DELETE', path, ana.key))
  assert.deepEqual([(await thread(id)).folder_ids, (await thread(id)).snoozed_until], [[idOf('inbox')], null])
  failure(await appliance.call('DELETE', path, ana.key), 404, 'not_found')
  assert.notEqual(first.undo_id, null)

  const undo = data<Json>(await snooze(id, { until: inHours(1) })).undo_id
  data(await appliance.call('POST', `/mailbox/undo/${undo}`, ana.key))
  const undone = await thread(id)
  assert.deepEqual([undone.folder_ids, undone.snoozed_until], [[idOf('inbox')], null])
  clock.advance(2 * HOUR_MS)
  await run()
  assert.equal((await thread(id)).unread_count, 1, 'it was unread before')
})

test('a message that joins a snoozed thread brings it back, and one moved elsewhere stays there', async () => {
  const { thread_id: id } = await arrive('Joined', { id: 'joined@a.test' })
  data(await snooze(id, { until: inHours(24) }))
  await arrive('Re: Joined', { more: ['In-Reply-To: <joined@a.test>'] })
  await run()
  assert.deepEqual((await thread(id)).folder_ids, [idOf('inbox')])

  const moved = (await arrive('Moved')).thread_id
  data(await snooze(moved, { until: inHours(1) }))
  data(await appliance.call('PATCH', `/mailbox/threads/${moved}`, ana.key, { set_folder_ids: [idOf('archive')] }))
  assert.equal((await thread(moved)).snoozed_until, null)
  clock.advance(DAY_MS)
  await run()
  assert.deepEqual((await thread(moved)).folder_ids, [idOf('archive')])
})

test('a snoozed message stays in its other folders, and a draft does not bring it back', async () => {
  const work = data<FolderJson>(await appliance.call('POST', '/mailbox/folders', ana.key, { name: 'Work' }), 201)
  const message = await arrive('Twice filed')
  const { thread_id: id } = message
  data(await appliance.call('PATCH', `/mailbox/threads/${id}`, ana.key, { add_folder_ids: [work.id] }))
  data(await snooze(id, { until: inHours(1), in_folder_id: idOf('inbox') }))
  const snoozed = (await foldersOf(ana.key)).find(({ path }) => path === 'Snoozed')!
  assert.deepEqual((await thread(id)).folder_ids.toSorted(), [work.id, snoozed.id].toSorted())
  data(await snooze(id, { until: inHours(1) }))
  assert.deepEqual((await thread(id)).folder_ids.toSorted(), [work.id, snoozed.id].toSorted())
  clock.advance(1000)
  const draft = { subject: 'Re: Twice filed', in_reply_to_message_id: message.id }
  const { thread_id: joined } = data<Json>(await appliance.call('POST', '/mailbox/drafts', ana.key, draft), 201)
  assert.equal(joined, id)
  assert.equal(await run(), 0)
  clock.advance(HOUR_MS)
  assert.equal(await run(), 1)
  const back = [work.id, idOf('inbox'), idOf('drafts')]
  assert.deepEqual((await thread(id)).folder_ids.toSorted(), back.toSorted())
})

test('a thread returns to the folder that it left last', async () => {
  const { thread_id: id } = await arrive('Moved by hand')
  const move = (role: string) =>
    appliance.call('PATCH', `/mailbox/threads/${id}`, ana.key, { set_folder_ids: [idOf(role)] })
  data(await move('archive'))
  data(await snooze(id, { until: inHours(1) }))
  data(await move('inbox'))
  data(await snooze(id, { until: inHours(2) }))
  clock.advance(2 * HOUR_MS)
  await run()
  assert.deepEqual((await thread(id)).folder_ids, [idOf('inbox')])
})

test('times out of bounds, unknown folders, other mailboxes and drafts are refused', async () => {
  const { thread_id: id } = await arrive('Refused')
  for (const hours of [0, -1, 24 * 365 * 2 + 1])
    issues(await snooze(id, { until: inHours(hours) }), 422, 'validation_error', ['until forbidden_value'])
  const elsewhere = { until: inHours(1), in_folder_id: (await foldersOf(bob.key))[0]!.id }
  issues(await snooze(id, elsewhere), 422, 'validation_error', ['in_folder_id not_found'])
  failure(await snooze(id, { until: inHours(1) }, bob.key), 404, 'not_found')
  const draft = data<Json>(await appliance.call('POST', '/mailbox/drafts', ana.key, { subject: 'x' }), 201)
  failure(await snooze(draft.thread_id, { until: inHours(1) }), 409, 'conflict')
})

test('answers to a muted thread go to the Archive, unless the mailbox is in To', async () => {
  const list = 'list@elsewhere.test'
  const first = await arrive('Noise', { id: 'noise@a.test' })
  data(
    await appliance.call('POST', '/mailbox/threads/batch-update', ana.key, {
      ids: [first.thread_id],
      add_keywords: ['$muted'],
    }),
  )
  assert.equal((await thread(first.thread_id)).is_muted, true)
  const answer = async (to: string) => {
    clock.advance(1000)
    const more = ['In-Reply-To: <noise@a.test>']
    const content = plainMail({ from: 'bob@else.test', to, subject: 'Re: Noise', more })
    await receiveRaw(appliance, { from: 'bob@else.test', to: ana.email, content })
    const messages = data<MessageSummaryJson[]>(
      await appliance.get(`/mailbox/threads/${first.thread_id}/messages?limit=100`, ana.key),
    )
    return messages.at(-1)!
  }
  const toList = await answer(list)
  assert.deepEqual(toList.folder_ids, [idOf('archive')])
  assert.ok(toList.keywords.includes('$muted'))
  const toAna = await answer(ana.email)
  assert.deepEqual(toAna.folder_ids, [idOf('inbox')])
  // What is in Trash keeps its keyword when the thread is muted no more.
  data(await appliance.call('PATCH', `/mailbox/messages/${toList.id}`, ana.key, { folder_ids: [idOf('trash')] }))
  data(await appliance.call('PATCH', `/mailbox/threads/${first.thread_id}`, ana.key, { remove_keywords: ['$muted'] }))
  clock.advance(MINUTE_MS)
  assert.deepEqual((await answer(list)).folder_ids, [idOf('inbox')])
})
