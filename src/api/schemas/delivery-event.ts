// An event of a delivery, with the attempts to deliver it to webhooks.

import type { Static } from 'typebox'
import type { EventBody } from '../../events/events.ts'
import type { TeamAttempt } from '../../events/webhooks/records.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, listOf, Nullable, Timestamp } from '../../http/schema.ts'
import { record } from './record.ts'
import { EventTypeName, WebhookJson } from './webhook.ts'
import { WebhookDelivery } from './webhook-delivery.ts'

const { id, result, response_status, response_ms, delivery_attempt, max_attempts, next_retry_at, error_message } =
  WebhookDelivery.properties

const DeliveryEventAttempt = record('DeliveryEventAttempt', 'An attempt to deliver the event to a webhook.', {
  ...{ id, webhook_id: Id('webhook'), webhook_url: WebhookJson.properties.url },
  ...{ result, response_status, response_ms, delivery_attempt, max_attempts, next_retry_at, error_message },
  created_at: WebhookDelivery.properties.created_at,
})
const present = presenterOf<TeamAttempt>()(DeliveryEventAttempt, { webhook_url: 'url', delivery_attempt: 'attempt' })

export const DeliveryEvent = record('DeliveryEvent', 'An event of a delivery.', {
  id: Id('event'),
  type: EventTypeName,
  created_at: Timestamp,
  attempts: Nullable(listOf(DeliveryEventAttempt)),
})

/** @param attempts of all events, oldest first; null when the caller may not read them */
export function presentDeliveryEvents(
  events: readonly EventBody[],
  attempts: readonly TeamAttempt[] | null,
): Static<typeof DeliveryEvent>[] {
  return events.map((event) => ({
    id: event.id,
    type: event.type,
    created_at: event.created_at,
    attempts: attempts?.filter(({ eventId }) => eventId === event.id).map((attempt) => present(attempt)) ?? null,
  }))
}
