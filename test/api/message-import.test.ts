// Import of messages: stored unchanged, with the folders and time of the request, once.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MAIL_BYTES_MAX } from '../../src/api/mailbox/messages/message-import.ts'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { Message, RawMessage } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { Session } from '../../src/api/schemas/session.ts'
import type { ThreadDetail } from '../../src/api/schemas/thread.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, receive, receiveRaw } from './expect.ts'

const NOW = Date.UTC(2026, 5, 1)
const clock = new ManualClock(NOW)
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
let folders: Map<string, string>

before(async () => {
  const all = data<FolderJson[]>(await appliance.get('/mailbox/folders', ana.key))
  folders = new Map(all.map(({ role, id }) => [role!, id]))
})

let count = 0
/** A mail no other is like. */
const mail = (more: string[] = [], text = 'Hello.') =>
  [`From: bob@else.test`, `Subject: Old mail ${++count}`, ...more, '', text, ''].join('\r\n')
const raw = (content: string | Buffer) => Buffer.from(content).toString('base64')
const take = (body: object, key = ana.key, headers: Record<string, string> = {}) =>
  appliance.call('POST', '/mailbox/messages/import', key, body, headers)
const rawOf = async (id: string) => data<RawMessage>(await appliance.get(`/mailbox/messages/${id}/raw`, ana.key)).raw
const countOf = (table: string) =>
  appliance.app.db.read.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`)!.rows

test('a message is stored byte for byte, unread in the Inbox, is found by its words, and causes no webhook event', async () => {
  const before = [countOf('events'), countOf('inbound_log')]
  const content = mail(
    ['Received: from a by b; Tue, 02 Jan 2024 03:04:05 +0000', 'Received: old; Mon, 01 Jan 2024 00:00:00 +0000'],
    'peregrine\nbare line\r\n',
  )
  const reply = await take({ raw: raw(content) })
  const made = data<MessageSummaryJson>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/mailbox/messages/${made.id}`)
  assert.deepEqual([made.folder_ids, made.keywords], [[folders.get('inbox')], []])
  assert.equal(made.received_at, '2024-01-02T03:04:05.000Z')
  assert.equal(await rawOf(made.id), raw(content))
  const [found] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?q=peregrine', ana.key))
  assert.deepEqual(found, made)
  const message = data<Message>(await appliance.get(`/mailbox/messages/${made.id}`, ana.key))
  assert.deepEqual([message.untrusted_content, message.authentication!.dkim, message.parsed], [true, 'none', true])
  assert.deepEqual([countOf('events'), countOf('inbound_log')], before)
})

test('folders, keywords and the time are those of the request, and everything is counted', async () => {
  const [archive, sent] = [folders.get('archive')!, folders.get('sent')!]
  const body = { raw: raw(mail()), folder_ids: [archive, sent], keywords: ['$Seen', 'Work'], received_at: '2020-02-03' }
  const made = data<MessageSummaryJson>(await take(body), 201)
  assert.deepEqual(made.folder_ids.toSorted(), [archive, sent].toSorted())
  assert.deepEqual(
    [made.keywords, made.flags.seen, made.received_at],
    [['$seen', 'work'], true, '2020-02-03T00:00:00.000Z'],
  )
  for (const id of [archive, sent]) {
    const folder = data<FolderJson>(await appliance.get(`/mailbox/folders/${id}`, ana.key))
    assert.deepEqual([folder.total_messages, folder.unread_messages, folder.total_threads], [1, 0, 1])
  }
  const junk = data<MessageSummaryJson>(await take({ raw: raw(mail()), folder_ids: [folders.get('junk')] }), 201)
  const listed = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', ana.key)).map(({ id }) => id)
  assert.ok(listed.includes(made.id) && !listed.includes(junk.id))
})

test('the time defaults to now when it is missing or implausible', async () => {
  const now = new Date(NOW).toISOString()
  for (const field of [[], ['Received: x; Fri, 01 Jan 2100 00:00:00 +0000'], ['Received: nonsense']]) {
    assert.equal(data<MessageSummaryJson>(await take({ raw: raw(mail(field)) }), 201).received_at, now)
  }
  const soon = new Date(NOW + 60_000).toISOString()
  assert.equal(data<MessageSummaryJson>(await take({ raw: raw(mail()), received_at: soon }), 201).received_at, now)
  const wrong: [string, string][] = [
    ['2100-01-01', 'too_big'],
    ['1969-12-31', 'too_small'],
    ['yesterday', 'invalid_format'],
  ]
  for (const [received_at, code] of wrong) {
    issues(await take({ raw: raw(mail()), received_at }), 422, 'validation_error', [`received_at ${code}`])
  }
})

test('a message joins its thread, and event streams report it', async () => {
  const session = data<Session>(await appliance.get('/mailbox/session', ana.key))
  await receive(appliance, { to: ana.email, subject: 'Lunch', id: 'lunch@else.test' })
  const [first] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?q=subject:lunch', ana.key))
  const content = mail(['In-Reply-To: <lunch@else.test>'])
  const made = data<MessageSummaryJson>(await take({ raw: raw(content), received_at: '2021-01-01' }), 201)
  assert.equal(made.thread_id, first!.thread_id)
  const path = `/mailbox/messages/changes?since_state=${session.states.messages}`
  assert.deepEqual(data<{ created: string[] }>(await appliance.get(path, ana.key)).created, [first!.id, made.id])
})

test('among messages of the same time the last one of the thread is the last one of its list', async () => {
  const ids: string[] = []
  for (let n = 0; n < 16; n++) {
    const content = mail([`Message-ID: <moment${n}@else.test>`, 'References: <moment@else.test>'])
    ids.push(data<MessageSummaryJson>(await take({ raw: raw(content), received_at: '2019-01-01' }), 201).thread_id)
  }
  assert.equal(new Set(ids).size, 1)
  const thread = data<ThreadDetail>(await appliance.get(`/mailbox/threads/${ids[0]}`, ana.key))
  assert.equal(thread.last_message.id, thread.message_ids.at(-1))
})

test('the same bytes are stored once, whatever their source', async () => {
  await receive(appliance, { to: ana.email, subject: 'Once' })
  const [arrived] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?q=subject:once', ana.key))
  const again = await take({ raw: await rawOf(arrived!.id), keywords: ['later'] })
  assert.deepEqual(data<MessageSummaryJson>(again), arrived)
  const body = { raw: raw(mail()) }
  const replies = await Promise.all([1, 2, 3, 4].map(() => take(body)))
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 200, 200, 201])
  assert.equal(new Set(replies.map((reply) => data<MessageSummaryJson>(reply, reply.status).id)).size, 1)
  assert.notEqual(
    data<MessageSummaryJson>(await take(body, bob.key), 201).id,
    data<MessageSummaryJson>(replies[0]!, replies[0]!.status).id,
  )
})

test('an Idempotency-Key returns the first response again', async () => {
  const body = { raw: raw(mail()), keywords: ['one'] }
  const key = { 'idempotency-key': 'import-1' }
  const first = await take(body, ana.key, key)
  const made = data<MessageSummaryJson>(first, 201)
  const again = await take(body, ana.key, key)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(data(again, 201), made)
  failure(await take({ ...body, keywords: ['two'] }, ana.key, key), 409, 'idempotency_conflict')
})

test('content of the mailbox: an upload, and a message attached to another one', async () => {
  const content = mail()
  const upload = { filename: 'old.eml', content: raw(content), type: 'message/rfc822' }
  const file = data<AttachmentFile>(await appliance.call('POST', '/mailbox/attachments', ana.key, upload), 201)
  const made = data<MessageSummaryJson>(await take({ blob_id: file.blob_id }), 201)
  assert.equal(await rawOf(made.id), raw(content))
  assert.equal(data<AttachmentFile>(await appliance.get(`/mailbox/attachments/${file.id}`, ana.key)).expires_at, null)

  const inner = mail(['To: ana@shop.test'])
  const part = `Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=a.eml\r\n\r\n${inner}`
  const outer = `From: x@far.test\r\nSubject: Outer\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${part}\r\n--b--\r\n`
  await receiveRaw(appliance, { from: 'x@far.test', to: ana.email, content: outer })
  const [holder] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?q=subject:outer', ana.key))
  const { attachments } = data<Message>(await appliance.get(`/mailbox/messages/${holder!.id}`, ana.key))
  const taken = data<MessageSummaryJson>(await take({ blob_id: attachments![0]!.blob_id }), 201)
  assert.equal(await rawOf(taken.id), raw(inner))
  const own = data<Message>(await appliance.get(`/mailbox/messages/${made.id}`, ana.key))
  assert.equal(data<MessageSummaryJson>(await take({ blob_id: own.blob_id })).id, made.id)
})

test('invalid imports are reported by their member', async () => {
  const content = raw(mail())
  const foreign = data<FolderJson[]>(await appliance.get('/mailbox/folders', bob.key))[0]!.id
  const cases: [object, string][] = [
    [{}, 'raw required'],
    [{ raw: content, blob_id: `blob_${'0'.repeat(24)}` }, 'blob_id forbidden_value'],
    [{ blob_id: `blob_${'0'.repeat(24)}` }, 'blob_id not_found'],
    [{ raw: 'no base64' }, 'raw invalid_format'],
    [{ raw: raw('not a mail\r\n\r\n') }, 'raw invalid_format'],
    [{ raw: raw('\u0000\u0001\u0002') }, 'raw invalid_format'],
    [{ raw: content, folder_ids: [folders.get('inbox'), foreign] }, 'folder_ids.1 not_found'],
    [{ raw: content, folder_ids: [newId('folder')] }, 'folder_ids.0 not_found'],
    [{ raw: content, folder_ids: [] }, 'folder_ids too_small'],
    [{ raw: content, keywords: ['a b'] }, 'keywords.0 invalid_format'],
  ]
  const before = countOf('messages')
  for (const [body, issue] of cases) issues(await take(body), 422, 'validation_error', [issue])
  assert.equal(countOf('messages'), before)
})

test('a large message is accepted, and read in a thread', async () => {
  const content = mail([], 'all work and no play '.repeat(150_000))
  const made = data<MessageSummaryJson>(await take({ raw: raw(content) }), 201)
  assert.equal(made.size_bytes, content.length)
  const reply = await appliance.call('POST', '/mailbox/messages/import', ana.key, { raw: 'A'.repeat(68_000_000) })
  failure(reply, 413, 'payload_too_large')
  assert.ok(MAIL_BYTES_MAX > (67_108_864 / 4) * 3)
})

test('a full mailbox and a suspended one accept none; a message that is already in the full one is returned', async () => {
  const small = await team.mailbox('small@shop.test', { quotaBytes: 10_485_760 })
  const content = raw(mail([], 'x'.repeat(6_000_000)))
  const first = data<MessageSummaryJson>(await take({ raw: content }, small.key), 201)
  failure(await take({ raw: raw(mail([], 'y'.repeat(6_000_000))) }, small.key), 409, 'conflict')
  assert.equal(data<MessageSummaryJson>(await take({ raw: content }, small.key)).id, first.id)
  await appliance.app.directory.mailboxes.suspend(team.id, small.id)
  failure(await take({ raw: raw(mail()) }, small.key), 409, 'conflict')
  const body = { name: 'x', permissions: ['mailbox.read', 'email.receive', 'email.send'] }
  const reply = await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, body)
  failure(await take({ raw: raw(mail()) }, data<{ key: string }>(reply, 201).key), 403, 'insufficient_permissions')
})

test('a mailbox that is suspended while a message is read accepts nothing', async () => {
  const late = await team.mailbox('late@shop.test')
  const read = appliance.app.inspector.read.bind(appliance.app.inspector)
  appliance.app.inspector.read = async (...given) => {
    appliance.app.inspector.read = read
    const reading = await read(...given)
    await appliance.app.directory.mailboxes.suspend(team.id, late.id)
    return reading
  }
  const body = { raw: raw(mail()) }
  failure(await take(body, late.key), 409, 'conflict')
  assert.equal(appliance.app.store.accounts.byMailbox(late.id)!.messageCount, 0)
  await appliance.app.directory.mailboxes.reactivate(team.id, late.id)
  data(await take(body, late.key), 201)
})
