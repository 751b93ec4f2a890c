// One story of telling: subscribed, told, verified, retried on the schedule, switched off, replayed.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { Webhook as Verifier } from 'standardwebhooks'
import type { NewWebhook, Webhook } from '../../src/api/schemas/webhook.ts'
import type { WebhookDelivery, WebhookDeliveryDetail } from '../../src/api/schemas/webhook-delivery.ts'
import type { EventType } from '../../src/events/outbox.ts'
import { ATTEMPTS_MAX } from '../../src/events/webhooks/schedule.ts'
import { data, failure, walk } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { startHook } from '../support/hook.ts'
import { startHouse } from '../support/house.ts'

const HOUR = 3_600_000
const clock = new ManualClock(Date.now())
const hook = await startHook()
const house = await startHouse({
  clock,
  zone: { 'hooks.test': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile },
})
after(async () => {
  await house.close()
  await hook[Symbol.asyncDispose]()
})
const team = await house.team()

beforeEach(() => {
  hook.told.length = 0
  hook.answer((_told, response) => response.end('ok'))
})

async function subscribe(body: Record<string, unknown> = {}): Promise<NewWebhook> {
  return data(await house.call('POST', '/webhooks', team.key, { url: hook.url(), event_types: ['*'], ...body }), 201)
}

async function happen(type: EventType = 'message.delivered', ids: { mailboxId?: string; domainId?: string } = {}) {
  return house.app.db.write((tx) =>
    house.app.outbox.record(tx, {
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
  walk<WebhookDelivery>(house, `/webhooks/${id}/deliveries${query}`, team.key)
const end = async (id: string) => data(await house.call('DELETE', `/webhooks/${id}`, team.key))

test('an event is told with the bytes that were stored, signed for both kinds of verifiers', async () => {
  const webhook = await subscribe({ event_types: ['message.delivered'] })
  const eventId = await happen()
  await happen('message.bounced')
  await house.settle()
  assert.equal(hook.told.length, 1)
  const [told] = hook.told
  assert.equal(told!.headers['x-service-event-id'], eventId)
  assert.equal(told!.headers['x-service-event-type'], 'message.delivered')
  new Verifier(webhook.signing_secret).verify(told!.body, told!.headers)
  const [attempt] = await attempts(webhook.id)
  assert.deepEqual([attempt!.result, attempt!.response_status, attempt!.response_body], ['success', 200, 'ok'])
  const detail = data<WebhookDeliveryDetail>(
    await house.get(`/webhooks/${webhook.id}/deliveries/${attempt!.id}`, team.key),
  )
  assert.equal(detail.request_payload, told!.body.toString())
  assert.equal(detail.request_headers['X-Service-Event-Id'], eventId)
  await end(webhook.id)
})

test('narrowed to a mailbox or a domain, told from its making on', async () => {
  await happen()
  await team.domain('shop.test')
  const { id: mailboxId } = await team.mailbox('ana@shop.test')
  clock.advance(1000)
  const webhook = await subscribe({ mailbox_ids: [mailboxId] })
  await happen('message.received', { mailboxId })
  await happen('message.received')
  await house.settle()
  assert.equal(hook.told.length, 1)
  await end(webhook.id)
})

test('eight attempts within a day, then given up', async () => {
  const webhook = await subscribe()
  hook.answer((_told, response) => {
    response.statusCode = 500
    response.end('no')
  })
  await happen()
  await house.settle()
  for (let hours = 0; hours < 30; hours++) {
    clock.advance(HOUR)
    await house.settle()
  }
  const rows = (await attempts(webhook.id)).toReversed()
  assert.deepEqual(
    rows.map((row) => row.delivery_attempt),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
  assert.equal(hook.told.length, ATTEMPTS_MAX)
  assert.deepEqual([...new Set(rows.slice(0, -1).map((row) => row.result))], ['retrying'])
  assert.deepEqual([rows.at(-1)!.result, rows.at(-1)!.next_retry_at], ['failed', null])
  assert.equal(data<Webhook>(await house.get(`/webhooks/${webhook.id}`, team.key)).consecutive_failures, 1)
  const bodies = new Set(hook.told.map((told) => told.body.toString()))
  assert.equal(bodies.size, 1)
  await end(webhook.id)
})

test('Retry-After of a busy receiver is heard', async () => {
  const webhook = await subscribe()
  hook.answer((_told, response) => {
    response.writeHead(503, { 'retry-after': '7200' }).end()
  })
  await happen()
  await house.settle()
  const [row] = await attempts(webhook.id)
  assert.equal(Date.parse(row!.next_retry_at!) - Date.parse(row!.created_at), 2 * HOUR)
  await end(webhook.id)
})

test('deleted or switched off while retries wait: nothing more is told', async () => {
  const gone = await subscribe()
  const off = await subscribe()
  hook.answer((_told, response) => response.writeHead(302, { location: hook.url('/elsewhere') }).end())
  await happen()
  await house.settle()
  assert.equal(hook.told.length, 2)
  await end(gone.id)
  data(await house.call('PATCH', `/webhooks/${off.id}`, team.key, { enabled: false }))
  clock.advance(24 * HOUR)
  await house.settle()
  assert.equal(hook.told.length, 2)
  failure(await house.get(`/webhooks/${gone.id}/deliveries`, team.key), 404, 'not_found')
  failure(await house.call('POST', `/webhooks/${off.id}/test`, team.key), 409, 'conflict')
  await end(off.id)
})

test('a rotated secret signs beside the old one through the grace', async () => {
  const webhook = await subscribe()
  const turned = data<NewWebhook>(
    await house.call('POST', `/webhooks/${webhook.id}/rotate-secret`, team.key, { grace_seconds: 60 }),
  )
  await happen()
  await house.settle()
  const told = hook.told.at(-1)!
  // The verifier knows the time of the machine alone: its signature is compared instead of its judgement.
  const at = new Date(Number(told.headers['webhook-timestamp']) * 1000)
  const expected = [turned, webhook].map(({ signing_secret }) =>
    new Verifier(signing_secret).sign(told.headers['webhook-id']!, at, told.body),
  )
  assert.equal(told.headers['webhook-signature'], expected.join(' '))
  assert.match(told.headers['x-service-signature-previous']!, /^sha256=/)
  clock.advance(61_000)
  await happen()
  await house.settle()
  assert.equal(hook.told.at(-1)!.headers['x-service-signature-previous'], undefined)
  await end(webhook.id)
})

test('a test event is told whatever was asked for, and its answer shown', async () => {
  const webhook = await subscribe({ event_types: ['message.bounced'] })
  const shown = data<{ event_id: string; delivery: WebhookDelivery }>(
    await house.call('POST', `/webhooks/${webhook.id}/test`, team.key),
  )
  assert.deepEqual([shown.delivery.result, shown.delivery.max_attempts], ['success', 1])
  assert.equal(JSON.parse(hook.told[0]!.body.toString()).type, 'service.test')
  await end(webhook.id)
})

test('a delivery is replayed as a new series until its payload has expired', async () => {
  const webhook = await subscribe()
  const eventId = await happen()
  await house.settle()
  const [first] = await attempts(webhook.id)
  const replay = () => house.call('POST', `/webhooks/${webhook.id}/deliveries/${first!.id}/replay`, team.key)
  assert.equal(data<{ event_id: string }>(await replay(), 202).event_id, eventId)
  await house.settle()
  const rows = await attempts(webhook.id, `?event_id=${eventId}`)
  assert.deepEqual(
    rows.map((row) => row.delivery_attempt),
    [1, 1],
  )
  clock.leap(8 * 24 * HOUR)
  failure(await replay(), 409, 'conflict')
  await end(webhook.id)
})

test('after twenty events in a row over three days that could not be told it is switched off', async () => {
  const webhook = await subscribe()
  hook.answer((_told, response) => response.writeHead(410).end())
  for (let day = 0; day < 6; day++) {
    for (let i = 0; i < 5; i++) await happen()
    for (let hours = 0; hours < 25; hours++) {
      await house.settle()
      clock.advance(HOUR)
    }
  }
  await house.settle()
  const shown = data<Webhook>(await house.get(`/webhooks/${webhook.id}`, team.key))
  assert.deepEqual([shown.status, shown.disabled_reason], ['disabled', 'too_many_failures'])
  const again = data<Webhook>(await house.call('PATCH', `/webhooks/${webhook.id}`, team.key, { enabled: true }))
  assert.deepEqual([again.status, again.disabled_reason, again.consecutive_failures], ['enabled', null, 0])
  await end(webhook.id)
})

test('a restart in the middle keeps the schedule', async () => {
  const webhook = await subscribe()
  hook.answer((_told, response) => response.writeHead(500).end())
  await happen()
  await house.settle()
  const [row] = await attempts(webhook.id)
  const other = house.app.eventDispatch.dispatcher()
  await other.start()
  await other.settle()
  assert.equal(hook.told.length, 1)
  hook.answer((_told, response) => response.end())
  clock.advance(Date.parse(row!.next_retry_at!) - clock.now())
  await other.settle()
  await other.stop()
  await house.settle()
  assert.equal(hook.told.length, 2)
  await end(webhook.id)
})

test('a receiver that never answers delays nobody else, and what is switched off is told nothing more', async () => {
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
  const told = (path: string) => hook.told.filter((one) => one.path === path).length
  while (told('/quick') < 40 || held.length < 12) await hook.next()
  assert.equal(told('/silent'), 12)
  for (const { id } of silent) data(await house.call('PATCH', `/webhooks/${id}`, team.key, { enabled: false }))
  for (const release of held) release()
  await house.settle()
  assert.equal(told('/silent'), 12)
  for (const { id } of silent) data(await house.call('PATCH', `/webhooks/${id}`, team.key, { enabled: true }))
  await house.settle()
  assert.equal(told('/silent'), 12)
  for (const { id } of [...silent, quick]) await end(id)
})
