// Drafts that are sent: once, as composed, with undo; replies and forwards made by the server.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { belowText } from '../../src/api/mailbox/drafts/quotation.ts'
import type { DraftJson, DraftSummary } from '../../src/api/schemas/draft.ts'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, receive, receiveRaw, walk } from './expect.ts'

const clock = new ManualClock(Date.UTC(2026, 10, 22, 12))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const get = (path: string) => appliance.get(`/mailbox/${path}`, ana.key)
const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  appliance.call(method, `/mailbox/${path}`, ana.key, body, headers)
const folders = new Map(data<FolderJson[]>(await get('folders')).map(({ role, id }) => [role, id]))
const idOf = (role: FolderJson['role']) => folders.get(role)!
const create = async (body: object) => data<DraftSummary>(await call('POST', 'drafts', body), 201)
const read = async (id: string) => data<DraftJson>(await get(`drafts/${id}`))
const message = async (id: string) =>
  data<Message>(await get(`messages/${id}?include=headers,text_body,html_body,attachments&body_chars=500000`))
const submissions = () => walk<Json>(appliance, '/mailbox/submissions', ana.key)
const sent = () => walk<Json>(appliance, `/mailbox/messages?folder_id=${idOf('sent')}`, ana.key)
const BASE = {
  to: [{ email: 'bob@customer.test' }],
  bcc: [{ email: 'dora@customer.test' }],
  subject: 'Plan',
  text_body: 'The plan.',
}
let count = 0

/** A received message. */
async function arrived(mail: Parameters<typeof receive>[1]): Promise<Json> {
  const subject = mail.subject ?? `Mail ${++count}`
  await receive(appliance, { ...mail, subject })
  const [newest] = data<Json[]>(await get('messages?limit=1'))
  return newest!
}

async function arrivedRaw(lines: string[], from = 'bob@else.test'): Promise<Json> {
  clock.advance(1000)
  await receiveRaw(appliance, { from, to: ana.email, content: lines.join('\r\n') })
  return data<Json[]>(await get('messages?limit=1&in_trash_or_junk=true'))[0]!
}

const headerOf = ({ headers }: Message, name: string) =>
  headers!.find((field) => field.name.toLowerCase() === name)?.value ?? null

test('a draft is sent once, and is gone with its message', async () => {
  const { id, message_id } = await create(BASE)
  const before = (await submissions()).length
  const replies = await Promise.all(Array.from({ length: 6 }, () => call('POST', `drafts/${id}/send`)))
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [202, 404, 404, 404, 404, 404])
  assert.equal((await submissions()).length, before + 1)
  const { stored_message_id: stored, submission_id } = data<Json>(replies.find(({ status }) => status === 202)!, 202)
  const copy = await message(stored)
  assert.deepEqual(
    [copy.subject, copy.text_body!.trim(), copy.bcc.map(({ email }) => email)],
    ['Plan', 'The plan.', ['dora@customer.test']],
  )
  // The Bcc field of the message in Drafts is not in what is sent.
  assert.equal(headerOf(copy, 'bcc'), null)
  for (const path of [`messages/${message_id}`, `drafts/${id}`]) failure(await get(path), 404, 'not_found')
  const { envelope, draft_id } = data<Json>(await get(`submissions/${submission_id}`))
  assert.deepEqual([envelope.rcpt_to, draft_id], [['bob@customer.test', 'dora@customer.test'], null])
})

test('a repeated request with the same Idempotency-Key is answered, not sent again', async () => {
  const { id } = await create(BASE)
  const before = (await submissions()).length
  const key = { 'idempotency-key': 'once' }
  const first = await call('POST', `drafts/${id}/send`, undefined, key)
  const second = await call('POST', `drafts/${id}/send`, undefined, key)
  assert.deepEqual([second.status, second.body.data], [202, first.body.data])
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal((await submissions()).length, before + 1)
  const made = await call('POST', 'drafts', BASE, key)
  assert.deepEqual((await call('POST', 'drafts', BASE, key)).body.data, made.body.data)
})

test('a draft that is edited, deleted or moved while it is sent is not sent in its old form', async () => {
  const before = (await submissions()).length
  for (const action of ['edit', 'delete', 'trash'] as const) {
    const { id, message_id } = await create(BASE)
    const doings = {
      edit: () => call('PUT', `drafts/${id}`, { ...BASE, text_body: 'Another plan.' }, { 'if-match': '*' }),
      delete: () => call('DELETE', `drafts/${id}`),
      trash: () => call('DELETE', `messages/${message_id}`),
    }
    const [reply, other] = await Promise.all([call('POST', `drafts/${id}/send`), doings[action]()])
    const isSent = reply.status === 202
    // One of the two came first; the other is refused.
    assert.equal(isSent, other.status !== 200, `${action}: ${reply.status} ${other.status}`)
    if (!isSent) assert.ok([404, 409].includes(reply.status))
  }
  const all = (await submissions()).slice(0, (await submissions()).length - before)
  for (const { stored_message_id } of all)
    assert.equal((await message(stored_message_id)).text_body!.trim(), 'The plan.')
})

test('a cancelled submission brings back the very draft, with its quotation apart', async () => {
  const original = await arrived({ to: ana.email, text: 'The question?', id: 'q@else.test' })
  const made = data<DraftSummary>(
    await call('POST', `messages/${original.id}/reply`, { text_body: 'The answer.' }),
    201,
  )
  data(await call('PUT', `drafts/${made.id}`, await writable(made.id, { undo_seconds: 60 }), { 'if-match': '*' }))
  const { submission_id, stored_message_id } = data<Json>(await call('POST', `drafts/${made.id}/send`), 202)
  assert.match((await message(stored_message_id)).text_body!, /^The answer\.\n\nOn .* wrote:\n\n> The question\?/)
  failure(await get(`drafts/${made.id}`), 404, 'not_found')
  const cancelled = data<Json>(await call('POST', `submissions/${submission_id}/cancel`))
  assert.equal(cancelled.draft_id, made.id)
  const back = await read(made.id)
  assert.deepEqual(
    [back.text_body, back.quote, back.message_id],
    ['The answer.', { message_id: original.id, mode: 'all' }, stored_message_id],
  )
  data(await call('PUT', `drafts/${made.id}`, await writable(made.id, { undo_seconds: 0 }), { 'if-match': '*' }))
  data(await call('POST', `drafts/${made.id}/send`), 202)
  assert.equal((await sent()).filter(({ subject }) => subject === back.subject).length, 1)
})

test('a draft that is scheduled, cancelled and sent after its time has passed is refused or sent, never lost', async () => {
  const at = new Date(clock.now() + 60_000).toISOString()
  const { id } = await create({ ...BASE, send_at: at })
  clock.advance(120_000)
  assert.deepEqual(
    (await read(id)).problems.map(({ field }) => field),
    ['send_at'],
  )
  failure(await call('POST', `drafts/${id}/send`), 422, 'validation_error')
  assert.equal((await read(id)).subject, 'Plan')
})

/** The members of a draft as they are written. */
async function writable(id: string, change: object): Promise<object> {
  const { to, cc, bcc, reply_to, subject, text_body, html_body, attachments, quote, forward, in_reply_to_message_id } =
    await read(id)
  const files = attachments.map(({ size_bytes: _, ...file }) => file)
  return {
    ...{
      to,
      cc,
      bcc,
      reply_to,
      subject,
      text_body,
      html_body,
      attachments: files,
      quote,
      forward,
      in_reply_to_message_id,
    },
    ...change,
  }
}

test('a reply goes where the message says, without own addresses, in the thread', async () => {
  data(await appliance.call('POST', `/mailboxes/${ana.id}/aliases`, team.key, { email: 'orders@shop.test' }), 201)
  const original = await arrivedRaw([
    'From: "Bob, the builder" <bob@else.test>',
    'To: orders@shop.test, Carl <carl@else.test>, ana+x@shop.test',
    'Cc: dora@else.test, BOB@else.test, ana@shop.test',
    'Message-ID: <one@else.test>',
    'References: <zero@else.test>',
    'Subject: AW: Offer',
    '',
    'Text.',
  ])
  const reply = async (recipients: string) =>
    data<DraftSummary>(await call('POST', `messages/${original.id}/reply`, { recipients }), 201)
  const sender = await reply('sender')
  assert.deepEqual([sender.to, sender.cc], [[{ email: 'bob@else.test', name: 'Bob, the builder' }], []])
  const all = await reply('all')
  assert.deepEqual(all.to, sender.to)
  assert.deepEqual(
    all.cc.map(({ email }) => email),
    ['carl@else.test', 'dora@else.test'],
  )
  assert.deepEqual(
    [all.subject, all.thread_id, all.in_reply_to_message_id],
    ['AW: Offer', original.thread_id, original.id],
  )
  const identities = data<Json[]>(await get('identities'))
  assert.equal(all.identity_id, identities.find(({ email }) => email === 'orders@shop.test')!.id)
  const shown = await message(all.message_id)
  assert.deepEqual(
    [shown.from.email, shown.in_reply_to, shown.references],
    ['orders@shop.test', ['one@else.test'], ['zero@else.test', 'one@else.test']],
  )
  const { stored_message_id } = data<Json>(await call('POST', `drafts/${all.id}/send`), 202)
  const copy = await message(stored_message_id)
  assert.deepEqual(
    [copy.thread_id, copy.references, copy.from.email],
    [original.thread_id, shown.references, 'orders@shop.test'],
  )
  assert.equal((await message(original.id)).flags.answered, true)
  // An answer to an own message goes to whom that went.
  const again = data<DraftSummary>(
    await call('POST', `messages/${stored_message_id}/reply`, { recipients: 'all' }),
    201,
  )
  assert.deepEqual([again.to, again.cc], [all.to, all.cc])
  issues(await call('POST', `messages/${original.id}/reply`, { recipients: 'list' }), 422, 'validation_error', [
    'recipients forbidden_value',
  ])
})

test('a reply is written as the tagged address the message was sent to, and a draft as any own address', async () => {
  const original = await arrivedRaw([
    'From: bob@else.test',
    'To: Ana+Shop@shop.test',
    'Message-ID: <tagged@else.test>',
    'Subject: Order',
    '',
    'Text.',
  ])
  const reply = data<DraftSummary>(await call('POST', `messages/${original.id}/reply`, {}), 201)
  assert.deepEqual([reply.identity_id, reply.from], [null, { email: 'ana+shop@shop.test', name: '' }])
  assert.equal((await message(reply.message_id)).from.email, 'ana+shop@shop.test')
  const sent = data<Json>(await call('POST', `drafts/${reply.id}/send`), 202)
  assert.equal((await message(sent.stored_message_id)).from.email, 'ana+shop@shop.test')
  const written = data<DraftSummary>(
    await call('POST', 'drafts', { ...BASE, from: { email: 'ana+x@shop.test', name: 'Ana X' } }),
    201,
  )
  assert.deepEqual(written.from, { email: 'ana+x@shop.test', name: 'Ana X' })
  assert.deepEqual((await message(written.message_id)).from, written.from)
  issues(await call('POST', 'drafts', { ...BASE, from: { email: 'bob@shop.test' } }), 422, 'validation_error', [
    'from.email forbidden_value',
  ])
})

test('names and subjects of a stranger cannot add fields to a reply, a forward or a quotation', async () => {
  const original = await arrivedRaw([
    'From: =?utf-8?Q?Bob=0D=0ABcc:_z@z.test?= <bob@else.test>',
    'Reply-To: =?utf-8?Q?x=0D=0A=0D=0A<script>?= <bob@else.test>, "a@b, z@z.test" <not an address>',
    'To: =?utf-8?Q?=22=0D=0ABcc:_z@z.test?= <carl@else.test>, ana@shop.test',
    'Subject: =?utf-8?Q?Hi=0D=0ABcc:_z@z.test=0D=0A=0D=0A<b>?=',
    '',
    'Text.',
  ])
  for (const [action, body] of [
    ['reply', { recipients: 'all' }],
    ['forward', { mode: 'inline', to: BASE.to }],
    ['forward', { mode: 'attached', to: BASE.to, text_body: 'See' }],
  ] as const) {
    const made = data<DraftSummary>(await call('POST', `messages/${original.id}/${action}`, body), 201)
    const shown = await message(made.message_id)
    assert.equal(headerOf(shown, 'bcc'), null)
    assert.doesNotMatch(JSON.stringify([made.subject, made.to, made.cc]), /\\r|\\n/)
    assert.doesNotMatch(shown.html_body ?? '', /<script|<b>/)
    assert.ok(
      [...shown.to, ...shown.cc].every(({ email }) =>
        ['bob@else.test', 'carl@else.test', 'bob@customer.test'].includes(email),
      ),
    )
    data(await call('POST', `drafts/${made.id}/send`), 202)
  }
})

test('the quotation of a hostile message has its text and nothing of its HTML', async () => {
  const html = [
    '<style>p{background:url(https://evil.test/css)}</style><base href="https://evil.test/">',
    '<p onclick="run()">Visible <b>bold</b> <a href="javascript:run()">click</a> <a href="https://good.test/?a=1&amp;b=2">good</a></p>',
    '<img src="https://evil.test/pixel.png"><img src=x onerror=run()><svg onload=run()></svg><iframe src="https://evil.test"></iframe>',
    '<a href="data:text/html,<script>run()</script>">data</a> &lt;script&gt;run()&lt;/script&gt; &lt;/blockquote&gt;',
    '<form action="https://evil.test"><input name=a></form><!-- --></div></blockquote></body></html>',
    '<p style="display:none">secret</p><ul><li>one</li><li>two [x](javascript:run()) ![p](https://evil.test/p.png)</li></ul>',
    '<p>&amp;lt;img src=x&amp;gt; `code` &lt;https://auto.test/&gt;</p>',
  ].join('\r\n')
  const original = await arrivedRaw([
    'From: Mallory <m@else.test>',
    'Subject: Hostile',
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    html,
  ])
  for (const [action, body] of [
    ['reply', { html_body: '<html><body><p>Mine</p></body></html>' }],
    ['reply', { quote: 'text' }],
    ['forward', {}],
  ] as const) {
    const made = data<DraftSummary>(await call('POST', `messages/${original.id}/${action}`, body), 201)
    const shown = (await message(made.message_id)).html_body!
    const tags = [...shown.matchAll(/<\/?([a-z0-9]+)([^>]*)>/gi)]
    const allowed =
      /^(?:html|body|div|p|br|b|strong|em|i|a|ul|ol|li|blockquote|code|pre|h[1-6]|hr|table|thead|tbody|tr|td|th)$/i
    for (const [whole, name, rest] of tags) {
      assert.match(name!, allowed, whole)
      assert.match(
        rest!,
        /^(?:| href="(?:https?:|mailto:)[^"<>]*"| type="cite"| start="\d+"| style="text-align:\w+"|\s*\/)$/,
        whole,
      )
    }
    assert.match(shown, /Visible <strong>bold<\/strong>/)
    assert.match(shown, /&lt;script&gt;run\(\)&lt;\/script&gt;/)
    assert.match(shown, /href="https:\/\/good\.test\/\?a=1&amp;b=2"/)
    assert.doesNotMatch(shown, /secret|pixel\.png"|evil\.test\/css|<img/)
    const opened = tags.filter(([whole, name]) => name === 'blockquote' && !whole.startsWith('</')).length
    assert.equal(tags.filter(([whole, name]) => name === 'blockquote' && whole.startsWith('</')).length, opened)
    if ('html_body' in body) assert.match(shown, /^<html><body><p>Mine<\/p><div>[\s\S]*<\/div>\s*<\/body><\/html>$/)
  }
})

test('a text of blanks takes no longer than another one', () => {
  const start = process.cpuUsage()
  const quotation = { text: '> Question\n', html: '' }
  const text = `${' '.repeat(200_000)}x`
  assert.equal(belowText(`${text} \n\t`, quotation), `${text}\n\n> Question\n`)
  // Quadratic time is more than ten seconds.
  assert.ok(process.cpuUsage(start).user < 1_000_000)
})

test('who writes plain text answers in plain text; without text the quotation stands alone', async () => {
  const original = await arrivedRaw([
    'From: Bob <bob@else.test>',
    'Date: Sun, 22 Nov 2026 10:11:12 +0000',
    'Subject: Plain',
    '',
    'One',
    '> two',
    '',
    'three',
  ])
  const made = data<DraftSummary>(await call('POST', `messages/${original.id}/reply`, { text_body: 'Mine' }), 201)
  const shown = await message(made.message_id)
  assert.equal(shown.html_body, null)
  assert.equal(
    shown.text_body!.trim(),
    'Mine\n\nOn 22 Nov 2026 at 10:11 UTC, Bob <bob@else.test> wrote:\n\n> One\n>> two\n>\n> three',
  )
  assert.equal((await read(made.id)).text_body, 'Mine')
  const none = data<DraftSummary>(await call('POST', `messages/${original.id}/reply`, { quote: 'none' }), 201)
  assert.deepEqual((await read(none.id)).quote, null)
  const bare = data<DraftSummary>(await call('POST', `messages/${original.id}/reply`), 201)
  assert.match((await message(bare.message_id)).html_body!, /wrote:<\/p>\s*<blockquote type="cite">/)
})

test('a forward has the files by reference, marks the message when it is sent, and can attach the whole message', async () => {
  const original = await arrivedRaw([
    'From: Bob <bob@else.test>',
    'To: ana@shop.test',
    'Subject: Files',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: text/html',
    '',
    '<p>See <i>files</i></p>',
    '--x',
    'Content-Type: text/plain',
    'Content-Disposition: attachment; filename="../etc/pass\\"wd.txt"',
    '',
    'content of a file',
    '--x',
    'Content-Type: multipart/strange',
    'Content-Disposition: attachment; filename="photo.jpg"',
    'Content-Transfer-Encoding: base64',
    '',
    'AAEC',
    '--x--',
  ])
  const { attachments } = await message(original.id)
  const made = data<DraftSummary>(await call('POST', `messages/${original.id}/forward`, { to: BASE.to }), 201)
  assert.deepEqual([made.subject, made.forward], ['Fwd: Files', { message_id: original.id, mode: 'inline' }])
  assert.deepEqual(
    made.attachments.map(({ blob_id }) => blob_id),
    attachments!.map(({ blob_id }) => blob_id),
  )
  const shown = await message(made.message_id)
  assert.match(
    shown.html_body!,
    /Forwarded message -+<br>\s*From: Bob &lt;bob@else\.test&gt;<br>[\s\S]*<em>files<\/em>/,
  )
  assert.deepEqual(shown.in_reply_to, [])
  assert.ok(!(await message(original.id)).keywords.includes('$forwarded'))
  data(await call('POST', `drafts/${made.id}/send`), 202)
  assert.ok((await message(original.id)).keywords.includes('$forwarded'))
  const whole = data<DraftSummary>(
    await call('POST', `messages/${original.id}/forward`, { mode: 'attached', to: BASE.to }),
    201,
  )
  assert.deepEqual(
    whole.attachments.map(({ filename, type, size_bytes }) => [filename, type, size_bytes]),
    [['Files.eml', 'message/rfc822', original.size_bytes]],
  )
  failure(await call('POST', `drafts/${whole.id}/send`), 422, 'validation_error')
  data(await call('PUT', `drafts/${whole.id}`, await writable(whole.id, { text_body: 'See' }), { 'if-match': '*' }))
  data(await call('POST', `drafts/${whole.id}/send`), 202)
})

test('what a quotation needs and is no longer there is a problem, not a surprise', async () => {
  const original = await arrived({ to: ana.email, text: 'Soon gone' })
  const made = data<DraftSummary>(await call('POST', `messages/${original.id}/reply`, { text_body: 'Mine' }), 201)
  data(await call('DELETE', `messages/${original.id}?permanent=true`))
  const { problems } = await read(made.id)
  assert.deepEqual(problems.map(({ field, code }) => `${field} ${code}`).toSorted(), [
    'in_reply_to_message_id not_found',
    'quote.message_id not_found',
  ])
  failure(await call('POST', `drafts/${made.id}/send`), 422, 'validation_error')
  const without = await writable(made.id, { quote: null, in_reply_to_message_id: null })
  data(await call('PUT', `drafts/${made.id}`, without, { 'if-match': '*' }))
  data(await call('POST', `drafts/${made.id}/send`), 202)
})
