// A webhook subscription as it is shown, with its secret in the one answer that may show it.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Webhook as WebhookRecord } from '../../events/webhooks/records.ts'
import { URL_MAX } from '../../events/webhooks/url.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

export const EVENT_TYPES = [
  'message.delivered',
  'message.bounced',
  'message.complained',
  'message.rejected',
  'message.delivery_delayed',
  'message.received',
  'message.received.spam',
  'service.test',
] as const

export const EventTypeName = Words(EVENT_TYPES, 'What happened (specification §6).')

/** Types a subscription asks for; `*` stands alone. */
export const EventTypes = Type.Array(Words([...EVENT_TYPES, '*']), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
  description: 'Types it is told, or `["*"]` for all, those of later versions too.',
  examples: [['message.delivered', 'message.bounced']],
})

export const WebhookUrl = Type.String({
  minLength: 1,
  maxLength: URL_MAX,
  description: 'https address without user name, password or fragment, in the public Internet.',
  examples: ['https://93.184.215.14/hooks/mail'],
})

export const MailboxIds = Type.Array(Id('mailbox'), { minItems: 1, maxItems: 100, uniqueItems: true })
export const DomainIds = Type.Array(Id('domain'), { minItems: 1, maxItems: 100, uniqueItems: true })

export const WebhookStatus = Words(['enabled', 'disabled'], 'A disabled webhook is told nothing.')

const EXAMPLE = {
  id: 'whk_0a1b2c3d4e5f6g7h8i9j0k1l',
  url: 'https://hooks.example.com/mail',
  description: 'Order mails',
  event_types: ['message.delivered', 'message.bounced'],
  status: 'enabled',
  disabled_reason: null,
  mailbox_ids: null,
  domain_ids: null,
  signing_secret_hint: 'x0Zk',
  secret_rotated_at: null,
  consecutive_failures: 0,
  last_delivery_at: null,
  last_success_at: null,
  created_at: '2030-01-02T03:04:05.000Z',
  updated_at: '2030-01-02T03:04:05.000Z',
}

export const Webhook = record(
  'Webhook',
  'Whom what happens is told.',
  {
    id: Id('webhook'),
    url: Type.String(),
    description: Nullable(Type.String()),
    event_types: Type.Array(Type.String()),
    status: WebhookStatus,
    disabled_reason: Nullable(
      Words(
        ['by_user', 'too_many_failures', 'url_not_allowed'],
        'Why it is disabled: 20 events in a row over at least three days could not be told, or the address leads inside.',
      ),
    ),
    mailbox_ids: Nullable(Type.Array(Id('mailbox'), { description: 'Only events of these mailboxes; null for all.' })),
    domain_ids: Nullable(Type.Array(Id('domain'), { description: 'Only events of these domains; null for all.' })),
    signing_secret_hint: Type.String({ description: 'Last four characters of the signing secret.' }),
    secret_rotated_at: TimeOrNull('When the signing secret was last rotated, null before.'),
    consecutive_failures: Type.Integer({
      minimum: 0,
      description: 'Events in a row that could not be told in eight attempts.',
    }),
    last_delivery_at: TimeOrNull('When it was last tried, null before.'),
    last_success_at: TimeOrNull('When it last answered well, null before.'),
    created_at: TimeOf('When it was made.'),
    updated_at: TimeOf('When it last changed.'),
  },
  EXAMPLE,
)
export type Webhook = Static<typeof Webhook>

export const NewWebhook = record('NewWebhook', 'A webhook with its signing secret, which is shown this once.', {
  ...Webhook.properties,
  signing_secret: Type.String({
    description:
      'Key of `X-Service-Signature` (the whole text, prefix included) and of `webhook-signature` (the base64 after the prefix).',
  }),
})
export type NewWebhook = Static<typeof NewWebhook>

export function presentWebhook(webhook: WebhookRecord): Webhook {
  const list = (items: readonly string[] | null) => (items === null ? null : [...items])
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    event_types: [...webhook.eventTypes],
    status: webhook.status,
    disabled_reason: webhook.disabledReason,
    mailbox_ids: list(webhook.mailboxIds),
    domain_ids: list(webhook.domainIds),
    signing_secret_hint: webhook.secretHint,
    secret_rotated_at: isoTimeOrNull(webhook.secretRotatedAt),
    consecutive_failures: webhook.consecutiveFailures,
    last_delivery_at: isoTimeOrNull(webhook.lastDeliveryAt),
    last_success_at: isoTimeOrNull(webhook.lastSuccessAt),
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
  }
}
