// Threads over the API: lists with every filter, and single ones.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PAGE_CHARS } from '../../src/api/mailbox/messages/thread-messages.ts'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { Session } from '../../src/api/schemas/session.ts'
import type { ThreadDetail, ThreadJson } from '../../src/api/schemas/thread.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, receive, receiveRaw, success, walk } from './expect.ts'

const DAY = 86_400_000
const clock = new ManualClock(Date.UTC(2026, 0, 1))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
const carl = await team.mailbox('carl@shop.test')

// One thread a day: A (two messages), B (with an attachment), C.
await receive(appliance, {
  from: 'carl@a.test',
  to: ana.email,
  subject: 'Alpha plan',
  id: 'a1@a.test',
  text: 'the first draft',
})
clock.advance(DAY)
await receiveRaw(appliance, { from: 'dora@b.test', to: ana.email, content: withAttachment() })
clock.advance(DAY)
await receive(appliance, { from: 'emile@c.test', to: ana.email, subject: 'Recipe', text: 'crème brûlée' })
clock.advance(DAY)
await receive(appliance, {
  from: 'eve@d.test',
  to: ana.email,
  subject: 'Re: Alpha plan',
  text: 'second thoughts',
  more: ['In-Reply-To: <a1@a.test>', 'References: <a1@a.test>'],
})

async function subjects(query: string): Promise<string[]> {
  return (await walk<ThreadJson>(appliance, `/mailbox/threads?${query}`, ana.key)).map((thread) => thread.subject)
}

async function newest(): Promise<ThreadJson> {
  return data<ThreadJson[]>(await appliance.get('/mailbox/threads', ana.key))[0]!
}

test('threads are listed by their newest message, in both directions', async () => {
  assert.deepEqual(await subjects('limit=1'), ['Alpha plan', 'Recipe', 'Bill'])
  assert.deepEqual(await subjects('limit=2&sort_direction=asc'), ['Bill', 'Recipe', 'Alpha plan'])
})

test('a thread shows its participants, its newest message, and the states of the mailbox', async () => {
  const reply = await appliance.get('/mailbox/threads', ana.key)
  const {
    data: [alpha],
    meta,
  } = success<ThreadJson[]>(reply)
  assert.ok(alpha)
  assert.deepEqual([alpha.message_count, alpha.unread_count, alpha.has_attachments], [2, 2, false])
  assert.deepEqual(
    alpha.participants.map((person) => person.email),
    ['carl@a.test', 'ana@shop.test', 'eve@d.test'],
  )
  assert.equal(alpha.last_message.subject, 'Re: Alpha plan')
  assert.equal(alpha.last_message.from.email, 'eve@d.test')
  assert.equal(alpha.last_message.received_at, '2026-01-04T00:00:00.000Z')
  assert.ok(!('message_ids' in alpha))
  assert.equal(meta.state, alpha.states.thread_state)
  const session = data<Session>(await appliance.get('/mailbox/session', ana.key))
  assert.equal(alpha.states.thread_state, session.states.threads)
  assert.equal(alpha.states.email_state, session.states.messages)
})

test('a list shows each thread as it is read alone, with the present states, before and after a change', async () => {
  const shown = async () => {
    const listed = data<ThreadJson[]>(await appliance.get('/mailbox/threads', ana.key))
    for (const thread of listed) {
      const { message_ids: _, ...alone } = data<ThreadDetail>(
        await appliance.get(`/mailbox/threads/${thread.id}`, ana.key),
      )
      assert.deepEqual(thread, alone)
      assert.deepEqual(Object.keys(thread), Object.keys(alone))
    }
    return listed
  }
  const before = await shown()
  const ids = [before[1]!.last_message.id]
  data(await appliance.call('POST', '/mailbox/messages/batch-update', ana.key, { ids, add_keywords: ['changed'] }))
  const now = await shown()
  assert.deepEqual(now[1]!.last_message.keywords, ['changed'])
  assert.notDeepEqual(now[0]!.states, before[0]!.states)
  assert.deepEqual({ ...now[0], states: null }, { ...before[0], states: null })
  data(await appliance.call('POST', '/mailbox/messages/batch-update', ana.key, { ids, remove_keywords: ['changed'] }))
  assert.deepEqual(data(await appliance.get('/mailbox/threads?q=absentword', ana.key)), [])
})

test('every filter narrows the list', async () => {
  const [inbox] = data<FolderJson[]>(await appliance.get('/mailbox/folders?role=inbox', ana.key))
  const [archive] = data<FolderJson[]>(await appliance.get('/mailbox/folders?role=archive', ana.key))
  const cases: [string, string[]][] = [
    ['q=second', ['Alpha plan']],
    ['q=creme', ['Recipe']],
    ['q=from:dora@b.test', ['Bill']],
    ['q=%22first%20draft%22', ['Alpha plan']],
    ['q=-recipe%20-bill', ['Alpha plan']],
    ['q=zebra', []],
    ['participant=DORA', ['Bill']],
    ['participant=ana@shop', ['Alpha plan', 'Recipe', 'Bill']],
    [`folder_id=${inbox!.id}`, ['Alpha plan', 'Recipe', 'Bill']],
    [`folder_id=${archive!.id}`, []],
    ['after=2026-01-03', ['Alpha plan', 'Recipe']],
    ['before=2026-01-02', ['Alpha plan']],
    ['after=2026-01-02&before=2026-01-03', ['Bill']],
    ['after=2026-01-02T01:00:00%2B01:00&before=2026-01-02T00:00:00.001Z', ['Bill']],
    ['has_attachment=true', ['Bill']],
    ['has_attachment=false', ['Alpha plan', 'Recipe']],
    ['is_unread=true', ['Alpha plan', 'Recipe', 'Bill']],
    ['is_unread=false', []],
    ['q=plan&participant=eve&after=2026-01-04', ['Alpha plan']],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await subjects(query), expected, query)
})

test('a thread lists its messages, oldest first, and has an ETag', async () => {
  const alpha = await newest()
  const reply = await appliance.get(`/mailbox/threads/${alpha.id}`, ana.key)
  const { message_ids, ...rest } = data<ThreadDetail>(reply)
  assert.deepEqual(rest, alpha)
  assert.equal(message_ids.length, 2)
  assert.equal(message_ids[1], alpha.last_message.id)
  const etag = etagOf(reply)
  assert.equal((await appliance.get(`/mailbox/threads/${alpha.id}`, ana.key, { 'if-none-match': etag })).status, 304)
})

test('the messages of a thread are listed in full, paged, in both directions', async () => {
  const alpha = await newest()
  const { message_ids } = data<ThreadDetail>(await appliance.get(`/mailbox/threads/${alpha.id}`, ana.key))
  const path = `/mailbox/threads/${alpha.id}/messages`
  const ids = async (query: string) => (await walk<Message>(appliance, `${path}?${query}`, ana.key)).map(({ id }) => id)
  assert.deepEqual(await ids('limit=1'), message_ids)
  assert.deepEqual(await ids('limit=1&sort_direction=desc'), message_ids.toReversed())
  const reply = success<Message[]>(await appliance.get(path, ana.key))
  assert.equal(reply.pagination!.has_more, false)
  for (const shown of reply.data) {
    assert.deepEqual(data(await appliance.get(`/mailbox/messages/${shown.id}`, ana.key)), shown)
    assert.equal(reply.meta.state, shown.state)
  }
  const [short] = data<Message[]>(await appliance.get(`${path}?body_chars=3&include=text_body`, ana.key))
  assert.deepEqual([short!.text_body, short!.body_truncated!.text, short!.attachments], ['the', true, undefined])
  failure(await appliance.get(path, bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/threads/${newId('thread')}/messages`, ana.key), 404, 'not_found')
  const cursor = success(await appliance.get(`${path}?limit=1`, ana.key)).pagination!.next_cursor!
  const bill = data<ThreadJson[]>(await appliance.get('/mailbox/threads?q=bill', ana.key))[0]!
  const other = await appliance.get(`/mailbox/threads/${bill.id}/messages?limit=1&cursor=${cursor}`, ana.key)
  assert.equal(failure(other, 400, 'invalid_parameter').param, 'cursor')
})

test('the messages of a thread leave out those in Trash, unless all are there', async () => {
  const mail = { from: 'dora@b.test', to: carl.email, subject: 'Walk' }
  await receive(appliance, { ...mail, id: 'w1@b.test' })
  await receive(appliance, { ...mail, id: 'w2@b.test', more: ['References: <w1@b.test>'] })
  const thread = data<ThreadJson[]>(await appliance.get('/mailbox/threads', carl.key))[0]!
  const ids = async () =>
    data<Message[]>(await appliance.get(`/mailbox/threads/${thread.id}/messages`, carl.key)).map(({ id }) => id)
  const [first, second] = await ids()
  await appliance.call('DELETE', `/mailbox/messages/${second}`, carl.key)
  assert.deepEqual(await ids(), [first])
  await appliance.call('DELETE', `/mailbox/messages/${first}`, carl.key)
  assert.deepEqual(await ids(), [first, second])
})

test('a page of long messages ends early, and the next one continues after it', async () => {
  const text = 'long words '.repeat(45_000)
  for (let n = 0; n < 6; n++) {
    const more = n === 0 ? [] : ['References: <long0@b.test>']
    await receive(appliance, {
      from: 'dora@b.test',
      to: carl.email,
      subject: 'Long',
      id: `long${n}@b.test`,
      text,
      more,
    })
  }
  const thread = data<ThreadJson[]>(await appliance.get('/mailbox/threads?q=subject:long', carl.key))[0]!
  const path = `/mailbox/threads/${thread.id}/messages?include=text_body&body_chars=500000`
  const page = success<Message[]>(await appliance.get(path, carl.key))
  const chars = page.data.map((message) => message.text_body!.length)
  assert.deepEqual([chars.length, page.pagination!.has_more], [Math.ceil(PAGE_CHARS / chars[0]!), true])
  assert.equal((await walk<Message>(appliance, path, carl.key)).length, 6)
})

test('a cursor belongs to its list, its filters and its mailbox', async () => {
  const cursor = success(await appliance.get('/mailbox/threads?limit=1', ana.key)).pagination!.next_cursor!
  data(await appliance.get(`/mailbox/threads?limit=2&cursor=${cursor}`, ana.key))
  const wrong = [
    appliance.get(`/mailbox/threads?limit=1&q=plan&cursor=${cursor}`, ana.key),
    appliance.get(`/mailbox/messages?limit=1&cursor=${cursor}`, ana.key),
    appliance.get(`/mailbox/threads?limit=1&cursor=${cursor}`, bob.key),
    appliance.get(`/mailbox/threads?cursor=${cursor.slice(0, -1)}${cursor.endsWith('x') ? 'y' : 'x'}`, ana.key),
    appliance.get('/mailbox/threads?cursor=', ana.key),
  ]
  for (const reply of wrong) assert.equal(failure(await reply, 400, 'invalid_parameter').param, 'cursor')
})

test('threads and folders of another mailbox are not found', async () => {
  const alpha = await newest()
  const [folder] = data<FolderJson[]>(await appliance.get('/mailbox/folders', ana.key))
  failure(await appliance.get(`/mailbox/threads/${alpha.id}`, bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/threads/${newId('thread')}`, bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/threads?folder_id=${folder!.id}`, bob.key), 404, 'not_found')
  assert.deepEqual(await walk<ThreadJson>(appliance, '/mailbox/threads', bob.key), [])
})

test('a search that is too long or too deep is reported by its parameter', async () => {
  const wrong = ['a'.repeat(513), Array(33).fill('word').join(' '), '(((((( a ))))))']
  for (const q of wrong) {
    const reply = await appliance.get(`/mailbox/threads?q=${encodeURIComponent(q)}`, ana.key)
    assert.equal(failure(reply, 400, 'invalid_parameter').param, 'q')
  }
  const reply = await appliance.get('/mailbox/threads?after=yesterday', ana.key)
  issues(reply, 400, 'invalid_parameter', ['after invalid_format'])
})

function withAttachment(): string {
  return [
    'From: dora@b.test',
    'To: ana@shop.test',
    'Subject: Bill',
    'Date: Thu, 01 Jan 2026 00:00:00 +0000',
    'Message-ID: <b1@b.test>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain',
    '',
    'see the file',
    '--x',
    'Content-Type: application/pdf; name=bill.pdf',
    'Content-Disposition: attachment; filename=bill.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    'aGVsbG8=',
    '--x--',
    '',
  ].join('\r\n')
}
