// Messages over the API: lists with every filter and order, and single ones.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import { MESSAGE_PARTS, type Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { Session } from '../../src/api/schemas/session.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, receive, receiveRaw, success, walk } from './expect.ts'

const DAY = 86_400_000
const clock = new ManualClock(Date.UTC(2026, 0, 1))
const appliance = await startAppliance({ clock, zone: { 'strict.test': { TXT: ['v=spf1 -all'] } } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

await receive(appliance, { from: 'carl@a.test', to: ana.email, subject: 'Beta', id: 'a1@a.test', text: 'short' })
clock.advance(DAY)
await receiveRaw(appliance, { from: 'dora@b.test', to: ana.email, content: richMail() })
clock.advance(DAY)
await receive(appliance, {
  from: 'carl@a.test',
  to: ana.email,
  subject: 'Re: Beta',
  more: ['In-Reply-To: <a1@a.test>'],
})

async function subjects(query: string): Promise<string[]> {
  return (await walk<MessageSummaryJson>(appliance, `/mailbox/messages?${query}`, ana.key)).map(
    ({ subject }) => subject,
  )
}

async function bySubject(subject: string): Promise<MessageSummaryJson> {
  const all = await walk<MessageSummaryJson>(appliance, '/mailbox/messages', ana.key)
  return all.find((message) => message.subject === subject)!
}

test('messages are listed newest first and in every other order', async () => {
  const cases: [string, string[]][] = [
    ['limit=2', ['Re: Beta', 'Rich', 'Beta']],
    ['sort_direction=asc&limit=1', ['Beta', 'Rich', 'Re: Beta']],
    ['sort=subject&sort_direction=asc&limit=1', ['Beta', 'Re: Beta', 'Rich']],
    ['sort=size&limit=1', ['Rich', 'Re: Beta', 'Beta']],
    ['sort=from&sort_direction=desc&limit=1', ['Rich', 'Re: Beta', 'Beta']],
    ['collapse_threads=true', ['Re: Beta', 'Rich']],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await subjects(query), expected, query)
  assert.deepEqual((await subjects('sort=sent_at&limit=1')).length, 3)
})

test('every filter narrows the list', async () => {
  const [inbox] = data<FolderJson[]>(await appliance.get('/mailbox/folders?role=inbox', ana.key))
  const { thread_id } = await bySubject('Beta')
  const all = ['Re: Beta', 'Rich', 'Beta']
  const cases: [string, string[]][] = [
    ['q=short', ['Beta']],
    ['q=filename:report', ['Rich']],
    ['from=DORA', ['Rich']],
    ['to=ana@shop', all],
    ['to=dora', []],
    ['subject=beta', ['Re: Beta', 'Beta']],
    ['participant=carl', ['Re: Beta', 'Beta']],
    [`folder_id=${inbox!.id}`, all],
    [`thread_id=${thread_id}`, ['Re: Beta', 'Beta']],
    ['after=2026-01-02', ['Re: Beta', 'Rich']],
    ['before=2026-01-02', ['Beta']],
    ['has_attachment=true', ['Rich']],
    ['is_unread=true', all],
    ['is_flagged=true', []],
    ['keyword=$seen', []],
    ['not_keyword=$seen', all],
    ['min_size=1000', ['Rich']],
    ['max_size=999', ['Re: Beta', 'Beta']],
    ['in_trash_or_junk=true', all],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await subjects(query), expected, query)
})

test('the states of a list show whether it can have changed', async () => {
  const list = async (query: string) => success(await appliance.get(`/mailbox/messages?${query}`, ana.key)).meta
  const plain = await list('')
  assert.equal(plain.state, data<Session>(await appliance.get('/mailbox/session', ana.key)).states.messages)
  assert.deepEqual([(await list('limit=1')).query_state, plain.query_state], [plain.query_state, plain.query_state])
  assert.notEqual((await list('q=beta')).query_state, plain.query_state)
  assert.notEqual((await list('sort_direction=asc')).query_state, plain.query_state)
})

test('a message shows its bodies, attachments and authentication results', async () => {
  const { id } = await bySubject('Rich')
  const message = data<Message>(await appliance.get(`/mailbox/messages/${id}`, ana.key))
  assert.equal(message.text_body?.trimEnd(), 'Grüße aus Köln')
  assert.equal(message.html_body?.trimEnd(), '<p>Grüße aus <b>Köln</b></p>')
  assert.equal(message.text_body_source, 'text')
  assert.deepEqual(message.body_truncated, { text: false, html: false })
  assert.ok(!('headers' in message))
  assert.deepEqual(
    message.attachments?.map(({ filename, content_type, size_bytes, inline }) => [
      filename,
      content_type,
      size_bytes,
      inline,
    ]),
    [['report.bin', 'application/octet-stream', 1500, false]],
  )
  assert.deepEqual(message.reply_to, [{ email: 'team@b.test', name: 'The team' }])
  assert.equal(message.internet_message_id, 'rich@b.test')
  assert.equal(message.authentication?.spf, 'none')
  assert.equal(message.authentication?.from_aligned, false)
  assert.equal(message.spam.is_spam, false)
  assert.deepEqual([message.delivery, message.untrusted_content, message.parsed], [null, true, true])
  assert.deepEqual(message.flags, { seen: false, flagged: false, draft: false, answered: false })
})

test('include selects members, and body_chars cuts between characters', async () => {
  const { id } = await bySubject('Rich')
  const read = async (query: string) => data<Message>(await appliance.get(`/mailbox/messages/${id}?${query}`, ana.key))
  const headers = await read('include=headers')
  assert.ok(headers.headers?.some(({ name, value }) => /^subject$/i.test(name) && value === 'Rich'))
  for (const part of MESSAGE_PARTS) assert.equal(part in headers, part === 'headers', part)

  const none = await read('include=')
  for (const part of MESSAGE_PARTS) assert.ok(!(part in none), part)

  const cut = await read('body_chars=3&include=text_body,html_body')
  assert.equal(cut.text_body, 'Grü')
  assert.equal(cut.html_body, '<p>')
  assert.deepEqual(cut.body_truncated, { text: true, html: true })
  const nothing = await read('body_chars=0')
  assert.equal(nothing.text_body, '')
})

test('reading a message does not mark it as seen', async () => {
  const { id } = await bySubject('Beta')
  data(await appliance.get(`/mailbox/messages/${id}`, ana.key))
  assert.equal((await bySubject('Beta')).flags.seen, false)
})

test('the ETag of a message is independent of the query parameters', async () => {
  const { id } = await bySubject('Rich')
  const path = `/mailbox/messages/${id}`
  const etag = etagOf(await appliance.get(path, ana.key))
  assert.equal((await appliance.get(path, ana.key, { 'if-none-match': '*' })).status, 304)
  assert.equal((await appliance.get(path, ana.key, { 'if-none-match': etag })).status, 304)
  const head = await appliance.call('HEAD', path, ana.key)
  assert.deepEqual([head.status, head.headers.get('etag'), head.body], [200, etag, ''])
  for (const query of ['include=headers', 'include=text_body&body_chars=3', 'body_chars=0']) {
    assert.equal(etagOf(await appliance.get(`${path}?${query}`, ana.key)), etag, query)
  }
})

test('the ETag of a message and of a thread does not change with other messages of the mailbox', async () => {
  const cleo = await team.mailbox('cleo@shop.test')
  const get = (path: string, tag?: string) =>
    appliance.get(path, cleo.key, tag === undefined ? {} : { 'if-none-match': tag })
  const edit = (path: string, body: object, tag?: string) =>
    appliance.call('PATCH', path, cleo.key, body, tag === undefined ? {} : { 'if-match': tag })
  await receive(appliance, { to: cleo.email, subject: 'First' })
  const [first] = data<MessageSummaryJson[]>(await get('/mailbox/messages'))
  const [message, thread] = [`/mailbox/messages/${first!.id}`, `/mailbox/threads/${first!.thread_id}`]
  const [tag, threadTag] = [etagOf(await get(message)), etagOf(await get(thread))]
  await receive(appliance, { to: cleo.email, subject: 'Second' })
  const [second] = data<MessageSummaryJson[]>(await get('/mailbox/messages'))
  data(await edit(`/mailbox/messages/${second!.id}/keywords`, { add: ['other'] }))
  assert.equal((await get(message, tag)).status, 304)
  assert.equal((await get(thread, threadTag)).status, 304)
  // A tag read before the other message came lets the message be changed, once.
  const changed = await edit(`${message}/keywords`, { add: ['work'] }, tag)
  assert.deepEqual(data<MessageSummaryJson>(changed).keywords, ['work'])
  assert.equal(etagOf(changed), etagOf(await get(message)))
  assert.notEqual(etagOf(changed), tag)
  assert.equal((await get(thread, threadTag)).status, 200)
  for (const [path, body] of [
    [`${message}/keywords`, { set: [] }],
    [message, { flags: { seen: true } }],
  ] as const) {
    assert.equal(failure(await edit(path, body, tag), 409, 'conflict').param, 'If-Match')
  }
  assert.deepEqual(data<MessageSummaryJson>(await get(message)).keywords, ['work'])
})

test('a message without text shows the text of its HTML', async () => {
  const content = [
    'From: eve@c.test',
    'To: bob@shop.test',
    'Subject: Only HTML',
    'Message-ID: <html@c.test>',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<html><style>p{}</style><p>Hello <b>Bob</b></p></html>',
    '',
  ].join('\r\n')
  await receiveRaw(appliance, { from: 'eve@c.test', to: bob.email, content })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', bob.key))
  const message = data<Message>(await appliance.get(`/mailbox/messages/${summary!.id}`, bob.key))
  assert.equal(message.text_body?.trim(), 'Hello Bob')
  assert.equal(message.text_body_source, 'html')
})

test('messages, threads and folders of another mailbox are not found', async () => {
  const { id, thread_id, folder_ids } = await bySubject('Beta')
  failure(await appliance.get(`/mailbox/messages/${id}`, bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/messages/${newId('message')}`, bob.key), 404, 'not_found')
  failure(await appliance.get('/mailbox/messages/msg_1', bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/messages?thread_id=${thread_id}`, bob.key), 404, 'not_found')
  failure(await appliance.get(`/mailbox/messages?folder_id=${folder_ids[0]}`, bob.key), 404, 'not_found')
})

test('an invalid query is reported by name', async () => {
  const { id } = await bySubject('Beta')
  const cases: [string, string][] = [
    ['?limit=0', 'limit too_small'],
    ['?limit=101', 'limit too_big'],
    ['?limit=1.5', 'limit invalid_type'],
    ['?limit=', 'limit invalid_type'],
    ['?limit=1&limit=2', 'limit duplicate'],
    ['?sort=date', 'sort invalid_enum'],
    ['?is_unread=yes', 'is_unread invalid_type'],
    ['?min_size=-1', 'min_size too_small'],
    ['?subject=', 'subject too_small'],
    ['?thread_id=x', 'thread_id invalid_format'],
    [`/${id}?body_chars=500001`, 'body_chars too_big'],
    [`/${id}?include=text_body,soul`, 'include.1 invalid_enum'],
  ]
  for (const [query, issue] of cases) {
    issues(await appliance.get(`/mailbox/messages${query}`, ana.key), 400, 'invalid_parameter', [issue])
  }
})

function richMail(): string {
  return [
    'From: Dora <dora@b.test>',
    'To: ana@shop.test',
    'Reply-To: The team <team@b.test>',
    'Subject: Rich',
    'Date: Thu, 01 Jan 2026 00:00:00 +0000',
    'Message-ID: <rich@b.test>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: multipart/alternative; boundary=y',
    '',
    '--y',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=C3=BC=C3=9Fe aus K=C3=B6ln',
    '--y',
    'Content-Type: text/html; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>Gr=FC=DFe aus <b>K=F6ln</b></p>',
    '--y--',
    '--x',
    'Content-Type: application/octet-stream; name=report.bin',
    'Content-Disposition: attachment; filename=report.bin',
    'Content-Transfer-Encoding: base64',
    '',
    ...(Buffer.alloc(1500, 7)
      .toString('base64')
      .match(/.{1,76}/g) ?? []),
    '--x--',
    '',
  ].join('\r\n')
}
