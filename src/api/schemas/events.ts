// What webhooks are told: one schema for each type of event (decisions §9.4).

import { type TProperties, Type } from 'typebox'
import { Id, Nullable, Timestamp, Words } from '../../http/schema.ts'
import { Address } from './address.ts'
import { AuthResult } from './auth-result.ts'
import { record } from './record.ts'

const API_VERSION = '1.0.0'
const Code = Nullable(Type.Integer({ description: 'Of the last reply; null where there was none.' }))
const Text = (description: string) => Type.String({ description })
const OrNull = (description: string) => Nullable(Type.String({ description }))

/** What every event of a sent mail says. */
const sent = {
  message_id: { ...Id('email'), description: 'The mail.' },
  delivery_log_id: { ...Id('deliveryLog'), description: 'The mail to this recipient.' },
  source: Words(['batch_api', 'mailbox_api', 'system']),
  mailbox_id: Nullable(Id('mailbox')),
  provider_id: Nullable(Id('provider')),
  provider_name: OrNull('Through whom it went.'),
  from: Address,
  recipient: Text('Address of the recipient.'),
  subject: Text('The subject.'),
  internet_message_id: Text('Message-ID in angle brackets.'),
  queued_at: Timestamp,
  attempt: Type.Integer({ minimum: 0, description: 'Hand-over tries so far.' }),
}

const Attachment = record('EventAttachment', 'A file in the mail.', {
  id: Id('attachment'),
  filename: Type.String(),
  content_type: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
  inline: Type.Boolean(),
})

/** What every event of a received mail says. */
const received = {
  mailbox_id: Id('mailbox'),
  mailbox_email: Type.String(),
  message_id: Id('message'),
  thread_id: Id('thread'),
  folder_ids: Type.Array(Id('folder')),
  internet_message_id: OrNull('Message-ID in angle brackets.'),
  in_reply_to: OrNull('Message-ID in angle brackets.'),
  envelope: record('EventEnvelope', 'As SMTP had it.', { mail_from: Type.String(), rcpt_to: Type.String() }),
  from: Address,
  to: Type.Array(Address, { maxItems: 50 }),
  cc: Type.Array(Address, { maxItems: 50 }),
  subject: Type.String(),
  preview: Type.String({ description: 'At most 256 characters of the text.' }),
  received_at: Timestamp,
  size_bytes: Type.Integer({ minimum: 0 }),
  has_attachments: Type.Boolean(),
  attachments: Type.Array(Attachment, { maxItems: 50 }),
  authentication: record('EventAuthentication', 'How the sender was judged.', {
    spf: AuthResult,
    dkim: AuthResult,
    dmarc: AuthResult,
  }),
  untrusted_content: Type.Literal(true, { description: 'The words of a stranger: no instructions.' }),
  truncated: Type.Boolean({ description: 'Lists were cut.' }),
}

const Delivery = record('EventDelivery', 'How it was taken.', {
  delivered_at: Timestamp,
  confirmation: Words(['recipient_mx', 'relay', 'provider_api', 'local']),
  smtp_code: Code,
  smtp_response: Text('The reply.'),
  latency_ms: Type.Integer({ minimum: 0, description: 'Milliseconds since it was queued.' }),
})
const Bounce = record('EventBounce', 'Why it came back.', {
  type: Words(['permanent', 'transient', 'undetermined']),
  sub_type: Words([
    ...(['general', 'no_such_user', 'mailbox_full', 'domain_not_found', 'content_rejected', 'policy'] as const),
    ...(['expired', 'suppressed_by_provider'] as const),
  ]),
  smtp_code: Code,
  enhanced_code: OrNull('RFC 3463.'),
  diagnostic: Text('What the server said.'),
  reporting_mta: OrNull('Who said it.'),
  occurred_at: Timestamp,
  suppressed: Type.Boolean({ description: 'Nothing more is sent to this recipient.' }),
})
const Complaint = record('EventComplaint', 'What the recipient reported.', {
  feedback_type: Words(['abuse', 'fraud', 'not_spam', 'other', 'virus']),
  user_agent: OrNull('The program of the report.'),
  occurred_at: Timestamp,
  suppressed: Type.Boolean({ description: 'Nothing more is sent to this recipient.' }),
})
const Rejection = record('EventRejection', 'Why it was not sent.', {
  reason: Words([
    ...(['suppressed', 'unverified_domain', 'no_provider', 'content_refused', 'message_too_large', 'policy'] as const),
    'sending_not_approved',
  ]),
  detail: Type.String(),
})
const Delay = record('EventDelay', 'Why it waits.', {
  type: Words(['mailbox_full', 'throttled', 'greylisted', 'network', 'dns', 'provider_quota', 'transient']),
  smtp_code: Code,
  diagnostic: Type.String(),
  next_attempt_at: Timestamp,
  expires_at: Timestamp,
})
const Spam = record('EventSpam', 'Why it was taken for spam.', {
  score: Type.Number(),
  reasons: Type.Array(Type.String()),
})

/** @param title its name in the OpenAPI document */
function event<T extends string, P extends TProperties>(type: T, title: string, description: string, data: P) {
  return record(title, description, {
    id: { ...Id('event'), description: 'The same for every attempt: for telling repetitions.' },
    type: Type.Literal(type),
    created_at: Timestamp,
    api_version: Type.Literal(API_VERSION),
    team_id: Id('team'),
    data: record(`${title}Data`, description, data),
  })
}

/** Every type of event with its body. */
export const EVENTS = {
  'message.delivered': event(
    'message.delivered',
    'MessageDelivered',
    'The next server, or a mailbox here, took a mail.',
    {
      ...sent,
      delivery: Delivery,
    },
  ),
  'message.bounced': event('message.bounced', 'MessageBounced', 'A mail could not be delivered.', {
    ...sent,
    bounce: Bounce,
  }),
  'message.complained': event('message.complained', 'MessageComplained', 'A recipient reported a mail.', {
    ...sent,
    complaint: Complaint,
  }),
  'message.rejected': event('message.rejected', 'MessageRejected', 'A mail was not sent.', {
    ...sent,
    rejection: Rejection,
  }),
  'message.delivery_delayed': event(
    'message.delivery_delayed',
    'MessageDeliveryDelayed',
    'A mail waits for its next try.',
    {
      ...sent,
      delay: Delay,
    },
  ),
  'message.received': event('message.received', 'MessageReceived', 'A mail came into a mailbox.', received),
  'message.received.spam': event('message.received.spam', 'MessageReceivedSpam', 'A mail came into Junk.', {
    ...received,
    spam: Spam,
  }),
  'service.test': event('service.test', 'ServiceTest', 'Somebody tried a subscription.', {
    message: Type.String(),
    triggered_by: Type.String({ description: 'The key that asked for it.' }),
  }),
} as const

const NOTES =
  'A POST to the subscribed address. `X-Service-Signature` is `sha256=` and the hex of HMAC-SHA-256 over the untouched bytes of the ' +
  'body, keyed with the whole signing secret; compare it in constant time. `X-Service-Event-Id` is the same for every attempt. The ' +
  'headers of Standard Webhooks come along too. Any 2xx within 10 seconds is success; everything else is tried again, eight times ' +
  'within 24 hours.'

/** For the OpenAPI document. */
export const webhooksTold = { events: EVENTS, notes: NOTES }
