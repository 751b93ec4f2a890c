// Delivery attempts of webhooks, a test event, and replay.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { REPLAYED_MAX } from '../../events/webhooks/webhooks.ts'
import { answer, route } from '../../http/route.ts'
import { FilterId, Id, listOf, pageQuery, parseTime, TimeQuery, Timestamp } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'
import { EventTypeName, presentWebhook } from '../schemas/webhook.ts'
import {
  DeliveryResult,
  presentDelivery,
  presentDeliveryDetail,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../schemas/webhook-delivery.ts'
import { LOG_PAGE } from './pages.ts'
import { attemptFor, deliveryFor, NO_HASHES, NO_PREVIEWS } from './previews.ts'
import { webhookOf } from './webhooks.ts'

const ofWebhook = Type.Object({ webhook_id: Id('webhook') })
const ofDelivery = Type.Object({ webhook_id: Id('webhook'), delivery_id: Id('webhookAttempt') })
const TESTS_PER_MINUTE = 6

const testWebhook = route({
  method: 'POST',
  path: '/webhooks/{webhook_id}/test',
  docs: {
    operation: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a `service.test` event to a webhook now',
    description:
      'Independent of the event types of the webhook. Makes one attempt and waits for its response. 409 when the webhook is ' +
      `disabled; at most ${TESTS_PER_MINUTE} a minute.`,
  },
  access: { as: 'team', permission: 'webhook.manage' },
  params: ofWebhook,
  limits: { throttle: { times: TESTS_PER_MINUTE, seconds: 60 } },
  reply: {
    schema: record('WebhookTest', 'The result of the test event.', {
      event_id: Id('event'),
      delivery: WebhookDelivery,
    }),
    etag: true,
  },
  async handle({ params: { webhook_id }, principal, app, request }) {
    const webhook = webhookOf(app, principal.teamId, webhook_id)
    request.matches(presentWebhook(webhook))
    const { eventId, attemptId } = await app.eventDispatch.test(webhook, principal.keyId)
    const now = app.clock.now()
    const attempt = app.eventDispatch.attempts.get(webhook.n, attemptId, now)
    if (attempt === undefined) throw notFound('webhook')
    const version = presentWebhook(webhookOf(app, principal.teamId, webhook_id))
    return answer({ data: { event_id: eventId, delivery: presentDelivery(attempt, now) }, version })
  },
})

const listWebhookDeliveries = route({
  method: 'GET',
  path: '/webhooks/{webhook_id}/deliveries',
  docs: {
    operation: 'listWebhookDeliveries',
    tag: 'Webhooks',
    summary: 'List the delivery attempts of a webhook, newest first',
    description:
      'Each with the request, the status and the beginning of the answer. `replayWebhookDelivery` sends one again.',
  },
  access: { as: 'team', permission: 'webhook.read' },
  params: ofWebhook,
  query: pageQuery({
    limit: LOG_PAGE,
    event_type: EventTypeName,
    result: DeliveryResult,
    event_id: { ...FilterId('event'), description: 'Attempts of this event.' },
  }),
  reply: { schema: listOf(WebhookDelivery) },
  async handle({ params: { webhook_id }, query, after, principal, app }) {
    const webhook = webhookOf(app, principal.teamId, webhook_id)
    const { event_type: eventType, event_id: eventId, result, limit } = query
    const page = await app.eventDispatch.attempts.list(webhook.n, { eventType, eventId, result, limit, after })
    const now = app.clock.now()
    const items = page.items.map((attempt) => attemptFor(principal, presentDelivery(attempt, now), app.vault))
    return { items, next: page.next }
  },
})

const readWebhookDelivery = route({
  method: 'GET',
  path: '/webhooks/{webhook_id}/deliveries/{delivery_id}',
  docs: {
    operation: 'getWebhookDelivery',
    tag: 'Webhooks',
    summary: 'Get a delivery attempt with its headers and exact body',
    description: `${NO_PREVIEWS} ${NO_HASHES}`,
  },
  access: { as: 'team', permission: 'webhook.read' },
  params: ofDelivery,
  reply: { schema: WebhookDeliveryDetail, etag: true },
  handle({ params: { webhook_id, delivery_id }, principal, app }) {
    const webhook = webhookOf(app, principal.teamId, webhook_id)
    const now = app.clock.now()
    const attempt = app.eventDispatch.attempts.get(webhook.n, delivery_id, now)
    if (attempt === undefined) throw notFound('webhook delivery')
    return deliveryFor(principal, presentDeliveryDetail(attempt), app.vault)
  },
})

const replayWebhookDelivery = route({
  method: 'POST',
  path: '/webhooks/{webhook_id}/deliveries/{delivery_id}/replay',
  docs: {
    operation: 'replayWebhookDelivery',
    tag: 'Webhooks',
    summary: 'Deliver the event of an attempt again, under the same event id',
    description: '409 when the payload has expired, or the webhook is disabled or not sent such events any more.',
  },
  access: { as: 'team', permission: 'webhook.manage' },
  params: ofDelivery,
  idempotent: true,
  reply: {
    schema: record('WebhookReplay', 'The event, and when it is delivered.', {
      event_id: Id('event'),
      scheduled_at: Timestamp,
    }),
    status: 202,
    etag: true,
  },
  async handle({ params: { webhook_id, delivery_id }, principal, app, request }) {
    const webhook = webhookOf(app, principal.teamId, webhook_id)
    if (request.conditional) {
      const now = app.clock.now()
      const attempt = app.eventDispatch.attempts.get(webhook.n, delivery_id, now)
      if (attempt === undefined) throw notFound('webhook delivery')
      request.matches(deliveryFor(principal, presentDeliveryDetail(attempt), app.vault))
    }
    const { eventId, scheduledAt } = await app.eventDispatch.replay(webhook, delivery_id)
    return answer({ data: { event_id: eventId, scheduled_at: scheduledAt } })
  },
})

const REPLAYS_PER_MINUTE = 6
const FailedSince = Type.Optional({
  ...TimeQuery,
  description: 'Only events whose last attempt ended at or after this time.',
})
const Failed = {
  events: Type.Integer({ minimum: 0, description: `Number of events, at most ${REPLAYED_MAX}.` }),
  has_more: Type.Boolean({ description: 'There are more; repeat the request later.' }),
}

const countFailedEvents = route({
  method: 'GET',
  path: '/webhooks/{webhook_id}/failed-events',
  docs: {
    operation: 'getFailedWebhookEvents',
    tag: 'Webhooks',
    summary: 'Count the events that were not delivered and can be delivered again',
    description:
      'Their last attempt failed for good, their payload is still kept, and the webhook is still sent such events. Tests do not count.',
  },
  access: { as: 'team', permission: 'webhook.read' },
  params: ofWebhook,
  query: Type.Object({ after: FailedSince }),
  reply: { schema: record('FailedWebhookEvents', 'Events that were not delivered.', Failed) },
  async handle({ params: { webhook_id }, query, principal, app }) {
    const webhook = webhookOf(app, principal.teamId, webhook_id)
    const { events, hasMore } = await app.eventDispatch.failedEvents(webhook, sinceOf(query.after))
    return { events, has_more: hasMore }
  },
})

const replayFailedEvents = route({
  method: 'POST',
  path: '/webhooks/{webhook_id}/replay-failed',
  docs: {
    operation: 'replayFailedWebhookEvents',
    tag: 'Webhooks',
    summary: 'Deliver all events that were not delivered again, the oldest first',
    description:
      `Under their event ids, each with a new series of attempts; at most ${REPLAYED_MAX} events. 409 when the webhook is disabled; at ` +
      `most ${REPLAYS_PER_MINUTE} a minute.`,
  },
  access: { as: 'team', permission: 'webhook.manage' },
  params: ofWebhook,
  limits: { throttle: { times: REPLAYS_PER_MINUTE, seconds: 60 } },
  body: {
    schema: record(
      'WebhookReplayFailed',
      'Which events.',
      { after: FailedSince },
      { after: '2030-01-02T00:00:00.000Z' },
    ),
    optional: true,
  },
  reply: {
    schema: record('WebhookReplayedFailed', 'The events that are delivered again.', Failed),
    status: 202,
    etag: true,
  },
  async handle({ params: { webhook_id }, body, principal, app, request }) {
    const webhook = webhookOf(app, principal.teamId, webhook_id)
    request.matches(presentWebhook(webhook))
    const { events, hasMore } = await app.eventDispatch.replayFailed(webhook, sinceOf(body.after))
    return answer({ data: { events, has_more: hasMore } })
  },
})

function sinceOf(after: string | undefined): number {
  return after === undefined ? 0 : parseTime(after, { param: 'after' })
}

export const webhookDeliveries = [
  ...[testWebhook, listWebhookDeliveries, readWebhookDelivery, replayWebhookDelivery],
  ...[countFailedEvents, replayFailedEvents],
]
