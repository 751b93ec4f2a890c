// A sent message with all its recipients.

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { RecipientOutcome, SentMessage } from '../../outbound/log/sent-messages.ts'
import { SUBMISSION_STATUSES } from '../../outbound/model/submission-status.ts'
import { AddressJson } from './address.ts'
import { Approval } from './approval.ts'
import { DeliveryLogDetail, DeliveryLogJson, presentSteps } from './delivery-log.ts'
import { ParsedMessage } from './parsed-message.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

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
  internet_message_id: Type.String({
    description:
      'Message-ID in angle brackets. Messages in `/mailbox/messages` have it without them; requests take both forms.',
  }),
  status: Words(
    SUBMISSION_STATUSES,
    'Of all recipients together; `held` while it waits for a person, `failed` when none was reached.',
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
  approval: Nullable(Approval),
  content: Nullable(ParsedMessage),
})

export const presentSentMessage = presenterOf<SentMessage>()(EmailJson, {
  source: ({ source }) => source as EmailJson['source'],
  internet_message_id: ({ internetMessageId }) => `<${internetMessageId}>`,
  recipient_counts: 'counts',
  tags: ({ labels }) => labels.tags ?? {},
  metadata: ({ labels }) => labels.metadata ?? null,
  created_at: 'queuedAt',
})

export const presentRecipient = presenterOf<RecipientOutcome>()(EmailRecipient, {
  delivery_log_id: 'id',
  email: 'to',
  timeline: ({ timeline }) => presentSteps(timeline),
})
