// Webhooks: subscription, delivery, verification, retries on the schedule, disabling, replay.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { Webhook as Verifier } from 'standardwebhooks'
import type { NewWebhook, WebhookJson } from '../../src/api/schemas/webhook.ts'
import type { WebhookDelivery, WebhookDeliveryDetail } from '../../src/api/schemas/webhook-delivery.ts'
import type { EventType } from '../../src/events/event-types.ts'
import { ATTEMPTS_MAX } from '../../src/events/webhooks/schedule.ts'
import { data, failure, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startHook } from '../support/hook.ts'

const HOUR = 3_600_000
const clock = new ManualClock(Date.now())
const hook = await startHook()
const appliance = await startAppliance({
  clock,
  zone: { 'hooks.test': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile },
})
after(async () => {
  await appliance.close()
  await hook[Symbol.asyncDispose]()
})
const team = await appliance.team()

beforeEach(() => {
  hook.requests.length = 0
  hook.answer((_request, response) => response.end('ok'))
})

async function subscribe(body: Record<string, unknown> = {}): Promise<NewWebhook> {
  return data(
    await appliance.call('POST', '/webhooks', team.key, { url: hook.url(), event_types: ['*'], ...body }),
    201,
  )
}

async function happen(type: EventType = 'message.delivered', ids: { mailboxId?: string; domainId?: string } = {}) {
  return appliance.app.db.write((tx) =>
    appliance.app.outbox.record(tx, {
      teamId: team.id,
      type,
      mailboxId: ids.mailboxId ?? null,
      domainId: ids.domainId ?? null,
      at: clock.now(),
      data: { recipient: 'ana@customer.example' },
    }),
  )
}

const attempts = (id: string, query = '') =>
  walk<WebhookDelivery>(appliance, `/webhooks/${id}/deliveries${query}`, team.key)
const end = async (id: string) => data(await appliance.call('DELETE', `/webhooks/${id}`, team.key))

test('an event is delivered with the stored bytes, signed for both kinds of verifiers', async () => {
  const webhook = await subscribe({ event_types: ['message.delivered'] })
  const eventId = await happen()
  await happen('message.bounced')
  await appliance.settle()
  assert.equal(hook.requests.length, 1)
  const [reported] = hook.requests
  assert.equal(reported!.headers['x-service-event-id'], eventId)
  assert.equal(reported!.headers['x-service-event-type'], 'message.delivered')
  new Verifier(webhook.signing_secret).verify(reported!.body, reported!.headers)
  const [attempt] = await attempts(webhook.id)
  assert.deepEqual([attempt!.result, attempt!.response_status, attempt!.response_body], ['success', 200, 'ok'])
  const detail = data<WebhookDeliveryDetail>(
    await appliance.get(`/webhooks/${webhook.id}/deliveries/${attempt!.id}`, team.key),
  )
  assert.equal(detail.request_payload, reported!.body.toString())
  assert.equal(detail.request_headers['X-Service-Event-Id'], eventId)
  await end(webhook.id)
})

test('filtered by mailbox or domain, from its creation on', async () => {
  await happen()
  await team.domain('shop.test')
  const { id: mailboxId } = await team.mailbox('ana@shop.test')
  clock.advance(1000)
  const webhook = await subscribe({ mailbox_ids: [mailboxId] })
  await happen('message.received', { mailboxId })
  await happen('message.received')
  await appliance.settle()
  assert.equal(hook.requests.length, 1)
  await end(webhook.id)
})

test('eight attempts within a day, then given up', async () => {
  const webhook = await subscribe()
  hook.answer((_request, response) => {
    response.statusCode = 500
    response.end('no')
  })
  await happen()
  await appliance.settle()
  for (let hours = 0; hours < 30; hours++) {
    clock.advance(HOUR)
    await appliance.settle()
  }
  const rows = (await attempts(webhook.id)).toReversed()
  assert.deepEqual(
    rows.map((row) => row.delivery_attempt),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
  assert.equal(hook.requests.length, ATTEMPTS_MAX)
  assert.deepEqual([...new Set(rows.slice(0, -1).map((row) => row.result))], ['retrying'])
  assert.deepEqual([rows.at(-1)!.result, rows.at(-1)!.next_retry_at], ['failed', null])
  assert.equal(data<WebhookJson>(await appliance.get(`/webhooks/${webhook.id}`, team.key)).consecutive_failures, 1)
  const bodies = new Set(hook.requests.map((reported) => reported.body.toString()))
  assert.equal(bodies.size, 1)
  await end(webhook.id)
})

test('Retry-After of a busy receiver is respected', async () => {
  const webhook = await subscribe()
  hook.answer((_request, response) => {
    response.writeHead(503, { 'retry-after': '7200' }).end()
  })
  await happen()
  await appliance.settle()
  const [row] = await attempts(webhook.id)
  assert.equal(Date.parse(row!.next_retry_at!) - Date.parse(row!.created_at), 2 * HOUR)
  await end(webhook.id)
})

test('deleted or disabled while retries are pending: nothing more is delivered', async () => {
  const gone = await subscribe()
  const off = await subscribe()
  hook.answer((_request, response) => response.writeHead(302, { location: hook.url('/elsewhere') }).end())
  await happen()
  await appliance.settle()
  assert.equal(hook.requests.length, 2)
  await end(gone.id)
  data(await appliance.call('PATCH', `/webhooks/${off.id}`, team.key, { enabled: false }))
  clock.advance(24 * HOUR)
  await appliance.settle()
  assert.equal(hook.requests.length, 2)
  failure(await appliance.get(`/webhooks/${gone.id}/deliveries`, team.key), 404, 'not_found')
  failure(await appliance.call('POST', `/webhooks/${off.id}/test`, team.key), 409, 'conflict')
  await end(off.id)
})

test('a rotated secret signs in addition to the old one during the grace period', async () => {
  const webhook = await subscribe()
  const turned = data<NewWebhook>(
    await appliance.call('POST', `/webhooks/${webhook.id}/rotate-secret`, team.key, { grace_seconds: 60 }),
  )
  await happen()
  await appliance.settle()
  const reported = hook.requests.at(-1)!
  // The verifier knows the time of the machine alone: its signature is compared instead of its result.
  const at = new Date(Number(reported.headers['webhook-timestamp']) * 1000)
  const expected = [turned, webhook].map(({ signing_secret }) =>
    new Verifier(signing_secret).sign(reported.headers['webhook-id']!, at, reported.body),
  )
  assert.equal(reported.headers['webhook-signature'], expected.join(' '))
  assert.match(reported.headers['x-service-signature-previous']!, /^sha256=/)
  clock.advance(61_000)
  await happen()
  await appliance.settle()
  assert.equal(hook.requests.at(-1)!.headers['x-service-signature-previous'], undefined)
  await end(webhook.id)
})

test('a test event is delivered for any subscription, and its response is shown', async () => {
  const webhook = await subscribe({ event_types: ['message.bounced'] })
  const shown = data<{ event_id: string; delivery: WebhookDelivery }>(
    await appliance.call('POST', `/webhooks/${webhook.id}/test`, team.key),
  )
  assert.deepEqual([shown.delivery.result, shown.delivery.max_attempts], ['success', 1])
  assert.equal(JSON.parse(hook.requests[0]!.body.toString()).type, 'service.test')
  await end(webhook.id)
})

test('a delivery is replayed as a new series until its payload has expired', async () => {
  const webhook = await subscribe()
  const eventId = await happen()
  await appliance.settle()
  const [first] = await attempts(webhook.id)
  const replay = () => appliance.call('POST', `/webhooks/${webhook.id}/deliveries/${first!.id}/replay`, team.key)
  assert.equal(data<{ event_id: string }>(await replay(), 202).event_id, eventId)
  await appliance.settle()
  const rows = await attempts(webhook.id, `?event_id=${eventId}`)
  assert.deepEqual(
    rows.map((row) => row.delivery_attempt),
    [1, 1],
  )
  clock.leap(8 * 24 * HOUR)
  failure(await replay(), 409, 'conflict')
  await end(webhook.id)
})

test('what a webhook is not sent any more is not replayed', async () => {
  const { id } = await subscribe({ event_types: ['message.delivered', 'message.bounced'] })
  hook.answer((_request, response) => response.writeHead(500).end())
  await happen()
  const eventId = await happen('message.bounced')
  for (let hours = 0; hours < 25; hours++) {
    await appliance.settle()
    clock.advance(HOUR)
  }
  const failed = async () =>
    data<{ events: number }>(await appliance.get(`/webhooks/${id}/failed-events`, team.key)).events
  assert.equal(await failed(), 2)
  data(await appliance.call('PATCH', `/webhooks/${id}`, team.key, { event_types: ['message.delivered'] }))
  assert.equal(await failed(), 1)
  const [last] = await attempts(id, `?event_id=${eventId}`)
  const replay = () => appliance.call('POST', `/webhooks/${id}/deliveries/${last!.id}/replay`, team.key)
  failure(await replay(), 409, 'conflict')
  const replayed = await appliance.call('POST', `/webhooks/${id}/replay-failed`, team.key, {})
  assert.deepEqual(data(replayed, 202), { events: 1, has_more: false })
  data(await appliance.call('PATCH', `/webhooks/${id}`, team.key, { event_types: ['*'], mailbox_ids: null }))
  data(await replay(), 202)
  await end(id)
})

test('after twenty undelivered events in a row over three days it is disabled', async () => {
  const webhook = await subscribe()
  hook.answer((_request, response) => response.writeHead(410).end())
  for (let day = 0; day < 6; day++) {
    for (let i = 0; i < 5; i++) await happen()
    for (let hours = 0; hours < 25; hours++) {
      await appliance.settle()
      clock.advance(HOUR)
    }
  }
  await appliance.settle()
  const shown = data<WebhookJson>(await appliance.get(`/webhooks/${webhook.id}`, team.key))
  assert.deepEqual([shown.status, shown.disabled_reason], ['disabled', 'too_many_failures'])
  const again = data<WebhookJson>(await appliance.call('PATCH', `/webhooks/${webhook.id}`, team.key, { enabled: true }))
  assert.deepEqual([again.status, again.disabled_reason, again.consecutive_failures], ['enabled', null, 0])
  await end(webhook.id)
})

test('a restart in the middle keeps the schedule', async () => {
  const webhook = await subscribe()
  hook.answer((_request, response) => response.writeHead(500).end())
  await happen()
  await appliance.settle()
  const [row] = await attempts(webhook.id)
  const other = appliance.app.eventDispatch.dispatcher()
  await other.start()
  await other.settle()
  assert.equal(hook.requests.length, 1)
  hook.answer((_request, response) => response.end())
  clock.advance(Date.parse(row!.next_retry_at!) - clock.now())
  await other.settle()
  await other.stop()
  await appliance.settle()
  assert.equal(hook.requests.length, 2)
  await end(webhook.id)
})

test('a receiver that never answers delays no other, and a disabled webhook receives nothing more', async () => {
  const silent = await Promise.all(
    Array.from({ length: 3 }, () => subscribe({ url: hook.url('/silent'), event_types: ['message.bounced'] })),
  )
  const quick = await subscribe({ url: hook.url('/quick'), event_types: ['message.bounced'] })
  const held: (() => void)[] = []
  hook.answer(({ path }, response) => {
    if (path === '/silent') held.push(() => response.end())
    else response.end('ok')
  })
  for (let i = 0; i < 40; i++) await happen('message.bounced')
  const reported = (path: string) => hook.requests.filter((one) => one.path === path).length
  while (reported('/quick') < 40 || held.length < 12) await hook.next()
  assert.equal(reported('/silent'), 12)
  for (const { id } of silent) data(await appliance.call('PATCH', `/webhooks/${id}`, team.key, { enabled: false }))
  for (const release of held) release()
  await appliance.settle()
  assert.equal(reported('/silent'), 12)
  for (const { id } of silent) data(await appliance.call('PATCH', `/webhooks/${id}`, team.key, { enabled: true }))
  await appliance.settle()
  assert.equal(reported('/silent'), 12)
  for (const { id } of [...silent, quick]) await end(id)
})
