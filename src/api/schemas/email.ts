// A sent message with all its recipients.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { RecipientOutcome, SentMessage } from '../../outbound/log/sent-messages.ts'
import { AddressJson } from './address.ts'
import { DeliveryLogDetail, DeliveryLogJson, presentSteps } from './delivery-log.ts'
import { ParsedMessage } from './parsed-message.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

const Count = Type.Integer({ minimum: 0 })

const MEMBERS = {
  id: Id('email'),
  source: Words(
    ['batch_api', 'mailbox_api', 'smtp', 'forward'],
    'What accepted it: the Sending API, the Mailbox API, or submission by a mail program. `forward`: a mailbox received it, and its ' +
      'script or its forwarding setting sent it on.',
  ),
  mailbox_id: Nullable({ ...Id('mailbox'), description: 'The sending mailbox; null for a root key.' }),
  from: AddressJson,
  subject: Type.String(),
  internet_message_id: Type.String({ description: 'Message-ID in angle brackets.' }),
  status: Words(
    ['scheduled', 'queued', 'sending', 'sent', 'partially_sent', 'failed', 'canceled'],
    'Of all recipients together; `failed` when none was reached.',
  ),
  recipient_counts: record('RecipientCounts', 'Recipients by the status of their delivery.', {
    ...{ pending: Count, sent: Count, failed: Count, rejected: Count },
  }),
  size_bytes: Count,
  tags: Type.Record(Type.String(), Type.String()),
  metadata: Nullable(Type.Record(Type.String(), Type.Unknown())),
  send_at: TimeOf('Earliest time it is sent.'),
  canceled_at: TimeOrNull('When it was canceled; null when it was not.'),
  created_at: TimeOf('When it was accepted.'),
}

export const EmailJson = record('Email', 'A sent message.', MEMBERS)
export type EmailJson = Static<typeof EmailJson>

const log = DeliveryLogJson.properties

export const EmailRecipient = record('EmailRecipient', 'The delivery to one recipient.', {
  delivery_log_id: Id('deliveryLog'),
  email: Type.String(),
  ...{ status: log.status, status_reason: log.status_reason, attempts: log.attempts, sent_at: log.sent_at },
  ...{ provider_id: log.provider_id, provider_name: log.provider_name },
  timeline: DeliveryLogDetail.properties.timeline,
})

export const EmailDetail = record('EmailDetail', 'A sent message with all its recipients.', {
  ...MEMBERS,
  recipients: Type.Array(EmailRecipient),
  content: Nullable(ParsedMessage),
})

export function presentSentMessage(message: SentMessage): EmailJson {
  return {
    id: message.id,
    source: message.source as EmailJson['source'],
    mailbox_id: message.mailboxId,
    from: message.from,
    subject: message.subject,
    internet_message_id: `<${message.internetMessageId}>`,
    status: message.status,
    recipient_counts: message.counts,
    size_bytes: message.sizeBytes,
    tags: message.labels.tags ?? {},
    metadata: message.labels.metadata ?? null,
    send_at: isoTime(message.sendAt),
    canceled_at: isoTimeOrNull(message.canceledAt),
    created_at: isoTime(message.queuedAt),
  }
}

export function presentRecipient(one: RecipientOutcome): Static<typeof EmailRecipient> {
  return {
    delivery_log_id: one.id,
    email: one.to,
    status: one.status,
    status_reason: one.statusReason,
    attempts: one.attempts,
    sent_at: isoTimeOrNull(one.sentAt),
    provider_id: one.providerId,
    provider_name: one.providerName,
    timeline: presentSteps(one.timeline),
  }
}
