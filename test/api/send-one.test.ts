// One message over the Sending API: forms of addresses, delays, cancellation, tags and metadata.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { readOutgoing } from '../../src/api/sending/outgoing-message.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, walk } from './expect.ts'

const START = Date.UTC(2030, 0, 2, 3, 4, 5)
const clock = new ManualClock(START)
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ben = await team.mailbox('ben@shop.test')
const stranger = await appliance.team('Stranger')

const URL_OF = `${appliance.sendOrigin}/api/v1/emails`
const given = (more: object = {}) => ({
  from: 'Shop <news@shop.test>',
  to: ben.email,
  subject: 'Hello',
  text_body: 'Hello Ben',
  ...more,
})
const post = (more: object = {}, key = team.key, headers: Record<string, string> = {}) =>
  appliance.call('POST', `${URL_OF}/send`, key, given(more), headers)
const send = async (more: object = {}, key = team.key) =>
  data<{ message_id: string; status: string; send_at: string }>(await post(more, key), 202)
const cancel = (id: string, key = team.key) => appliance.call('POST', `${URL_OF}/${id}/cancel`, key)
const logOf = (query: string) => walk<DeliveryLogJson>(appliance, `/emails/logs?${query}`, team.key)

async function received(subject: string): Promise<Message> {
  const [found] = await walk<MessageSummaryJson>(appliance, `/mailbox/messages?q=subject:${subject}`, ben.key)
  return data(await appliance.get(`/mailbox/messages/${found!.id}?include=headers,attachments,html_body`, ben.key))
}

describe('addresses', () => {
  test('are texts, objects or lists of both', async () => {
    await send({
      subject: 'Forms',
      to: [ben.email, { email: ana.email, name: 'Ana' }, '"Größe, Carl" <carl@else.test>'],
      cc: { email: 'cc@else.test' },
      bcc: 'bcc@else.test',
      reply_to: 'Desk <desk@shop.test>',
    })
    await appliance.settle()
    const got = await received('Forms')
    assert.deepEqual(got.from, { email: 'news@shop.test', name: 'Shop' })
    assert.deepEqual(got.to, [
      { email: ben.email, name: '' },
      { email: ana.email, name: 'Ana' },
      { email: 'carl@else.test', name: 'Größe, Carl' },
    ])
    assert.deepEqual(
      [got.cc, got.reply_to],
      [[{ email: 'cc@else.test', name: '' }], [{ email: 'desk@shop.test', name: 'Desk' }]],
    )
  })

  test('may name their person in a quoted string', async () => {
    await send({ subject: 'Quoted', reply_to: ['"Ann \\"Q\\" \\\\ Lee" <ann@else.test>', '"" <a@else.test>'] })
    await appliance.settle()
    const { reply_to } = await received('Quoted')
    assert.deepEqual(reply_to, [
      { email: 'ann@else.test', name: 'Ann "Q" \\ Lee' },
      { email: 'a@else.test', name: '' },
    ])
  })

  test('of any length are read in linear time', () => {
    const start = process.cpuUsage()
    const mail = { subject: 'Long', text_body: 'x' }
    for (const to of [' '.repeat(100_000), `"${'\\"'.repeat(100_000)}`, '"" '.padEnd(100_000)]) {
      assert.throws(() => readOutgoing({ ...mail, to }, 'body'), { code: 'validation_error' })
    }
    // Quadratic time is more than five seconds.
    assert.ok(process.cpuUsage(start).user < 1_000_000)
    const { to } = readOutgoing(
      { ...mail, to: ['Ana  <ana@shop.test>', '"Ben" <ben@shop.test>', '<c@x.test>'] },
      'body',
    ).mail
    assert.deepEqual(to, [
      { email: 'ana@shop.test', name: 'Ana' },
      { email: 'ben@shop.test', name: 'Ben' },
      { email: 'c@x.test', name: '' },
    ])
  })

  test('of the batch have the same forms', async () => {
    const messages = [given({ to: [ben.email, 'Ana <ana@shop.test>'] }), given({ to: 'nobody' }), given({ to: [] })]
    const { results } = data<Json>(await appliance.call('POST', `${URL_OF}/send/batch`, team.key, { messages }))
    assert.deepEqual(
      results.map((one: Json) => [one.status, one.error?.param]),
      [
        ['queued', undefined],
        ['failed', 'to.email'],
        ['failed', 'to'],
      ],
    )
  })

  test('that are wrong are reported as they were written', async () => {
    for (const [more, issue] of [
      [{ to: 7 }, 'to invalid_union'],
      [{ to: { email: 'x', surprise: 1 } }, 'to.surprise unknown_field'],
      [{ to: ['ana@shop.test', 'x'] }, 'to.1.email invalid_format'],
      [{ cc: { email: 'x' } }, 'cc.email invalid_format'],
      [{ from: [] }, 'from invalid_union'],
      [{ to: 'Ana <a@b.test>, Ben <b@b.test>' }, 'to.email invalid_format'],
      [{ to: 'Ana\r\nBcc: eve@else.test <a@b.test>' }, 'to.name invalid_format'],
      [{ txt_body: 'x' }, 'txt_body unknown_field'],
    ] as const) {
      issues(await post(more), 422, 'validation_error', [issue])
    }
    assert.match(failure(await post({ txt_body: 'x' }), 422, 'validation_error').message, /Did you mean `text_body`\?/)
  })
})

test('files are inline by content id, or content of the mailbox', async () => {
  const png = Buffer.from('png').toString('base64')
  const attachments = [{ filename: 'a.png', content: png, disposition: 'inline', content_id: 'logo' }]
  await send({ subject: 'Inline', html_body: '<img src="cid:logo">', attachments })
  const upload = { filename: 'b.txt', content: 'YQ==' }
  const { blob_id } = data<Json>(await appliance.call('POST', '/mailbox/attachments', ana.key, upload), 201)
  const stored = [{ filename: 'b.txt', blob_id }]
  await send({ subject: 'Stored', from: undefined, attachments: stored }, ana.key)
  await appliance.settle()
  const [inline] = (await received('Inline')).attachments!
  assert.deepEqual([inline!.filename, inline!.content_id], ['a.png', 'logo'])
  assert.equal((await received('Stored')).attachments![0]!.filename, 'b.txt')
  issues(await post({ attachments: stored }), 422, 'validation_error', ['attachments.0.blob_id forbidden_value'])
  const none = [{ filename: 'b.txt' }]
  issues(await post({ attachments: none }), 400, 'missing_parameter', ['attachments.0.content required'])
})

test('a repetition with the same key sends nothing twice', async () => {
  const headers = { 'idempotency-key': 'order-117' }
  const [first, second] = [
    await post({ subject: 'Once' }, team.key, headers),
    await post({ subject: 'Once' }, team.key, headers),
  ]
  assert.equal(data<Json>(first, 202).message_id, data<Json>(second, 202).message_id)
  assert.equal((await logOf('q=Once')).length, 1)
})

describe('a message can be canceled', () => {
  test('until it left', async () => {
    const later = await send({
      subject: 'Later',
      send_at: new Date(clock.now() + 3_600_000).toISOString(),
      undo_seconds: 60,
    })
    assert.deepEqual([later.status, later.send_at], ['scheduled', new Date(clock.now() + 3_660_000).toISOString()])
    const canceled = data<Json>(await cancel(later.message_id))
    assert.deepEqual(canceled, {
      message_id: later.message_id,
      status: 'canceled',
      canceled_at: new Date(clock.now()).toISOString(),
    })
    const [row] = await logOf(`message_id=${later.message_id}`)
    assert.equal(row!.status, 'failed')
    assert.match(row!.status_reason!, /^cancelled/)
    failure(await cancel(later.message_id), 409, 'conflict')
    const gone = await send()
    await appliance.settle()
    failure(await cancel(gone.message_id), 409, 'conflict')
  })

  test('not when one recipient has got it and another still waits for a connection', async () => {
    const { message_id: id } = await send({ subject: 'Half', to: [ben.email, ana.email], undo_seconds: 5 })
    // As the runner does while all connections to a server are in use: the delivery is requeued without an attempt.
    await appliance.app.db.write((tx) =>
      tx.run(
        `UPDATE queue SET due_at = due_at + 600000 WHERE delivery =
           (SELECT n FROM deliveries WHERE to_email = ? AND email = (SELECT n FROM emails WHERE id = ?))`,
        [ana.email, id],
      ),
    )
    clock.advance(6000)
    await appliance.settle()
    const statuses = (await logOf(`message_id=${id}`)).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), ['pending', 'sent'])
    failure(await cancel(id), 409, 'conflict')
    assert.deepEqual((await logOf(`message_id=${id}`)).map(({ status }) => status).toSorted(), statuses.toSorted())
    assert.equal(data<Json>(await appliance.get(`/emails/${id}`, team.key)).status, 'sending')
    clock.advance(600_000)
    await appliance.settle()
  })

  test('by its mailbox, and not by another one or another team', async () => {
    const { message_id: id } = await send({ from: undefined, subject: 'Undone', undo_seconds: 100 }, ana.key)
    for (const key of [ben.key, stranger.key]) failure(await cancel(id, key), 404, 'not_found')
    data(await cancel(id, ana.key))
    const [submission] = data<Json[]>(await appliance.get('/mailbox/submissions', ana.key))
    assert.deepEqual([submission!.message_id, submission!.status], [id, 'canceled'])
    const drafts = await walk<MessageSummaryJson>(appliance, '/mailbox/messages?q=in:drafts', ana.key)
    assert.deepEqual(
      drafts.map(({ subject }) => subject),
      ['Undone'],
    )
  })
})

test('a suspended mailbox cancels nothing: its copy would move', async () => {
  const carl = await team.mailbox('carl@shop.test')
  const { message_id: id } = await send({ from: undefined, subject: 'Held', undo_seconds: 100 }, carl.key)
  data(await appliance.call('POST', `/mailboxes/${carl.id}/suspend`, team.key))
  failure(await cancel(id, carl.key), 409, 'conflict')
  const folders = await walk<MessageSummaryJson>(appliance, '/mailbox/messages?q=in:drafts', carl.key)
  assert.deepEqual(folders, [])
  data(await cancel(id))
})

describe('a sent message', () => {
  test('has all recipients with their timelines, and the content while it is kept', async () => {
    const to = [ben.email, ana.email]
    const { message_id: id } = await send({ subject: 'Whole', to, undo_seconds: 60, tags: { a: 'b' } })
    const read = async () => data<Json>(await appliance.get(`/emails/${id}`, team.key))
    const waiting = await read()
    assert.deepEqual([waiting.status, waiting.tags, waiting.metadata], ['scheduled', { a: 'b' }, null])
    assert.deepEqual([waiting.content.subject, waiting.content.text_body.trim()], ['Whole', 'Hello Ben'])
    const made = await appliance.call('POST', '/api-keys', team.key, { name: 'Reader', permissions: ['logs.read'] })
    const { key } = data<Json>(made, 201)
    assert.equal(data<Json>(await appliance.get(`/emails/${id}`, key)).content, null)
    clock.advance(61_000)
    await appliance.settle()
    const sent = await read()
    assert.deepEqual([sent.status, sent.recipient_counts], ['sent', { pending: 0, sent: 2, failed: 0, rejected: 0 }])
    assert.equal(sent.content, null)
    assert.deepEqual(sent.recipients.map(({ email }: Json) => email).sort(), [...to].sort())
    for (const { timeline } of sent.recipients) {
      const steps = timeline.map(({ type }: Json) => type)
      assert.deepEqual([steps[0], steps.at(-1)], ['accepted', 'sent'])
    }
    failure(await appliance.get(`/emails/${id}`, stranger.key), 404, 'not_found')
  })

  test('of a mailbox is shown without its content', async () => {
    const { message_id: id } = await send({ from: undefined, undo_seconds: 60 }, ana.key)
    const shown = data<Json>(await appliance.get(`/emails/${id}`, team.key))
    assert.deepEqual([shown.mailbox_id, shown.content], [ana.id, null])
  })

  test('is listed once, whatever the number of its recipients', async () => {
    const { message_id: id } = await send({ to: [ben.email, ana.email], tags: { list: 'once' } })
    const list = (query: string) => walk<Json>(appliance, `/emails?${query}`, team.key)
    assert.deepEqual(
      (await list('tag=list:once')).map((one) => one.id),
      [id],
    )
    assert.equal((await list('limit=1'))[0]!.id, id)
    assert.deepEqual(await list(`before=${new Date(START).toISOString()}`), [])
    assert.ok((await list(`mailbox_id=${ana.id}`)).every((one) => one.mailbox_id === ana.id))
    failure(await appliance.get('/emails?from_date=2030-01-01', team.key), 422, 'validation_error')
    assert.deepEqual(await walk(appliance, '/emails', stranger.key), [])
  })
})

describe('tags and metadata', () => {
  const labels = { tags: { campaign: 'may', kind: 'news: 1' }, metadata: { order: 117, deep: { list: [1, 'ß'] } } }

  test('are in the log, in events, in filters and in metrics', async () => {
    const { message_id: id } = await send({ subject: 'Tagged', to: [ben.email, ana.email], ...labels })
    await appliance.settle()
    for (const query of [`message_id=${id}`, 'tag=campaign', 'tag=campaign:may', 'tag=kind:news:%201']) {
      const rows = await logOf(query)
      assert.equal(rows.length, 2, query)
      assert.ok(rows.every(({ message_id }) => message_id === id))
      assert.deepEqual({ tags: rows[0]!.tags, metadata: rows[0]!.metadata }, labels)
    }
    assert.deepEqual(await logOf('tag=campaign:june'), [])
    assert.deepEqual(await logOf('tag=order'), [])
    const { db } = appliance.app
    const events = db.read.all<{ body: string }>("SELECT body FROM events WHERE type = 'message.delivered'")
    const told = events.map(({ body }) => JSON.parse(body).data).filter(({ message_id }) => message_id === id)
    assert.equal(told.length, 2)
    assert.deepEqual({ tags: told[0].tags, metadata: told[0].metadata }, labels)

    const metrics = async (path: string) => data<Json>(await appliance.get(`/emails/metrics${path}`, team.key))
    const { totals, previous, from_date } = await metrics('?tag=campaign:may')
    assert.deepEqual([totals.accepted, totals.delivered, previous.totals.accepted], [2, 2, 0])
    assert.match(from_date, /T00:00:00\.000Z$/)
    const { rows } = await metrics('/breakdown?by=tag')
    assert.deepEqual(
      rows.filter(({ key }: Json) => /^(campaign|kind):/.test(key)).map((row: Json) => [row.key, row.totals.delivered]),
      [
        ['campaign:may', 2],
        ['kind:news: 1', 2],
      ],
    )
    const { points } = await metrics('/timeseries?tag=campaign:may')
    assert.equal(
      points.reduce((sum: number, point: Json) => sum + point.totals.delivered, 0),
      2,
    )
    assert.equal((await metrics('?tag=campaign:june')).totals.accepted, 0)
    for (const query of [
      '?tag=campaign:may&domain=shop.test',
      '/breakdown?by=domain&tag=a:b',
      '/timeseries?tag=a:b&interval=hour',
    ]) {
      failure(await appliance.get(`/emails/metrics${query}`, team.key), 400, 'invalid_parameter')
    }
  })

  test('are limited', async () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`t${i}`, 'x']))
    for (const [more, issue] of [
      [{ tags: many }, 'tags too_big'],
      [{ tags: { a: 'x'.repeat(65) } }, 'tags.a too_big'],
      [{ tags: { a: '' } }, 'tags.a too_small'],
      [{ tags: { 'a:b': 'x' } }, 'tags.a:b invalid_format'],
      [{ metadata: { a: 'ß'.repeat(2050) } }, 'metadata too_big'],
      [{ metadata: [] }, 'metadata invalid_type'],
    ] as const) {
      issues(await post(more), 422, 'validation_error', [issue])
    }
  })

  test('of one team are counted one by one up to a limit', async () => {
    const { db, store } = appliance.app
    const now = clock.now()
    await db.write((tx) => {
      const event = {
        teamId: stranger.id,
        at: now,
        provider: null,
        mailboxId: null,
        domain: 'a.test',
        isOwnDomain: true,
      }
      for (let i = 0; i < 510; i++) {
        const tags = JSON.stringify({ order: String(i) })
        store.log.counters.count(tx, {
          ...event,
          tags,
          recipientDomain: 'b.test',
          reason: null,
          counts: { accepted: 1 },
        })
      }
    })
    const day = Math.floor(now / 86_400_000) * 24
    const { rows, other } = await store.log.tagCounts.breakdown(stranger.id, { from: day, to: day + 24 }, 600)
    assert.deepEqual([rows.length, other.accepted], [500, 10])
    assert.ok((await store.log.tagCounts.prune(now + 401 * 86_400_000)) >= 501)
  })
})
