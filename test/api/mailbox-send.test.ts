// Sending from a mailbox: the copy in Sent, replies, attachments, times, and errors.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { Message, RawMessage } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { ThreadDetail } from '../../src/api/schemas/thread.ts'
import { newId } from '../../src/base/ids.ts'
import { type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, receive, receiveRaw, walk } from './expect.ts'

interface Sent {
  message_id: string
  submission_id: string
  stored_message_id: string | null
  send_at: string
  status: string
}

const SECOND = 1000
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ben = await team.mailbox('ben@shop.test')
await appliance.app.administration.mailboxes.update(team.id, ana.id, { displayName: 'Ana of the shop' }, 0)

function mail(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { to: [{ email: ben.email, name: 'Ben' }], subject: 'Hello', text_body: 'Hello Ben', ...more }
}

const post = (body: unknown, key: string = ana.key, headers: Record<string, string> = {}): Promise<Reply> =>
  appliance.call('POST', '/mailbox/messages/send', key, body, headers)

async function send(more: Record<string, unknown> = {}, key = ana.key): Promise<Sent> {
  const sent = data<Sent>(await post(mail(more), key), 202)
  await appliance.settle()
  return sent
}

const read = async (id: string, key = ana.key, include = 'headers,text_body,attachments') =>
  data<Message>(await appliance.get(`/mailbox/messages/${id}?include=${include}`, key))
const inbox = (key: string, q: string) =>
  walk<MessageSummaryJson>(appliance, `/mailbox/messages?q=${encodeURIComponent(`in:inbox ${q}`)}`, key)
const logOf = (id: string) => walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${id}`, team.key)

describe('a sent message', () => {
  test('has its ids in the response, and its copy in Sent is as composed', async () => {
    const reply = await post(mail({ subject: 'First', bcc: [{ email: 'eve@shop.test', name: 'Eve' }] }))
    const sent = data<Sent>(reply, 202)
    assert.equal(reply.headers.get('location'), `/api/v1/mailbox/submissions/${sent.submission_id}`)
    assert.match(sent.message_id, /^eml_/)
    assert.deepEqual([sent.status, sent.send_at], ['queued', '2030-01-02T03:04:05.000Z'])
    await appliance.settle()
    const copy = await read(sent.stored_message_id!)
    const { message_id, submission_id } = sent
    assert.deepEqual(
      copy.delivery,
      { message_id, submission_id, status: 'partially_sent' },
      'the address of Eve does not exist',
    )
    assert.deepEqual(copy.from, { email: ana.email, name: 'Ana of the shop' })
    assert.deepEqual([copy.bcc, copy.flags.seen], [[{ email: 'eve@shop.test', name: 'Eve' }], true])
    assert.deepEqual([copy.untrusted_content, copy.text_body?.trim()], [false, 'Hello Ben'])
    const raw = data<RawMessage>(await appliance.get(`/mailbox/messages/${copy.id}/raw`, ana.key))
    assert.doesNotMatch(Buffer.from(raw.raw, 'base64').toString(), /eve@shop\.test/)
    const [arrived] = await inbox(ben.key, 'subject:First')
    const got = await read(arrived!.id, ben.key)
    assert.deepEqual([got.bcc, got.delivery, got.untrusted_content], [[], null, true])
    assert.equal(got.internet_message_id, copy.internet_message_id)
  })

  test('shows its delivery status: one recipient of two', async () => {
    data(await appliance.call('POST', '/suppressions', team.key, { email: 'gone@shop.test' }), 201)
    const half = await send({ cc: [{ email: 'gone@shop.test' }] })
    assert.equal((await read(half.stored_message_id!)).delivery!.status, 'partially_sent')
    const none = await send({ to: [{ email: 'gone@shop.test' }] })
    assert.equal(none.status, 'failed')
    assert.equal((await read(none.stored_message_id!)).delivery!.status, 'failed')
    assert.match((await logOf(none.message_id))[0]!.status_reason!, /^suppressed: /)
  })

  test('changes the states of the types it affects', async () => {
    const states = async () =>
      data<{ states: Record<string, string> }>(await appliance.get('/mailbox/session', ana.key)).states
    const before = await states()
    await post(mail({ save_to_sent: false }))
    const during = await states()
    assert.notEqual(during.submissions, before.submissions)
    assert.deepEqual([during.messages, during.folders], [before.messages, before.folders])
    await appliance.settle()
    assert.notEqual((await states()).submissions, during.submissions, 'its outcome changes the submission')
    await send()
    const after = await states()
    for (const type of ['messages', 'threads', 'folders', 'quotas']) assert.notEqual(after[type], before[type], type)
  })

  test('leaves no copy when none is requested', async () => {
    const sent = await send({ subject: 'Without a trace', save_to_sent: false })
    assert.equal(sent.stored_message_id, null)
    assert.equal((await inbox(ben.key, 'subject:trace')).length, 1)
    assert.deepEqual(await walk(appliance, '/mailbox/messages?q=in:sent+subject:trace', ana.key), [])
  })

  test('to its own mailbox is stored twice, in one thread', async () => {
    const sent = await send({ to: [{ email: 'ana+notes@shop.test' }], subject: 'Note to self' })
    const { thread_id } = await read(sent.stored_message_id!)
    const thread = data<ThreadDetail>(await appliance.get(`/mailbox/threads/${thread_id}`, ana.key))
    assert.deepEqual([thread.message_ids.length, thread.unread_count], [2, 1])
  })
})

describe('a reply', () => {
  test('references the answered message, joins its thread and marks it as answered', async () => {
    await receive(appliance, {
      to: ana.email,
      subject: 'Question',
      id: 'q1@else.test',
      more: ['References: <q0@else.test>'],
    })
    const [question] = await inbox(ana.key, 'subject:Question')
    const sent = await send({ subject: 'An answer', in_reply_to_message_id: question!.id })
    const copy = await read(sent.stored_message_id!)
    assert.deepEqual([copy.in_reply_to, copy.references], [['q1@else.test'], ['q0@else.test', 'q1@else.test']])
    assert.equal(copy.thread_id, question!.thread_id)
    const marked = await read(question!.id)
    assert.deepEqual([marked.flags.answered, marked.keywords.includes('$answered')], [true, true])
  })

  test('joins the thread by its header fields alone', async () => {
    await receive(appliance, { to: ana.email, subject: 'Header', id: 'h1@else.test' })
    const [one] = await inbox(ana.key, 'subject:Header')
    const sent = await send({ subject: 'Quite another', custom_headers: { 'In-Reply-To': '<h1@else.test>' } })
    assert.equal((await read(sent.stored_message_id!)).thread_id, one!.thread_id)
    assert.equal((await read(one!.id)).flags.answered, false)
    const byMember = await send({ subject: 'A third', in_reply_to: 'h1@else.test' })
    assert.equal((await read(byMember.stored_message_id!)).thread_id, one!.thread_id)
  })

  test('to a missing message or one of another mailbox is rejected', async () => {
    await receive(appliance, { to: ben.email, subject: 'Of Ben' })
    const [theirs] = await inbox(ben.key, 'subject:Ben')
    for (const id of [theirs!.id, newId('message')]) {
      const reply = await post(mail({ in_reply_to_message_id: id }))
      issues(reply, 422, 'validation_error', ['in_reply_to_message_id not_found'])
    }
    const [mine] = await inbox(ana.key, 'subject:Header')
    const both = mail({ in_reply_to_message_id: mine!.id, custom_headers: { 'in-reply-to': '<x@y.test>' } })
    issues(await post(both), 422, 'validation_error', ['custom_headers.In-Reply-To forbidden_value'])
    const byId = mail({ in_reply_to_message_id: mine!.id, in_reply_to: 'h1@else.test' })
    issues(await post(byId), 422, 'validation_error', ['in_reply_to forbidden_value'])
    const twice = mail({ reply_to: [{ email: 'a@shop.test' }], custom_headers: { 'Reply-To': 'b@shop.test' } })
    issues(await post(twice), 422, 'validation_error', ['custom_headers.Reply-To forbidden_value'])
  })
})

describe('attachments', () => {
  const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

  test('are sent inside the body, also shown in the HTML', async () => {
    const sent = await send({
      html_body: '<img src="cid:logo@shop.test">',
      attachments: [
        { filename: 'logo.png', content: base64('png'), disposition: 'inline', content_id: 'logo@shop.test' },
        { filename: 'prices.csv', content: base64('a;b'), encoding: 'base64', type: 'text/csv; charset=utf-8' },
      ],
    })
    const { attachments } = await read(sent.stored_message_id!)
    assert.deepEqual(
      attachments!.map((file) => [file.filename, file.inline, file.content_id, file.content_type, file.size_bytes]),
      [
        ['logo.png', true, 'logo@shop.test', 'image/png', 3],
        ['prices.csv', false, null, 'text/csv', 3],
      ],
    )
  })

  test('are taken from content of the mailbox: a received file, or a whole message', async () => {
    const content = Buffer.alloc(300_000, 'pdf')
    const encoded = content.toString('base64').replace(/.{76}/g, '$&\r\n')
    const received = [
      ...[
        'From: ann@else.test',
        `To: ${ana.email}`,
        'Subject: Bill',
        'MIME-Version: 1.0',
        'Message-ID: <bill@else.test>',
      ],
      ...['Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'See there.', '--b'],
      ...[
        'Content-Type: application/pdf; name=bill.pdf',
        'Content-Transfer-Encoding: base64',
        '',
        encoded,
        '--b--',
        '',
      ],
    ]
    await receiveRaw(appliance, { from: 'ann@else.test', to: ana.email, content: received.join('\r\n') })
    const [bill] = await inbox(ana.key, 'subject:Bill')
    const { blob_id: whole, attachments } = await read(bill!.id)
    const [file] = attachments!
    const sent = await send({
      subject: 'Forwarded',
      attachments: [
        { filename: 'bill.pdf', blob_id: file!.blob_id },
        { filename: 'bill.eml', blob_id: whole },
      ],
    })
    const [arrived] = await inbox(ben.key, 'subject:Forwarded')
    const got = await read(arrived!.id, ben.key)
    assert.deepEqual(
      got.attachments!.map(({ filename, size_bytes }) => [filename, size_bytes]),
      [
        ['bill.pdf', content.length],
        ['bill.eml', bill!.size_bytes],
      ],
    )
    const copy = await read(sent.stored_message_id!)
    assert.equal(copy.attachments![0]!.blob_id, file!.blob_id, 'the same content has the same name')
    const stranger = mail({ attachments: [{ filename: 'bill.pdf', blob_id: file!.blob_id }] })
    issues(await post(stranger, ben.key), 422, 'validation_error', ['attachments.0.blob_id not_found'])
  })

  test('without content, with two contents, too large, or of another mailbox are rejected', async () => {
    const one = (file: Record<string, unknown>) => mail({ attachments: [{ filename: 'a.txt', ...file }] })
    const blob_id = `blob_${'a'.repeat(24)}`
    const cases: [body: unknown, issue: string][] = [
      [one({}), 'attachments.0.content required'],
      [one({ content: 'AAAA', blob_id }), 'attachments.0.blob_id forbidden_value'],
      [one({ blob_id }), 'attachments.0.blob_id not_found'],
      [one({ blob_id: 'x' }), 'attachments.0.blob_id invalid_format'],
      [one({ content: 'AAA' }), 'attachments.0.content invalid_format'],
      [one({ content: base64(Buffer.alloc(10_485_761)) }), 'attachments.0.content too_big'],
      [one({ content: 'AAAA', filename: 'run.exe' }), 'attachments.0.filename forbidden_value'],
      [one({ content: 'AAAA', path: '/etc/passwd' }), 'attachments.0.path unknown_field'],
    ]
    for (const [body, issue] of cases) issues(await post(body), 422, 'validation_error', [issue])
    const three = Array.from({ length: 3 }, (_, i) => ({
      filename: `${i}.zip`,
      content: base64(Buffer.alloc(9 * 1_048_576, String(i))),
    }))
    failure(await post(mail({ attachments: three })), 413, 'payload_too_large')
  })
})

describe('the time of sending', () => {
  test('is delayed for undo, and reported', async () => {
    const sent = await send({ subject: 'Held', undo_seconds: 20 })
    const at = new Date(clock.now() + 20 * SECOND).toISOString()
    assert.deepEqual([sent.status, sent.send_at], ['scheduled', at])
    assert.equal((await read(sent.stored_message_id!)).delivery!.status, 'scheduled')
    assert.equal((await inbox(ben.key, 'subject:Held')).length, 0)
    clock.advance(21 * SECOND)
    await appliance.settle()
    assert.equal((await inbox(ben.key, 'subject:Held')).length, 1)
    assert.equal((await read(sent.stored_message_id!)).delivery!.status, 'sent')
  })

  test('is the requested one, also in the Date field', async () => {
    const at = new Date(clock.now() + 3600 * SECOND)
    const sent = await send({ subject: 'Planned', send_at: at.toISOString() })
    assert.deepEqual([sent.status, sent.send_at], ['scheduled', at.toISOString()])
    assert.equal((await read(sent.stored_message_id!)).sent_at, at.toISOString())
    clock.advance(3601 * SECOND)
    await appliance.settle()
    assert.equal((await inbox(ben.key, 'subject:Planned')).length, 1)
  })

  test('is 5 seconds to 30 days ahead', async () => {
    const day = 86_400 * SECOND
    for (const [ms, code] of [
      [-day, 'too_small'],
      [4 * SECOND, 'too_small'],
      [30 * day + SECOND, 'too_big'],
    ] as const) {
      const reply = await post(mail({ send_at: new Date(clock.now() + ms).toISOString() }))
      issues(reply, 422, 'validation_error', [`send_at ${code}`])
    }
    issues(await post(mail({ send_at: 'tomorrow' })), 422, 'validation_error', ['send_at invalid_format'])
    issues(await post(mail({ undo_seconds: 121 })), 422, 'validation_error', ['undo_seconds too_big'])
  })
})

describe('errors', () => {
  test('are reported by their member', async () => {
    const crowd = Array.from({ length: 50 }, (_, i) => ({ email: `u${i}@shop.test` }))
    const cases: [body: unknown, status: number, code: string, issue: string][] = [
      [mail({ to: [] }), 422, 'validation_error', 'to too_small'],
      [mail({ to: [{ email: 'x' }] }), 422, 'validation_error', 'to.0.email invalid_format'],
      [mail({ to: crowd, bcc: [{ email: 'one@more.test' }] }), 422, 'validation_error', 'to too_big'],
      [mail({ subject: 'a\r\nBcc: x' }), 422, 'validation_error', 'subject invalid_format'],
      [mail({ text_body: undefined }), 400, 'missing_parameter', 'html_body required'],
      [mail({ text_body: '', html_body: '' }), 400, 'missing_parameter', 'html_body required'],
      [mail({ from: { email: 'ceo@shop.test' } }), 422, 'validation_error', 'from.email forbidden_value'],
      [mail({ return_path: 'x@shop.test' }), 422, 'validation_error', 'return_path unknown_field'],
      [
        mail({ custom_headers: { Sender: 'x@y.test' } }),
        422,
        'validation_error',
        'custom_headers.Sender forbidden_value',
      ],
    ]
    for (const [body, status, code, issue] of cases) issues(await post(body), status, code, [issue])
  })

  test('occur for every message while the mailbox is suspended, and for copies while it is full', async () => {
    const box = await team.mailbox('late@shop.test')
    await appliance.app.directory.mailboxes.suspend(team.id, box.id)
    failure(await post(mail(), box.key), 409, 'conflict')
    const small = await team.mailbox('small@shop.test', { quotaBytes: 10_485_760 })
    await appliance.app.db.write((tx) =>
      tx.run('UPDATE accounts SET used_bytes = ? WHERE mailbox_id = ?', [10_485_700, small.id]),
    )
    failure(await post(mail(), small.key), 409, 'conflict')
    data(await post(mail({ save_to_sent: false }), small.key), 202)
    await appliance.settle()
  })

  test('occur for a key without permission to send', async () => {
    const made = await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, {
      name: 'reader',
      permissions: ['mailbox.read', 'mailbox.write'],
    })
    const { key } = data<{ key: string }>(made, 201)
    assert.match(failure(await post(mail(), key), 403, 'insufficient_permissions').message, /email\.send/)
    failure(await post(mail(), team.key), 403, 'insufficient_permissions')
  })
})

test('a repetition sends nothing more and returns the first response', async () => {
  const body = mail({ subject: 'Repeated' })
  const all = await Promise.all(Array.from({ length: 50 }, () => post(body, ana.key, { 'idempotency-key': 'again' })))
  const again = await post(body, ana.key, { 'idempotency-key': 'again' })
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const sent = data<Sent>(again, 202)
  for (const reply of all) if (reply.status !== 409) assert.deepEqual(data<Sent>(reply, 202), sent)
  assert.equal(again.headers.get('location'), `/api/v1/mailbox/submissions/${sent.submission_id}`)
  await appliance.settle()
  assert.equal((await inbox(ben.key, 'subject:Repeated')).length, 1)
  assert.equal((await walk(appliance, '/mailbox/messages?q=in:sent+subject:Repeated', ana.key)).length, 1)
})
