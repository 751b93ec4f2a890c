// What a team does with deliveries of its log: retry, cancel, resend; and the webhooks that were called for them.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { DeliveryLogDetail, DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { NewWebhook } from '../../src/api/schemas/webhook.ts'
import { KEPT_OF_TEAM_BYTES, KEPT_OF_TEAM_MAX } from '../../src/outbound/log/kept-contents.ts'
import { data, failure, walk } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startHook } from '../support/hook.ts'
import { startMailServer } from '../support/mail-server.ts'

const DAY = 86_400_000
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
/** The reply of the relay to recipients whose address begins with the word; others are accepted. */
const replies = new Map<string, string>()
const relay = await startMailServer({
  onRcptTo({ address }, _session, done) {
    const reply = replies.get(address.split('@')[0]!)
    if (reply === undefined) return done()
    done(Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) }))
  },
})
const hook = await startHook()
const appliance = await startAppliance({
  clock,
  zone: { 'relay.example': { A: ['127.0.0.1'] }, 'hooks.test': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile },
})
after(async () => {
  await appliance.close()
  await relay[Symbol.asyncDispose]()
  await hook[Symbol.asyncDispose]()
})
const team = await appliance.team()
const stranger = await appliance.team('Stranger')
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
data(
  await appliance.call('POST', '/providers', team.key, {
    ...{ name: 'Relay', smtp_host: 'relay.example', smtp_port: relay.port, smtp_protocol: 'none' },
    ...{ smtp_username: 'ann', smtp_password: 'secret', from_email: 'news@shop.test' },
  }),
  201,
)
await appliance.app.outbound.accounts.checks.runDue()
const webhook = data<NewWebhook>(
  await appliance.call('POST', '/webhooks', team.key, { url: hook.url(), event_types: ['*'] }),
  201,
)

async function send(to: string, more: object = {}): Promise<DeliveryLogJson> {
  const message = { from: 'Shop <news@shop.test>', to, subject: 'Your order', text_body: 'Hello', ...more }
  const reply = await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, team.key, message)
  const { message_id: id } = data<Json>(reply, 202)
  await appliance.settle()
  const [row] = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${id}`, team.key)
  return row!
}
const shown = async (id: string) => data<DeliveryLogDetail>(await appliance.get(`/emails/logs/${id}`, team.key))
const act = (id: string, action: string, key = team.key) => appliance.call('POST', `/emails/logs/${id}/${action}`, key)
const arrived = (to: string) => relay.messages.filter((message) => message.to.includes(to))

describe('a delivery that waits for its next attempt', () => {
  test('is attempted now', async () => {
    replies.set('later', '451 4.7.1 greylisted')
    const { id } = await send('later@else.test')
    replies.delete('later')
    await appliance.settle()
    assert.equal((await shown(id)).status, 'pending')
    failure(await act(id, 'retry', stranger.key), 404, 'not_found')
    assert.equal(data<Json>(await act(id, 'retry')).due_at, new Date(clock.now()).toISOString())
    await appliance.settle()
    const { status, timeline } = await shown(id)
    assert.deepEqual([status, timeline.at(-1)!.type], ['sent', 'sent'])
    assert.equal(arrived('later@else.test').length, 1)
    for (const action of ['retry', 'cancel', 'resend']) failure(await act(id, action), 409, 'conflict')
  })

  test('is cancelled for its recipient alone', async () => {
    replies.set('one', '451 4.7.1 greylisted')
    const { message_id: message } = await send('one@else.test', { to: ['one@else.test', 'two@else.test'] })
    const rows = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${message}`, team.key)
    const waiting = rows.find(({ status }) => status === 'pending')!
    data(await act(waiting.id, 'cancel'))
    const { status, status_reason: reason, content_available: isKept } = await shown(waiting.id)
    assert.deepEqual([status, reason, isKept], ['failed', 'cancelled', false])
    assert.equal(rows.find((row) => row.id !== waiting.id)!.status, 'sent')
    failure(await act(waiting.id, 'resend'), 409, 'conflict')
  })

  test('that is scheduled is not sent early', async () => {
    const { id } = await send('soon@else.test', { undo_seconds: 100 })
    failure(await act(id, 'retry'), 409, 'conflict')
    data(await act(id, 'cancel'))
    clock.advance(101_000)
    await appliance.settle()
    assert.equal(arrived('soon@else.test').length, 0)
  })
})

describe('a delivery that failed', () => {
  test('is resent with the same content once, under a row of its own', async () => {
    replies.set('full', '552 5.2.2 mailbox full')
    const failed = await send('full@else.test', { tags: { order: '7' } })
    assert.deepEqual([failed.status, (await shown(failed.id)).content_available], ['failed', true])
    replies.delete('full')
    failure(await act(failed.id, 'resend', stranger.key), 404, 'not_found')
    const twice = await Promise.all([act(failed.id, 'resend'), act(failed.id, 'resend')])
    const [made, refused] = twice.sort((one, other) => one.status - other.status)
    const { delivery_log_id: again, message_id: message } = data<Json>(made!, 202)
    failure(refused!, 409, 'conflict')
    await appliance.settle()
    const resent = await shown(again)
    assert.deepEqual(
      [resent.status, resent.message_id, resent.resent_from, resent.tags, resent.subject],
      ['sent', message, failed.id, { order: '7' }, 'Your order'],
    )
    assert.equal((await shown(failed.id)).resent_as, again)
    const [copy] = arrived('full@else.test')
    assert.match(copy!.bytes.toString(), /Message-ID: <eml_[^>]+@shop\.test>/)
    assert.ok(copy!.bytes.toString().includes(failed.message_id))
  })

  test('is resent when its recipient is no longer suppressed, as long as its content is kept', async () => {
    data(await appliance.call('POST', '/suppressions', team.key, { email: 'gone@else.test' }), 201)
    const rejected = await send('gone@else.test')
    assert.equal(rejected.status, 'rejected')
    failure(await act(rejected.id, 'resend'), 409, 'conflict')
    const [entry] = await walk<Json>(appliance, '/suppressions?q=gone', team.key)
    data(await appliance.call('DELETE', `/suppressions/${entry!.id}`, team.key))
    const late = await send('gone@else.test')
    assert.equal(late.status, 'sent')
    data(await act(rejected.id, 'resend'), 202)
    replies.set('lost', '550 5.1.1 user unknown')
    const lost = await send('lost@else.test')
    clock.leap(8 * DAY)
    assert.ok((await appliance.app.outbound.log.keptContents.release(clock.now())) > 0)
    const { content_available: isKept } = await shown(lost.id)
    assert.equal(isKept, false)
    failure(await act(lost.id, 'resend'), 409, 'conflict')
  })

  test('of a mailbox is resent as that mailbox', async () => {
    replies.set('busy', '554 5.7.1 no')
    const message = { to: [{ email: 'busy@else.test' }], subject: 'Mine', text_body: 'Hello' }
    data(await appliance.call('POST', '/mailbox/messages/send', ana.key, message), 202)
    await appliance.settle()
    const [failed] = await walk<DeliveryLogJson>(appliance, `/emails/logs?mailbox_id=${ana.id}`, team.key)
    assert.equal(failed!.status, 'failed')
    replies.delete('busy')
    // The address was suppressed by nothing: the reply is about the content.
    const { delivery_log_id: again } = data<Json>(await act(failed!.id, 'resend'), 202)
    await appliance.settle()
    assert.deepEqual([(await shown(again)).status, (await shown(again)).from_email], ['sent', ana.email])
    const own = await walk<DeliveryLogJson>(appliance, `/emails/logs?mailbox_id=${ana.id}&status=sent`, team.key)
    assert.ok(own.some(({ id }) => id === again))
    data(await appliance.call('POST', `/mailboxes/${ana.id}/suspend`, team.key))
    replies.set('busy', '554 5.7.1 no')
    failure(await act(failed!.id, 'resend'), 409, 'conflict')
  })
})

test('content of failed messages is kept within the bounds of a team, the newest', async () => {
  const { db } = appliance.app
  const sum = () => {
    const sql = 'SELECT count(*) AS count, total(size_bytes) AS bytes FROM kept_contents WHERE team_id = ?'
    return db.read.get<{ count: number; bytes: number }>(sql, [team.id])!
  }
  const add = (count: number, bytes: number) =>
    db.write((tx) => {
      tx.run(
        `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?)
         INSERT INTO kept_contents (email, blob, until, team_id, size_bytes) SELECT 1000000 + i, zeroblob(32), i, ?, ? FROM numbers`,
        [count, team.id, bytes],
      )
    })
  replies.set('gone', '550 5.7.1 no')
  for (const [count, bytes] of [
    [KEPT_OF_TEAM_MAX, 1],
    [KEPT_OF_TEAM_BYTES / 2 ** 23, 2 ** 23],
  ] as const) {
    await add(count, bytes)
    const { id } = await send('gone@else.test')
    assert.equal((await shown(id)).status, 'failed')
    assert.ok(sum().count <= KEPT_OF_TEAM_MAX && sum().bytes <= KEPT_OF_TEAM_BYTES, JSON.stringify(sum()))
    assert.ok(sum().count > count / 2, 'no more than needed')
    await db.write((tx) => tx.run('DELETE FROM kept_contents WHERE email > 1000000'))
    replies.delete('gone')
    data(await act(id, 'resend'), 202)
    await appliance.settle()
    replies.set('gone', '550 5.7.1 no')
  }
  replies.delete('gone')
})

describe('the events of a delivery', () => {
  test('are listed with the webhooks that were called, for those who may read them', async () => {
    hook.answer((_request, response) => {
      response.statusCode = 500
      response.end('no')
    })
    const { id } = await send('heard@else.test')
    const path = `/emails/logs/${id}/events`
    const [event, ...others] = data<Json[]>(await appliance.get(path, team.key))
    assert.deepEqual([event!.type, others], ['message.delivered', []])
    const [attempt] = event!.attempts
    assert.deepEqual(
      [attempt.webhook_id, attempt.webhook_url, attempt.result, attempt.response_status, attempt.delivery_attempt],
      [webhook.id, webhook.url, 'retrying', 500, 1],
    )
    const made = await appliance.call('POST', '/api-keys', team.key, { name: 'Logs', permissions: ['logs.read'] })
    const { key } = data<Json>(made, 201)
    assert.equal(data<Json[]>(await appliance.get(path, key))[0]!.attempts, null)
    for (const action of ['retry', 'cancel', 'resend'])
      failure(await act(id, action, key), 403, 'insufficient_permissions')
    failure(await appliance.get(path, stranger.key), 404, 'not_found')
  })

  test('that were not delivered are delivered again together, once', async () => {
    for (let hours = 0; hours < 30; hours++) {
      clock.advance(3_600_000)
      await appliance.settle()
    }
    const failed = (query = '') => appliance.get(`/webhooks/${webhook.id}/failed-events${query}`, team.key)
    const before = data<Json>(await failed())
    assert.deepEqual(before, { events: 1, has_more: false })
    assert.equal(data<Json>(await failed(`?after=${new Date(clock.now() + 1000).toISOString()}`)).events, 0)
    hook.answer((_request, response) => response.end('ok'))
    hook.requests.length = 0
    const replay = (body?: object, key = team.key) =>
      appliance.call('POST', `/webhooks/${webhook.id}/replay-failed`, key, body)
    failure(await replay({}, stranger.key), 404, 'not_found')
    assert.deepEqual(data<Json>(await replay({ after: '2031-01-01' }), 202), { events: 0, has_more: false })
    assert.deepEqual(data<Json>(await replay(), 202), { events: 1, has_more: false })
    await appliance.settle()
    assert.equal(hook.requests.length, 1)
    assert.deepEqual(data<Json>(await failed()), { events: 0, has_more: false })
    assert.deepEqual(data<Json>(await replay({}), 202), { events: 0, has_more: false })
    data(await appliance.call('PATCH', `/webhooks/${webhook.id}`, team.key, { enabled: false }))
    failure(await replay({}), 409, 'conflict')
  })

  test('are all delivered again when there are more than one request takes', async () => {
    const { db, eventDispatch } = appliance.app
    clock.advance(60_000)
    data(await appliance.call('PATCH', `/webhooks/${webhook.id}`, team.key, { enabled: true }))
    const [now, { n }] = [clock.now(), eventDispatch.webhooks.get(team.id, webhook.id)!]
    const numbers = 'WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 1500)'
    await db.write((tx) => {
      const [event] = tx.all<{ body: string }>('SELECT body FROM events ORDER BY n DESC LIMIT 1')
      tx.run(
        `${numbers} INSERT INTO events (n, id, team_id, type, body, created_at, dispatched)
         SELECT 500000 + i, 'evt_many' || i, ?, 'message.delivered', ?, ?, 1 FROM numbers`,
        [team.id, event!.body, now],
      )
      tx.run(
        `${numbers} INSERT INTO webhook_attempts (id, webhook, event, event_id, event_type, result, response_status, response_ms,
           attempt, max_attempts, request_headers, payload_expires_at, payload_bytes, payload_sha256, created_at)
         SELECT 'wha_many' || i, ?, 500000 + i, 'evt_many' || i, 'message.delivered', 'failed', 500, 1, 8, 8, '{}', ?, 2, zeroblob(32), ?
         FROM numbers`,
        [n, now + DAY, now],
      )
    })
    const replay = async () =>
      data<Json>(await appliance.call('POST', `/webhooks/${webhook.id}/replay-failed`, team.key), 202)
    assert.deepEqual(await replay(), { events: 1000, has_more: true })
    assert.deepEqual(await replay(), { events: 500, has_more: false })
    assert.deepEqual(await replay(), { events: 0, has_more: false })
    await db.write((tx) => tx.run('DELETE FROM webhook_queue WHERE event > 500000'))
  })
})
