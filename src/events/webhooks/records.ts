// Records of webhooks: subscriptions, delivery attempts and pending deliveries; times are ms.

import { hash } from 'node:crypto'
import { bytes, integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import type { EventType } from '../event-types.ts'

export type { Page, PageKey } from '../../db/page.ts'

export type DisabledReason = 'by_user' | 'too_many_failures' | 'url_not_allowed'

export const WEBHOOKS = table('webhooks', {
  n: key(),
  id: text(),
  team_id: text(),
  url: text(),
  description: text().orNull(),
  /** Event types, or `*` alone for all types including those of later versions. */
  event_types: json<readonly string[]>(),
  /** Only events of these mailboxes; null for all. */
  mailbox_ids: json<readonly string[]>().orNull(),
  domain_ids: json<readonly string[]>().orNull(),
  status: text<'enabled' | 'disabled'>(),
  disabled_reason: text<DisabledReason>().orNull(),
  secret_sealed: bytes().hidden(),
  /** Last four characters of the signing secret. */
  secret_hint: text().as('signing_secret_hint'),
  previous_secret_sealed: bytes().orNull().hidden(),
  /** When signatures with the secret before it end or ended; null without a grace period. */
  previous_until: time().orNull().as('previous_secret_until'),
  secret_rotated_at: time().orNull(),
  /** Events in a row whose deliveries finally failed. */
  consecutive_failures: integer().or(0),
  failing_since: time().orNull().hidden(),
  last_delivery_at: time().orNull(),
  last_success_at: time().orNull(),
  created_at: time(),
  updated_at: time(),
  /** Who made it, or last changed what it is sent or where: `usr_…`, `key_…` or `operator`; null since an earlier version. */
  set_by: text().orNull(),
})
export const WITH_SECRETS = WEBHOOKS.and('secret_sealed', 'previous_secret_sealed')

/** A subscription (docs/design/events.md §1). Its secrets are not in it. */
export type Webhook = RecordOf<typeof WEBHOOKS>

/** docs/design/events.md §5. */
export type AttemptResult = 'success' | 'retrying' | 'failed' | 'permanent_failure'

export const WEBHOOK_ATTEMPTS = table('webhook_attempts', {
  n: key(),
  id: text(),
  /** Key of the subscription. */
  webhook: integer().hidden(),
  /** Key of the event. */
  event: integer(),
  event_id: text(),
  event_type: text<EventType>(),
  result: text<AttemptResult>(),
  /** 0 without a response. */
  response_status: integer(),
  response_ms: integer(),
  attempt: integer(),
  max_attempts: integer(),
  next_retry_at: time().orNull(),
  error_message: text().orNull(),
  response_body: text().orNull(),
  request_headers: json<Record<string, string>>().hidden(),
  payload_expires_at: time(),
  payload_bytes: integer(),
  payload_sha256: bytes(),
  created_at: time(),
})

/** One attempt to deliver one event to one subscription (docs/design/contract.md §2.9). */
export type Attempt = RecordOf<typeof WEBHOOK_ATTEMPTS>

/** An attempt of any subscription of a team. */
export interface TeamAttempt extends Attempt {
  /** `whk_…` */
  webhookId: string
  url: string
}

/** An attempt with its request; the payload is null once it has expired. */
export interface AttemptDetail extends Attempt {
  requestHeaders: Record<string, string>
  payload: string | null
}

/** The body of all requests of one event: encoded and hashed once, whatever the number of subscriptions. */
export class Payload {
  readonly bytes: Buffer
  #sha256: Buffer | undefined

  constructor(body: string) {
    this.bytes = Buffer.from(body)
  }

  get sha256(): Buffer {
    this.#sha256 ??= hash('sha256', this.bytes, 'buffer')
    return this.#sha256
  }
}

/** An event that is sent to subscriptions. */
export interface DispatchedEvent {
  n: number
  id: string
  type: EventType
  payload: Payload
  createdAt: number
}

/** An event queued for one subscription. */
export interface PendingDelivery {
  n: number
  event: DispatchedEvent
  /** Number of the next attempt, from 1. */
  attempt: number
  /** No attempt starts after it. */
  endsAt: number
}

/** The signing secrets of a subscription that are valid now. */
export interface SigningSecrets {
  secret: string
  previousSecret: string | null
}

/** A subscription and its secrets, read when a request starts. */
export interface WebhookTarget {
  webhook: Webhook
  secrets: SigningSecrets
}
