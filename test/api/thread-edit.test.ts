// Changes of whole threads over the API, one and many; threads by ids, by position, and as changes of a list.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { ThreadDetail, ThreadJson } from '../../src/api/schemas/thread.ts'
import { newId } from '../../src/base/ids.ts'
import { KEYWORDS_MAX } from '../../src/store/entries/keywords.ts'
import { THREAD_MESSAGES_MAX } from '../../src/store/threads/edits.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, issues, receive, success } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const eve = await team.mailbox('eve@shop.test')
const get = (path: string) => appliance.get(`/mailbox/${path}`, ana.key)
const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  appliance.call(method, `/mailbox/${path}`, ana.key, body, headers)

const folders = new Map(data<FolderJson[]>(await get('folders')).map(({ role, id }) => [role, id]))
const [inbox, archive, trash] = ['inbox', 'archive', 'trash'].map((role) => folders.get(role as 'inbox')!)
let count = 0

/** A thread of some messages. */
async function thread(messages: number, to = ana): Promise<ThreadDetail> {
  const subject = `Topic ${++count}`
  const id = `${count}@else.test`
  await receive(appliance, { to: to.email, subject, id })
  for (let at = 1; at < messages; at++) {
    await receive(appliance, { to: to.email, subject: `Re: ${subject}`, more: [`In-Reply-To: <${id}>`] })
  }
  const [newest] = data<ThreadJson[]>(await appliance.get('/mailbox/threads?limit=1', to.key))
  return data<ThreadDetail>(await appliance.get(`/mailbox/threads/${newest!.id}`, to.key))
}

const read = async (id: string) => data<ThreadDetail>(await get(`threads/${id}`))
const messagesOf = async ({ message_ids: ids }: ThreadDetail) =>
  (data<Json>(await call('POST', 'messages/batch-get', { ids, include: [] })).list as Json[]).map(
    ({ state: _, ...message }) => message,
  )

test('a thread is marked as read, flagged and labelled as a whole, under its tag', async () => {
  const made = await thread(3)
  const tag = etagOf(await get(`threads/${made.id}`))
  const change = { flags: { seen: true, flagged: true }, add_keywords: ['Later'] }
  const reply = await call('PATCH', `threads/${made.id}`, change, { 'if-match': tag })
  const changed = data<ThreadDetail>(reply)
  assert.deepEqual([changed.message_count, changed.unread_count], [3, 0])
  for (const { keywords } of await messagesOf(made)) assert.deepEqual(keywords, ['$flagged', '$seen', 'later'])
  assert.equal(etagOf(reply), etagOf(await get(`threads/${made.id}`)))
  failure(await call('PATCH', `threads/${made.id}`, change, { 'if-match': tag }), 409, 'conflict')
  const back = { flags: { flagged: false }, add_keywords: ['$flagged'], remove_keywords: ['later'] }
  data(await call('PATCH', `threads/${made.id}`, back, { 'if-match': etagOf(reply) }))
  for (const { keywords } of await messagesOf(made)) assert.deepEqual(keywords, ['$seen'])
})

test('a thread moves to Trash and back; of a folder only its messages move', async () => {
  const made = await thread(3)
  const [first] = made.message_ids
  data(await call('PATCH', `messages/${first}`, { folder_ids: [archive] }))
  const moved = data<ThreadDetail>(await call('PATCH', `threads/${made.id}`, { in_folder_id: inbox, trash: true }))
  assert.deepEqual([moved.message_ids, moved.folder_ids], [[first], [archive]])
  // Without a folder the messages in Trash are left alone.
  data(await call('PATCH', `threads/${made.id}`, { add_keywords: ['kept'] }))
  assert.deepEqual(
    (await messagesOf(made)).map(({ keywords }) => keywords),
    [['kept'], [], []],
  )
  const whole = data<ThreadDetail>(await call('PATCH', `threads/${made.id}`, { trash: true }))
  assert.deepEqual([whole.message_ids, whole.folder_ids], [made.message_ids, [trash]])
  const back = data<ThreadDetail>(await call('PATCH', `threads/${made.id}`, { set_folder_ids: [inbox] }))
  assert.deepEqual([back.message_count, back.folder_ids], [3, [inbox]])
})

test('what one message refuses changes no message of the thread, and no other thread is affected', async () => {
  const [full, free] = [await thread(2), await thread(1)]
  const keywords = Array.from({ length: KEYWORDS_MAX }, (_, at) => `k${at}`)
  data(await call('PATCH', `messages/${full.message_ids[1]}`, { keywords }))
  const before = await messagesOf(full)
  const unknown = newId('thread')
  const reply = await call('POST', 'threads/batch-update', { ids: [full.id, unknown, free.id], add_keywords: ['one'] })
  const { updated, not_found, not_updated, state } = data<Json>(reply)
  assert.deepEqual([updated, not_found], [[free.id], [unknown]])
  assert.deepEqual(
    not_updated.map(({ id, code }: Json) => [id, code]),
    [[full.id, 'validation_error']],
  )
  assert.equal(state, (await read(free.id)).states.thread_state)
  assert.deepEqual(await messagesOf(full), before)
  issues(await call('PATCH', `threads/${full.id}`, { add_keywords: ['one'] }), 422, 'validation_error', [
    'add_keywords forbidden_value',
  ])
})

test('members that exclude each other, unknown folders and threads of others', async () => {
  const { id } = await thread(1)
  const theirs = await thread(1, eve)
  const patch = (body: object) => call('PATCH', `threads/${id}`, body)
  issues(await patch({ trash: true, add_folder_ids: [inbox] }), 422, 'validation_error', ['trash forbidden_value'])
  issues(await patch({ set_folder_ids: [inbox], remove_folder_ids: [archive] }), 422, 'validation_error', [
    'set_folder_ids forbidden_value',
  ])
  issues(await patch({ in_folder_id: newId('folder'), trash: true }), 422, 'validation_error', [
    'in_folder_id not_found',
  ])
  issues(await patch({ add_folder_ids: [newId('folder')] }), 422, 'validation_error', [
    'add_folder_ids forbidden_value',
  ])
  issues(await patch({ remove_folder_ids: [inbox] }), 422, 'validation_error', ['remove_folder_ids forbidden_value'])
  const outcome = data<Json>(await call('POST', 'threads/batch-update', { ids: [theirs.id], trash: true }))
  assert.deepEqual([outcome.updated, outcome.not_found], [[], [theirs.id]])
  assert.deepEqual(data<Json>(await call('POST', 'threads/batch-get', { ids: [theirs.id] })).list, [])
})

test('a request changes a bounded number of messages', async () => {
  const made = await thread(1)
  // Its messages are not created one by one: only their number counts.
  const { db } = appliance.app
  await db.write((tx) => {
    tx.run(
      `INSERT INTO messages SELECT n + 1000000 + copies.value, m.id || copies.value, account, thread, received_at, listed, seen, flagged, draft,
         answered, has_attachments, size_bytes, sent_at, people, keywords, subject, preview, from_email, from_name, addresses, blob,
         internet_message_id, in_reply_to, refs, parsed, envelope, authentication, spam, structure, created_at, blob_name
       FROM messages m, json_each(?) copies WHERE m.id = ?`,
      [JSON.stringify([...Array(THREAD_MESSAGES_MAX).keys()]), made.message_ids[0]!],
    )
  })
  failure(await call('PATCH', `threads/${made.id}`, { flags: { seen: true } }), 409, 'conflict')
  const other = await thread(1)
  const body = { ids: [made.id, other.id], flags: { seen: true } }
  const { updated, not_updated } = data<Json>(await call('POST', 'threads/batch-update', body))
  assert.deepEqual(
    [updated, not_updated.map(({ id, code }: Json) => [id, code])],
    [[], [made.id, other.id].map((id) => [id, 'conflict'])],
  )
  await db.write((tx) => {
    tx.run('DELETE FROM messages WHERE thread = (SELECT n FROM threads WHERE id = ?) AND id <> ?', [
      made.id,
      made.message_ids[0]!,
    ])
  })
})

test('an editor of messages may change threads, a reader may not', async () => {
  const { id } = await thread(1)
  const key = async (permissions: string[]) =>
    data<Json>(await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, { name: 'x', permissions }), 201)
      .key
  const body = { flags: { seen: true } }
  const by = async (permissions: string[]) =>
    appliance.call('PATCH', `/mailbox/threads/${id}`, await key(permissions), body)
  failure(await by(['mailbox.read', 'email.send']), 403, 'insufficient_permissions')
  data(await by(['email.receive']))
})

test('threads by ids are those of the list, in the requested order', async () => {
  const listed = data<ThreadJson[]>(await get('threads?limit=3'))
  const ids = [listed[2]!.id, newId('thread'), listed[0]!.id]
  const { list, not_found, state } = data<Json>(await call('POST', 'threads/batch-get', { ids }))
  assert.deepEqual(list, [listed[2], listed[0]])
  assert.deepEqual([not_found, state], [[ids[1]], listed[0]!.states.thread_state])
})

test('lists have pages by position and their length on request', async () => {
  for (const type of ['threads', 'messages']) {
    const all = data<Json[]>(await get(`${type}?limit=100`))
    const page = success<Json[]>(await get(`${type}?limit=2&position=1&with_total=true`))
    const meta = page.meta as Json
    assert.deepEqual(page.data, all.slice(1, 3))
    assert.deepEqual([meta.position, meta.total], [1, all.length])
    const plain = success(await get(`${type}?limit=2`)).meta as Json
    assert.ok(!('total' in plain) && !('position' in plain))
    const beyond = success(await get(`${type}?position=${all.length}`))
    assert.deepEqual([beyond.data, beyond.pagination!.has_more], [[], false])
    const text = success(await get(`${type}?q=topic&with_total=true&position=2`)).meta as Json
    assert.ok(text.total > 2)
    issues(await get(`${type}?q=topic&position=10001`), 400, 'invalid_parameter', ['position too_big'])
    const { next_cursor } = page.pagination!
    const next = success<Json[]>(await get(`${type}?limit=1&cursor=${next_cursor}`))
    assert.deepEqual(next.data, all.slice(3, 4))
    issues(await get(`${type}?position=1&cursor=${next_cursor}`), 400, 'invalid_parameter', [
      'position forbidden_value',
    ])
  }
})

test('a list of threads has the page with a thread', async () => {
  const all = data<ThreadJson[]>(await get('threads?limit=100&q=topic'))
  assert.ok(all.length > 4)
  for (const [index, { id }] of all.entries()) {
    const page = success<ThreadJson[]>(await get(`threads?limit=2&q=topic&anchor_id=${id}`))
    const start = index - (index % 2)
    assert.deepEqual([(page.meta as Json).position, page.data], [start, all.slice(start, start + 2)])
    const { next_cursor } = page.pagination!
    if (next_cursor === undefined) continue
    const next = success<ThreadJson[]>(await get(`threads?limit=2&q=topic&cursor=${next_cursor}`))
    assert.deepEqual(next.data, all.slice(start + 2, start + 4))
    issues(await get(`threads?limit=2&q=topic&cursor=${next_cursor}&anchor_id=${id}`), 400, 'invalid_parameter', [
      'anchor_id forbidden_value',
    ])
  }
  const { id } = all[0]!
  issues(await get(`threads?position=0&anchor_id=${id}`), 400, 'invalid_parameter', ['anchor_id forbidden_value'])
  failure(await get(`threads?folder_id=${folders.get('junk')}&anchor_id=${id}`), 404, 'not_found')
  const theirs = await thread(1, eve)
  for (const unknown of [theirs.id, newId('thread')]) {
    failure(await get(`threads?anchor_id=${unknown}`), 404, 'not_found')
  }
})

test('a list of threads is followed by its changes, alone and with the other types', async () => {
  const list = async () => {
    const { data: threads, meta } = success<ThreadJson[]>(await get(`threads?folder_id=${inbox}&limit=100`))
    return { ids: threads.map(({ id }) => id), state: meta.query_state! }
  }
  const before = await list()
  await thread(1)
  data(await call('PATCH', `threads/${before.ids[1]}`, { set_folder_ids: [archive] }))
  const query = `folder_id=${inbox}&since_query_state=${before.state}`
  const reported = data<Json>(await get(`threads/query-changes?${query}`))
  const ids = before.ids.filter((id) => !reported.removed.includes(id))
  for (const { id, index } of reported.added) ids.splice(index, 0, id)
  const now = await list()
  assert.deepEqual([ids, reported.new_query_state, reported.total], [now.ids, now.state, now.ids.length])
  assert.deepEqual(data(await get(`sync/query-changes?type=threads&sort=subject&${query}`)), reported)
  failure(await get(`threads/query-changes?since_query_state=${before.state}`), 400, 'invalid_parameter')
  const messages = success(await get(`messages?folder_id=${inbox}`)).meta.query_state
  failure(await get(`threads/query-changes?folder_id=${inbox}&since_query_state=${messages}`), 400, 'invalid_parameter')
})
