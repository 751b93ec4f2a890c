// A delivery attempt of a webhook (docs/design/contract.md §2.9).

import { type Static, Type } from 'typebox'
import type { Attempt, AttemptDetail } from '../../events/webhooks/records.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'
import { EventTypeName } from './webhook.ts'

export const DeliveryResult = Words(
  ['success', 'retrying', 'failed', 'permanent_failure'],
  '`retrying`: another attempt is planned; `failed`: no attempts are left; `permanent_failure`: a retry cannot succeed.',
)

const EXAMPLE = {
  id: 'whda_0a1b2c3d4e5f6g7h8i9j0k1l',
  event_id: 'evt_4k9d2m7q1x8c5v0b3n6z2p7a',
  event_type: 'message.delivered',
  result: 'success',
  response_status: 200,
  response_ms: 84,
  delivery_attempt: 1,
  max_attempts: 8,
  next_retry_at: null,
  error_message: null,
  response_body: 'ok',
  payload_available: true,
  payload_expires_at: '2030-01-09T03:04:07.600Z',
  request_payload_bytes: 701,
  request_payload_sha256: '94cb99b06995f09e5c97eb79c64889d2cfaa8e0bde8493da58cee834ee0c6041',
  created_at: '2030-01-02T03:04:07.600Z',
}

export const WebhookDelivery = record(
  'WebhookDelivery',
  'One attempt to deliver an event. Rows never change; each attempt is a row of its own.',
  {
    id: Id('webhookAttempt'),
    event_id: Id('event'),
    event_type: EventTypeName,
    result: DeliveryResult,
    response_status: Type.Integer({ minimum: 0, description: 'HTTP status of the response; 0 without a response.' }),
    response_ms: Type.Integer({
      minimum: 0,
      description: 'Milliseconds until the response, or until the attempt was given up.',
    }),
    delivery_attempt: Type.Integer({ minimum: 1, maximum: 8 }),
    max_attempts: Type.Integer({ minimum: 1, maximum: 8 }),
    next_retry_at: TimeOrNull('When the next attempt was planned; null for none.'),
    error_message: Nullable(Type.String({ description: 'Why there was no usable response.' })),
    response_body: Nullable(Type.String({ description: 'At most 4 KiB of the response.' })),
    payload_available: Type.Boolean({ description: 'The payload can still be read and replayed.' }),
    payload_expires_at: TimeOf('When the payload expires.'),
    request_payload_bytes: Type.Integer({ minimum: 0 }),
    request_payload_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    created_at: TimeOf('When the attempt ended.'),
  },
  EXAMPLE,
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveryDetail = record('WebhookDeliveryDetail', 'An attempt with its request.', {
  ...WebhookDelivery.properties,
  request_headers: Type.Record(Type.String(), Type.String()),
  request_payload: Nullable(Type.String({ description: 'The exact body, null once it has expired.' })),
})
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>

const ORIGINS = {
  delivery_attempt: 'attempt',
  request_payload_bytes: 'payloadBytes',
  request_payload_sha256: ({ payloadSha256 }: Attempt) => Buffer.from(payloadSha256).toString('hex'),
} as const

/** Its second argument is the time, ms: it decides whether the payload has expired. */
export const presentDelivery = presenterOf<Attempt, [now: number]>()(WebhookDelivery, {
  ...ORIGINS,
  payload_available: ({ payloadExpiresAt }, now) => payloadExpiresAt > now,
})

export const presentDeliveryDetail = presenterOf<AttemptDetail>()(WebhookDeliveryDetail, {
  ...ORIGINS,
  payload_available: ({ payload }) => payload !== null,
  request_payload: 'payload',
})
