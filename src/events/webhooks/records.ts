// Records of webhooks: subscriptions, delivery attempts and pending deliveries; times are ms.

import { hash } from 'node:crypto'
import type { EventType } from '../event-types.ts'

export type { Page, PageKey } from '../../db/page.ts'

export type DisabledReason = 'by_user' | 'too_many_failures' | 'url_not_allowed'

/** A subscription (docs/design/events.md §1). Its secrets are not in it. */
export interface Webhook {
  n: number
  id: string
  teamId: string
  url: string
  description: string | null
  /** Event types, or `*` alone for all types including those of later versions. */
  eventTypes: readonly string[]
  /** Only events of these mailboxes; null for all. */
  mailboxIds: readonly string[] | null
  domainIds: readonly string[] | null
  status: 'enabled' | 'disabled'
  disabledReason: DisabledReason | null
  /** Last four characters of the signing secret. */
  secretHint: string
  secretRotatedAt: number | null
  /** When signatures with the secret before it end or ended; null without a grace period. */
  previousSecretUntil: number | null
  /** Events in a row whose deliveries finally failed. */
  consecutiveFailures: number
  lastDeliveryAt: number | null
  lastSuccessAt: number | null
  /** Who made it, or last changed what it is sent or where: `usr_…`, `key_…` or `operator`; null since an earlier version. */
  setBy: string | null
  createdAt: number
  updatedAt: number
}

/** docs/design/events.md §5. */
export type AttemptResult = 'success' | 'retrying' | 'failed' | 'permanent_failure'

/** One attempt to deliver one event to one subscription (docs/design/contract.md §2.9). */
export interface Attempt {
  n: number
  id: string
  /** Key of the event. */
  event: number
  eventId: string
  eventType: EventType
  result: AttemptResult
  /** 0 without a response. */
  responseStatus: number
  responseMs: number
  attempt: number
  maxAttempts: number
  nextRetryAt: number | null
  errorMessage: string | null
  responseBody: string | null
  payloadExpiresAt: number
  payloadBytes: number
  payloadSha256: Uint8Array
  createdAt: number
}

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
