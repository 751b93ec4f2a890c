// A row of the delivery log, as it is shown (specification §2.8).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, Timestamp, Words } from '../../http/schema.ts'
import { clean } from '../../mime/one-line.ts'
import type { DeliveryRecord, DeliveryRow } from '../../outbound/log/delivery-log.ts'
import { DETAIL_MAX, type Step } from '../../outbound/log/timeline.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

export const DeliveryStatus = Words(
  ['pending', 'sent', 'failed', 'rejected'],
  '`pending`: waits or is tried again; `sent`: the next server took it; `failed`: given up; `rejected`: never handed over.',
)

const MEMBERS = {
  id: Id('deliveryLog'),
  provider_id: Nullable(Id('provider')),
  provider_name: Nullable(Type.String({ description: 'Through whom it went; null before it was routed.' })),
  message_id: Id('email'),
  from_email: Type.String({ description: 'From as it was asked for.' }),
  sent_from_email: Type.String({ description: 'From as it left.' }),
  to_email: Type.String(),
  subject: Type.String(),
  status: DeliveryStatus,
  status_reason: Nullable(Type.String({ description: 'A word and a text: `bounced: 550 5.1.1 user unknown`.' })),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was handed over.' }),
  sent_at: TimeOrNull('When the next server took it.'),
  size_bytes: Type.Integer({ minimum: 0 }),
  created_at: TimeOf('When it was accepted.'),
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

export const DeliveryLog = record('DeliveryLog', 'What became of one mail for one recipient.', MEMBERS, EXAMPLE)
export type DeliveryLog = Static<typeof DeliveryLog>

export const DeliveryLogDetail = record('DeliveryLogDetail', 'The same with everything that happened, in order.', {
  ...MEMBERS,
  timeline: Type.Array(
    record('DeliveryStep', 'One thing that happened.', {
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
        'complained',
      ]),
      detail: Type.String({ maxLength: DETAIL_MAX, description: 'What was said or done, on one line.' }),
      smtp_code: Nullable(Type.Integer()),
      remote_host: Nullable(Type.String({ description: 'The server that answered, by its name.' })),
      remote_address: Nullable(Type.String({ description: 'Its IP address, where we spoke to it ourselves.' })),
    }),
  ),
})
export type DeliveryLogDetail = Static<typeof DeliveryLogDetail>

export function presentDelivery(row: DeliveryRow): DeliveryLog {
  return {
    id: row.id,
    provider_id: row.providerId,
    provider_name: row.providerName,
    message_id: row.emailId,
    from_email: row.fromEmail,
    sent_from_email: row.sentFromEmail,
    to_email: row.to,
    subject: row.subject,
    status: row.status,
    status_reason: row.statusReason,
    attempts: row.attempts,
    sent_at: isoTimeOrNull(row.sentAt),
    size_bytes: row.sizeBytes,
    created_at: isoTime(row.createdAt),
  }
}

export function presentDeliveryDetail(row: DeliveryRecord): DeliveryLogDetail {
  const timeline = row.timeline.map((step) => {
    return {
      at: isoTime(step.at),
      type: step.type,
      detail: detailOf(step),
      smtp_code: step.smtpCode,
      remote_host: step.server?.host ?? null,
      remote_address: step.server?.address ?? null,
    }
  })
  return { ...presentDelivery(row), timeline }
}

/** What happened, and of what was put off also when it goes on. */
function detailOf({ detail, nextAt }: Step): string {
  if (nextAt === null) return detail
  const next = `; tried again at ${isoTime(nextAt)}`
  return clean(detail, DETAIL_MAX - next.length) + next
}
