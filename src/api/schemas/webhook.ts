// A webhook, and the form with its secret.

import { type Static, Type } from 'typebox'
import { EVENT_TYPES } from '../../events/event-types.ts'
import type { Webhook } from '../../events/webhooks/records.ts'
import { URL_MAX } from '../../events/webhooks/url.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

export const EventTypeName = Words(EVENT_TYPES, 'Type of event.')

/** Subscribed types; `*` must be the only entry. */
export const EventTypes = Type.Array(Words([...EVENT_TYPES, '*']), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
  description: 'Subscribed types, or `["*"]` for all, those of later versions included.',
  examples: [['message.delivered', 'message.bounced']],
})

export const WebhookUrl = Type.String({
  minLength: 1,
  maxLength: URL_MAX,
  description: 'https URL without user name, password or fragment, at a public address.',
  examples: ['https://93.184.215.14/hooks/mail'],
})

export const MailboxIds = Type.Array(Id('mailbox'), { minItems: 1, maxItems: 100, uniqueItems: true })
export const DomainIds = Type.Array(Id('domain'), { minItems: 1, maxItems: 100, uniqueItems: true })

export const WebhookStatus = Words(['enabled', 'disabled'], 'A disabled webhook receives nothing.')

const EXAMPLE = {
  id: 'whk_0a1b2c3d4e5f6g7h8i9j0k1l',
  url: 'https://hooks.example.com/mail',
  description: 'Order messages',
  event_types: ['message.delivered', 'message.bounced'],
  status: 'enabled',
  disabled_reason: null,
  mailbox_ids: null,
  domain_ids: null,
  signing_secret_hint: 'x0Zk',
  secret_rotated_at: null,
  previous_secret_until: null,
  consecutive_failures: 0,
  last_delivery_at: null,
  last_success_at: null,
  created_at: '2030-01-02T03:04:05.000Z',
  updated_at: '2030-01-02T03:04:05.000Z',
}

export const WebhookJson = record(
  'Webhook',
  'A subscription of a URL to events.',
  {
    id: Id('webhook'),
    url: Type.String(),
    description: Nullable(Type.String()),
    event_types: Type.Array(Type.String()),
    status: WebhookStatus,
    disabled_reason: Nullable(
      Words(
        ['by_user', 'too_many_failures', 'url_not_allowed'],
        'Why it is disabled: 20 events in a row over at least three days could not be delivered, or the URL resolves to a private ' +
          'address.',
      ),
    ),
    mailbox_ids: Nullable(Type.Array(Id('mailbox'), { description: 'Only events of these mailboxes; null for all.' })),
    domain_ids: Nullable(Type.Array(Id('domain'), { description: 'Only events of these domains; null for all.' })),
    signing_secret_hint: Type.String({ description: 'Last four characters of the signing secret.' }),
    secret_rotated_at: TimeOrNull('When the signing secret was last rotated; null before.'),
    previous_secret_until: TimeOrNull(
      'Until when requests also carry a signature with the previous secret; null without a grace period.',
    ),
    consecutive_failures: Type.Integer({
      minimum: 0,
      description: 'Events in a row that were not delivered in eight attempts.',
    }),
    last_delivery_at: TimeOrNull('Time of the last attempt; null before.'),
    last_success_at: TimeOrNull('Time of the last successful attempt; null before.'),
    created_at: TimeOf('When it was created.'),
    updated_at: TimeOf('When it last changed.'),
  },
  EXAMPLE,
)
export type WebhookJson = Static<typeof WebhookJson>

export const NewWebhook = record('NewWebhook', 'A webhook with its signing secret, which is shown only this once.', {
  ...WebhookJson.properties,
  signing_secret: Type.String({
    description:
      'Key of `X-Service-Signature` (the whole text, prefix included) and of `webhook-signature` (the base64 after the prefix).',
  }),
})
export type NewWebhook = Static<typeof NewWebhook>

export const presentWebhook = presenterOf<Webhook>()(WebhookJson)
