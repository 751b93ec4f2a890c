// A row of the delivery log (docs/design/contract.md §2.8).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Timestamp, Words } from '../../http/schema.ts'
import { clean } from '../../mime/one-line.ts'
import type { DeliveryRecord, DeliveryRow } from '../../outbound/log/delivery-log.ts'
import type { ResendState } from '../../outbound/log/single-deliveries.ts'
import { DETAIL_MAX, type Step } from '../../outbound/log/timeline.ts'
import { labelFields } from './labels.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

export const DeliveryStatus = Words(
  ['pending', 'sent', 'failed', 'rejected'],
  '`pending`: queued or waiting for a retry; `sent`: the next server accepted it; `failed`: delivery was given up; ' +
    '`rejected`: delivery was never attempted.',
)

const MEMBERS = {
  id: Id('deliveryLog'),
  provider_id: Nullable(Id('provider')),
  provider_name: Nullable(Type.String({ description: 'The sending account; null before it was routed.' })),
  message_id: Id('email'),
  from_email: Type.String({ description: 'From as requested.' }),
  sent_from_email: Type.String({ description: 'From as sent.' }),
  to_email: Type.String(),
  subject: Type.String(),
  status: DeliveryStatus,
  status_reason: Nullable(Type.String({ description: 'A code and a text: `bounced: 550 5.1.1 user unknown`.' })),
  attempts: Type.Integer({ minimum: 0, description: 'Number of delivery attempts.' }),
  sent_at: TimeOrNull('When the next server accepted it.'),
  size_bytes: Type.Integer({ minimum: 0 }),
  created_at: TimeOf('When it was accepted.'),
  ...labelFields,
}

const EXAMPLE = {
  id: 'dlog_q1w2e3r4t5y6u7i8o9p0a1s2',
  provider_id: 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2',
  provider_name: 'Primary SMTP',
  message_id: 'eml_7h2k9s4d1f6g3j8l5z0x2c4v',
  from_email: 'news@shop.example',
  sent_from_email: 'news@shop.example',
  to_email: 'ana@customer.example',
  subject: 'Your order',
  status: 'sent',
  status_reason: null,
  attempts: 1,
  sent_at: '2030-01-02T03:04:07.498Z',
  size_bytes: 4821,
  created_at: '2030-01-02T03:04:05.100Z',
}

export const DeliveryLogJson = record('DeliveryLog', 'The delivery of one message to one recipient.', MEMBERS, EXAMPLE)
export type DeliveryLogJson = Static<typeof DeliveryLogJson>

export const DeliveryLogDetail = record('DeliveryLogDetail', 'The delivery with all its events in order.', {
  ...MEMBERS,
  content_available: Type.Boolean({ description: 'The content is kept: a failed delivery can be resent.' }),
  resent_from: Nullable({ ...Id('deliveryLog'), description: 'The failed delivery that it repeats.' }),
  resent_as: Nullable({ ...Id('deliveryLog'), description: 'The delivery that repeats it.' }),
  timeline: Type.Array(
    record('DeliveryStep', 'An event of a delivery.', {
      at: Timestamp,
      type: Words([
        'accepted',
        'routed',
        'deferred',
        'sent',
        'bounced',
        'expired',
        'rejected',
        'cancelled',
        'held',
        'approved',
        'complained',
      ]),
      detail: Type.String({ maxLength: DETAIL_MAX, description: 'One line of detail.' }),
      smtp_code: Nullable(Type.Integer()),
      remote_host: Nullable(Type.String({ description: 'Host name of the server that answered.' })),
      remote_address: Nullable(Type.String({ description: 'IP address of that server, when it is known.' })),
    }),
  ),
})
export type DeliveryLogDetail = Static<typeof DeliveryLogDetail>

const ORIGINS = { message_id: 'emailId', to_email: 'to' } as const

export const presentDelivery = presenterOf<DeliveryRow>()(DeliveryLogJson, ORIGINS)

export const presentDeliveryDetail = presenterOf<DeliveryRecord, [ResendState]>()(DeliveryLogDetail, {
  ...ORIGINS,
  content_available: (_, { hasContent }) => hasContent,
  resent_from: (_, { resentFrom }) => resentFrom,
  resent_as: (_, { resentAs }) => resentAs,
  timeline: ({ timeline }) => presentSteps(timeline),
})

export function presentSteps(steps: readonly Step[]): DeliveryLogDetail['timeline'] {
  return steps.map((step) => {
    return {
      at: isoTime(step.at),
      type: step.type,
      detail: detailOf(step),
      smtp_code: step.smtpCode,
      remote_host: step.server?.host ?? null,
      remote_address: step.server?.address ?? null,
    }
  })
}

/** The detail of an event, for a deferral with the time of the next attempt. */
function detailOf({ detail, nextAt }: Step): string {
  if (nextAt === null) return detail
  const next = `; next attempt at ${isoTime(nextAt)}`
  return clean(detail, DETAIL_MAX - next.length) + next
}
