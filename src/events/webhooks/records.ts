// The records of telling outside: a subscription, and one try to tell it something; times are ms.

import type { EventType } from '../outbox.ts'

export type { Page, PageKey } from '../../db/page.ts'

export type DisabledReason = 'by_user' | 'too_many_failures' | 'url_not_allowed'

/** A subscription (decisions §9.1). Its secrets are not in it. */
export interface Webhook {
  n: number
  id: string
  teamId: string
  url: string
  description: string | null
  /** Types it is told, or `*` alone for all, those of later versions too. */
  eventTypes: readonly string[]
  /** Only events of these mailboxes; null for all. */
  mailboxIds: readonly string[] | null
  domainIds: readonly string[] | null
  status: 'enabled' | 'disabled'
  disabledReason: DisabledReason | null
  /** Last four characters of the signing secret. */
  secretHint: string
  secretRotatedAt: number | null
  /** Events in a row that could not be told to the end. */
  consecutiveFailures: number
  lastDeliveryAt: number | null
  lastSuccessAt: number | null
  createdAt: number
  updatedAt: number
}

/** Decisions §9.5. */
export type AttemptResult = 'success' | 'retrying' | 'failed' | 'permanent_failure'

/** One try to tell one event to one subscription (specification §2.9). */
export interface Attempt {
  n: number
  id: string
  /** Key of the event. */
  event: number
  eventId: string
  eventType: EventType
  result: AttemptResult
  /** 0 when no answer came. */
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

/** The same with what was sent; the payload is null once it has expired. */
export interface AttemptDetail extends Attempt {
  requestHeaders: Record<string, string>
  payload: string | null
}

/** An event on its way to one subscription. */
export interface Waiting {
  n: number
  event: { n: number; id: string; type: EventType; body: string; createdAt: number }
  /** Which try is next, from 1. */
  attempt: number
  /** No try starts after it. */
  endsAt: number
}

/** The secrets that hold for a subscription at a moment. */
export interface SigningSecrets {
  secret: string
  previousSecret: string | null
}

/** A subscription as it is when a request to it begins. */
export interface Addressee {
  webhook: Webhook
  secrets: SigningSecrets
}
