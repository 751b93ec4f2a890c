// What a mailbox credential learns of itself: the mailbox and the session document.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NewApiKey } from '../../src/surfaces/rest/schemas/api-key.ts'
import type { Folder } from '../../src/surfaces/rest/schemas/folder.ts'
import type { Mailbox, MailboxAdmin } from '../../src/surfaces/rest/schemas/mailbox.ts'
import type { Message } from '../../src/surfaces/rest/schemas/message.ts'
import type { MessageSummary } from '../../src/surfaces/rest/schemas/message-summary.ts'
import type { Session } from '../../src/surfaces/rest/schemas/session.ts'
import { startHouse } from '../support/house.ts'
import { data, etagOf, failure, receive } from './expect.ts'

const house = await startHouse()
after(() => house.close())
const team = await house.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')

async function keyWith(permissions: string[]): Promise<string> {
  const reply = await house.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, { name: 'x', permissions })
  return data<NewApiKey>(reply, 201).key
}

function setFlags(group: Record<string, unknown>): string[] {
  return Object.entries(group)
    .filter(([, value]) => value === true)
    .map(([name]) => name)
}

test('a mailbox sees itself, without what only its team sees', async () => {
  const me = data<Mailbox>(await house.get('/mailbox/me', ana.key))
  assert.deepEqual(Object.keys(me).sort(), [
    'created_at',
    'email',
    'id',
    'quota_bytes',
    'quota_used_bytes',
    'send_scope',
    'status',
  ])
  assert.equal(me.id, ana.id)
})

test('a root key is refused on every route of the Mailbox API', async () => {
  for (const path of ['/mailbox/me', '/mailbox/session', '/mailbox/threads', '/mailbox/messages', '/mailbox/folders']) {
    failure(await house.get(path, team.key), 403, 'insufficient_permissions')
  }
  failure(await house.get('/mailboxes', ana.key), 403, 'insufficient_permissions')
})

test('the tags of both change when mail comes in, and only then', async () => {
  for (const path of ['/mailbox/me', '/mailbox/session']) {
    const first = await house.get(path, ana.key)
    const etag = etagOf(first)
    const again = await house.get(path, ana.key, { 'if-none-match': etag })
    assert.equal(again.status, 304)
    assert.equal(again.headers.get('etag'), etag)
    await receive(house, { to: ana.email })
    assert.equal((await house.get(path, ana.key, { 'if-none-match': etag })).status, 200)
  }
})

test('capabilities are true for what works today, gates for what does not', async () => {
  const session = data<Session>(await house.get('/mailbox/session', ana.key))
  assert.deepEqual(session.mailbox, { id: ana.id, email: ana.email })
  const { sync, ...groups } = session.capabilities
  assert.deepEqual(Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, setFlags(group)])), {
    messages: ['list', 'detail', 'raw_body'],
    threads: ['list', 'detail'],
    folders: ['list', 'detail'],
    submissions: ['send'],
    identities: [],
    quotas: [],
    attachments: ['send_with_uploaded_blob'],
  })
  assert.deepEqual(session.capabilities.messages.update_fields, [])
  assert.deepEqual(sync, { typed_changes: false, types: [], query_changes: [] })
  assert.equal(setFlags(session.gated).length, 12)
  assert.equal(Object.keys(session.gated).length, 12)
  assert.equal(session.limits.list_limit_max, 100)
  assert.deepEqual(Object.keys(session.states), [
    'messages',
    'folders',
    'threads',
    'submissions',
    'identities',
    'quotas',
  ])
})

test('every endpoint the session names answers this credential', async () => {
  const session = data<Session>(await house.get('/mailbox/session', ana.key))
  const listed = Object.values(session.endpoints).flat()
  assert.deepEqual(listed.toSorted(), [
    'GET /mailbox/folders',
    'GET /mailbox/folders/{folder_id}',
    'GET /mailbox/me',
    'GET /mailbox/messages',
    'GET /mailbox/messages/{message_id}',
    'GET /mailbox/messages/{message_id}/raw',
    'GET /mailbox/session',
    'GET /mailbox/threads',
    'GET /mailbox/threads/{thread_id}',
    'POST /mailbox/messages/send',
  ])
  const [message] = data<MessageSummary[]>(await house.get('/mailbox/messages', ana.key))
  const [folder] = data<Folder[]>(await house.get('/mailbox/folders', ana.key))
  for (const endpoint of listed) {
    const [method, path] = endpoint.split(' ')
    const target = path!
      .replace('{message_id}', message!.id)
      .replace('{thread_id}', message!.thread_id)
      .replace('{folder_id}', folder!.id)
    const body = method === 'POST' ? { to: [{ email: ana.email }], subject: 'x', text_body: 'x' } : undefined
    assert.ok((await house.call(method!, target, ana.key, body)).status < 300, endpoint)
  }
  await house.settle()
})

test('a key that may not send is told so', async () => {
  const session = data<Session>(await house.get('/mailbox/session', await keyWith(['mailbox.read'])))
  assert.equal(session.capabilities.submissions.send, false)
  assert.ok(!Object.values(session.endpoints).flat().includes('POST /mailbox/messages/send'))
})

test('a credential without mailbox.read learns nothing', async () => {
  const key = await keyWith(['email.send', 'email.receive', 'mailbox.write'])
  for (const path of ['/mailbox/me', '/mailbox/session', '/mailbox/messages']) {
    assert.match(failure(await house.get(path, key), 403, 'insufficient_permissions').message, /mailbox\.read/)
  }
  data(await house.get('/mailbox/session', await keyWith(['mailbox.read'])))
})

test('a suspended mailbox can still be read and says so', async () => {
  const box = await team.mailbox('late@shop.test')
  await receive(house, { to: box.email, subject: 'Before' })
  await house.app.directory.mailboxes.suspend(team.id, box.id)
  assert.equal(data<Mailbox>(await house.get('/mailbox/me', box.key)).status, 'suspended')
  const [message] = data<MessageSummary[]>(await house.get('/mailbox/messages', box.key))
  assert.equal(data<Message>(await house.get(`/mailbox/messages/${message!.id}`, box.key)).subject, 'Before')
  await assert.rejects(receive(house, { to: box.email }), /550 5\.2\.1/)
})

test('usage is left out while the store cannot be read', async (t) => {
  const { accounts } = house.app.store
  t.mock.method(accounts, 'byMailboxes', () => Promise.reject(new Error('the disk is gone')))
  const me = data<Mailbox>(await house.get('/mailbox/me', ana.key))
  assert.ok(!('quota_used_bytes' in me))
  const admin = data<MailboxAdmin>(await house.get(`/mailboxes/${ana.id}`, team.key))
  assert.ok(!('quota_used_bytes' in admin) && !('message_count' in admin))
  assert.equal(admin.email, ana.email)
})

test('a mailbox without its mail side yet asks to be tried again', async (t) => {
  t.mock.method(house.app.store.accounts, 'byMailbox', () => Promise.resolve(undefined))
  for (const path of ['/mailbox/session', '/mailbox/threads', '/mailbox/messages', '/mailbox/folders']) {
    const reply = await house.get(path, ana.key)
    failure(reply, 503, 'service_unavailable')
    assert.equal(reply.headers.get('retry-after'), '10')
  }
})
