// The records of sending, as every part of the house reads them; times are ms, ids are public, `n` is a row's key.

import type { SendScope } from '../directory/mailbox-input.ts'
import type { Address } from '../mime/message.ts'
import type { BounceSubType, BounceType, DelayCause, Reply } from '../reports/reply-class.ts'
import type { FeedbackType } from '../reports/report.ts'

export type { Page, PageKey } from '../db/page.ts'
export type { BounceSubType, BounceType, DelayCause, Reply, ReplyServer } from '../reports/reply-class.ts'
export type { FeedbackType } from '../reports/report.ts'

export type ProviderType = 'smtp' | 'gmail_api' | 'outlook_api' | 'amazon_ses'
export type ProviderStatus = 'active' | 'inactive' | 'error' | 'pending'
/** Decisions §3.1: how a connection to a smarthost is secured. */
export type SmtpProtocol = 'tls' | 'ssl' | 'starttls' | 'none'

/** A cap is drawn anew for each window from the range, both ends included. */
export interface QuotaRange {
  min: number
  max: number
}

/** Recipients per fixed UTC window; null is no cap. */
export interface Quotas {
  perSecond: QuotaRange | null
  perMinute: QuotaRange | null
  perHour: QuotaRange | null
  perDay: QuotaRange | null
}

/** A sending account (specification §2.2). Secrets are not in it. */
export interface Provider {
  n: number
  id: string
  teamId: string
  name: string
  type: ProviderType
  status: ProviderStatus
  statusReason: string | null
  isShared: boolean
  smtpHost: string | null
  smtpPort: number | null
  smtpProtocol: SmtpProtocol | null
  smtpUsername: string | null
  hasSmtpPassword: boolean
  fromEmail: string | null
  fromName: string | null
  replyToEmail: string | null
  replyToName: string | null
  /** Envelope sender of an SMTP account as it was set; null: its `fromEmail`. */
  returnPath: string | null
  /** True once a check has shown that the server takes an envelope sender of ours for each message (VERP). */
  takesVerp: boolean
  oauthEmail: string | null
  hasRefreshToken: boolean
  quotas: Quotas
  percentage: number | null
  trackingDomain: string | null
  /** Grows with every change of host, port, protocol, user or secret: an open connection of an older version is not used. */
  connectionVersion: number
  createdAt: number
  updatedAt: number
  lastTestedAt: number | null
  lastUsedAt: number | null
}

export type EmailSource = 'batch_api' | 'mailbox_api' | 'system'

/** A mail that was accepted for sending. One row of the delivery log per recipient hangs on it. */
export interface Email {
  n: number
  /** `eml_…` */
  id: string
  teamId: string
  /** The mailbox it was sent from, null for a root key. */
  mailboxId: string | null
  source: EmailSource
  /** Through which accounts it may go. */
  scope: SendScope
  from: Address
  /** Envelope sender that was asked for; null: ours, made per mail (VERP). "" for the null sender of a report. */
  returnPath: string | null
  subject: string
  /** Without angle brackets. */
  internetMessageId: string
  /** SHA-256 of the composed bytes (no Bcc, not signed); null once nothing of it is open. */
  hash: Uint8Array | null
  sizeBytes: number
  queuedAt: number
  /** When the last try was due: 48 h after it could first leave (decisions §6.2). */
  expiresAt: number
}

export type DeliveryStatus = 'pending' | 'sent' | 'failed' | 'rejected'

/** One mail to one recipient (specification §2.8). */
export interface Delivery {
  n: number
  /** `dlog_…` */
  id: string
  email: number
  to: string
  status: DeliveryStatus
  statusReason: string | null
  attempts: number
  providerId: string | null
  providerName: string | null
  sentFromEmail: string
  sentAt: number | null
  createdAt: number
}

/** Decisions §9.4 `delivery.confirmation`. */
export type Confirmation = 'recipient_mx' | 'relay' | 'provider_api' | 'local'
/** Decisions §9.4 `rejection.reason`. */
export type RejectionReason =
  | 'suppressed'
  | 'unverified_domain'
  | 'no_provider'
  | 'content_refused'
  | 'message_too_large'
  | 'policy'
  | 'sending_not_approved'

/** What became of one delivery: the moves of decisions §6.2. Each is applied by {@link Fate} in one unit of work. */
export type Outcome =
  | { kind: 'sent'; reply: Reply; confirmation: Confirmation }
  | { kind: 'deferred'; reply: Reply; cause: DelayCause; nextAt: number }
  | {
      kind: 'bounced'
      reply: Reply
      type: BounceType
      subType: BounceSubType
      reportingMta: string | null
      /** True for a report that came after the delivery counted as sent. */
      afterAccept: boolean
      /** True when the provider itself says that the address takes no mail (SES Permanent), whatever the words of the reply. */
      dead?: boolean
      occurredAt: number
    }
  | { kind: 'expired'; reply: Reply }
  | { kind: 'rejected'; reason: RejectionReason; detail: string }
  | { kind: 'cancelled' }
  | { kind: 'complained'; feedbackType: FeedbackType; userAgent: string | null; occurredAt: number }

/** Through whom a delivery went, or is about to go; `id` is null for our own MTA and for local delivery. */
export interface Carrier {
  id: string | null
  name: string
}
