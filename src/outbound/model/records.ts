// The records of sending that other modules read; times are ms, ids are public, `n` is a row's key.

import { bytes, flag, integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import type { SendScope } from '../../directory/mailboxes/mailbox-input.ts'
import type { Address } from '../../mime/message.ts'
import type { BounceSubType, BounceType, DelayCause, RemoteReply } from '../../reports/reply-class.ts'
import type { FeedbackType } from '../../reports/report.ts'
import { CONNECTED_TYPES } from './connected-services.ts'

export type { Page, PageKey } from '../../db/page.ts'
export type { BounceSubType, BounceType, DelayCause, RemoteReply, RemoteServer } from '../../reports/reply-class.ts'
export type { FeedbackType } from '../../reports/report.ts'

/** Types of sending accounts, in the order in which they are shown. */
export const PROVIDER_TYPES = ['smtp', ...CONNECTED_TYPES, 'amazon_ses'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]
export type ProviderStatus = 'active' | 'inactive' | 'error' | 'pending'
/** docs/design/sending.md §1: how a connection to a smarthost is secured. */
export type SmtpProtocol = 'tls' | 'ssl' | 'starttls' | 'none'

/** Each window draws its cap from this range, both ends included. */
export interface QuotaRange {
  min: number
  max: number
}

/** Recipients per fixed UTC window; null means no cap. */
export interface ProviderQuotas {
  perSecond: QuotaRange | null
  perMinute: QuotaRange | null
  perHour: QuotaRange | null
  perDay: QuotaRange | null
}

export const PROVIDERS = table('providers', {
  n: key(),
  id: text(),
  team_id: text(),
  name: text(),
  type: text<ProviderType>(),
  status: text<ProviderStatus>(),
  status_reason: text().orNull(),
  is_shared: flag().or(0),
  smtp_host: text().orNull(),
  smtp_port: integer().orNull(),
  smtp_protocol: text<SmtpProtocol>().orNull(),
  smtp_username: text().orNull(),
  smtp_password_sealed: bytes().orNull().hidden(),
  from_email: text().orNull(),
  from_name: text().orNull(),
  reply_to_email: text().orNull(),
  reply_to_name: text().orNull(),
  oauth_email: text().orNull(),
  refresh_token_sealed: bytes().orNull().hidden(),
  quotas: json<ProviderQuotas>(),
  percentage: integer().orNull(),
  tracking_domain: text().orNull(),
  /** Incremented by every change of host, port, protocol, user or secret: open connections of an older version are not reused. */
  connection_version: integer().or(1),
  /** Of hand-overs in a row. */
  failures: integer().or(0).hidden(),
  checked_ok_at: time().orNull().hidden(),
  check_due_at: time().orNull().hidden(),
  check_wait_ms: integer().orNull().hidden(),
  created_at: time(),
  updated_at: time(),
  last_tested_at: time().orNull(),
  last_used_at: time().orNull(),
  /** Configured envelope sender of an SMTP account; null: its `from_email`. */
  return_path: text().orNull(),
  /** True once a check has shown that the server accepts our per-message envelope senders (VERP). */
  takes_verp: flag().or(0),
  /** The outside account (`racc_…`) it belongs to, where alone it is edited. */
  remote_account_id: text().orNull(),
})

/** A sending account (docs/design/contract.md §2.2), without its secrets. */
export interface Provider extends RecordOf<typeof PROVIDERS> {
  hasSmtpPassword: boolean
  hasRefreshToken: boolean
}

/** `smtp`: submitted by a mail program. `forward`: received by a mailbox, and sent on by its script or its forwarding setting. */
export type EmailSource = 'batch_api' | 'mailbox_api' | 'smtp' | 'forward' | 'system'

/** Messages accepted for sending. */
export const EMAILS = table('emails', {
  n: key(),
  /** `eml_…` */
  id: text(),
  team_id: text(),
  /** The mailbox it was sent from, null for a root key. */
  mailbox_id: text().orNull(),
  /** `mdom_…` of the From domain if it is one of the team's. */
  domain_id: text().orNull().hidden(),
  source: text<EmailSource>(),
  /** The accounts that may carry it. */
  scope: json<SendScope>(),
  from_email: text(),
  from_name: text(),
  /** Requested envelope sender; null: our own per-message address (VERP). "" for the null reverse-path of a report. */
  return_path: text().orNull(),
  subject: text(),
  /** Without angle brackets. */
  internet_message_id: text(),
  /** SHA-256 of the composed bytes (no Bcc, not signed); null once no delivery needs the content. */
  blob: bytes().orNull().as('hash'),
  size_bytes: integer(),
  /** Deliveries that need the content. */
  open_deliveries: integer().hidden(),
  queued_at: time(),
  /** When the last attempt is due: 48 h after the earliest time of the first (docs/design/sending.md §7). */
  expires_at: time(),
  /** JSON, as its sender gave them. */
  tags: text().orNull().hidden(),
  metadata: text().orNull().hidden(),
  /** Earliest time of the first attempt; null of an earlier version. */
  send_at: time().orNull().hidden(),
  canceled_at: time().orNull().hidden(),
  /** `dlog_…` of the failed delivery that it repeats. */
  resent_from: text().orNull().hidden(),
  is_changed: flag().or(0),
})

/** A message accepted for sending. The delivery log has one row per recipient of it. */
export interface Email extends Omit<RecordOf<typeof EMAILS>, 'fromEmail' | 'fromName' | 'isChanged'> {
  from: Address
  /** A script has changed its header: nothing that was found out about the received message holds for it. */
  isChanged?: boolean
}

export type DeliveryStatus = 'pending' | 'sent' | 'failed' | 'rejected'

export const DELIVERIES = table('deliveries', {
  n: key(),
  /** `dlog_…` */
  id: text(),
  /** Key of the message. */
  email: integer(),
  team_id: text().hidden(),
  mailbox_id: text().orNull().hidden(),
  to_email: text().as('to'),
  domain: text().hidden(),
  provider_id: text().orNull(),
  provider_name: text().orNull(),
  sent_from_email: text(),
  status: text<DeliveryStatus>(),
  status_reason: text().orNull(),
  attempts: integer().or(0),
  sent_at: time().orNull(),
  /** When its sender was last informed that it is late. */
  delay_reported_at: time().orNull().hidden(),
  /** A DSN about its final failure is due. */
  notice_due: flag().or(0).hidden(),
  created_at: time(),
  /** The text that a search looks in. */
  words: text().hidden(),
  timeline: text().or('').hidden(),
})

/** One message to one recipient (docs/design/contract.md §2.8). */
export type Delivery = RecordOf<typeof DELIVERIES>

/** `delivery.confirmation` of an event (docs/design/events.md §4). */
export type Confirmation = 'recipient_mx' | 'relay' | 'provider_api' | 'local'
/** `rejection.reason` of an event (docs/design/events.md §4). */
export type RejectionReason =
  | 'suppressed'
  | 'unverified_domain'
  | 'no_provider'
  | 'content_refused'
  | 'message_too_large'
  | 'policy'
  | 'sending_not_approved'
  | 'approval_denied'
  | 'approval_expired'

/** The outcome of one delivery: the transitions of docs/design/sending.md §7. {@link DeliveryTransitions} applies each in one unit of work. */
export type Outcome =
  | { kind: 'sent'; reply: RemoteReply; confirmation: Confirmation }
  | { kind: 'deferred'; reply: RemoteReply; cause: DelayCause; nextAt: number }
  | {
      kind: 'bounced'
      reply: RemoteReply
      type: BounceType
      subType: BounceSubType
      reportingMta: string | null
      /** True for a report received after the delivery was recorded as sent. */
      afterAccept: boolean
      /** True when the provider itself reports that the address accepts no mail (SES Permanent), regardless of the reply text. */
      dead?: boolean
      occurredAt: number
    }
  | { kind: 'expired'; reply: RemoteReply }
  | { kind: 'rejected'; reason: RejectionReason; detail: string }
  | { kind: 'cancelled' }
  /** It waits for a person, in no queue; `detail` says why. `approved`: a person has let it leave. */
  | { kind: 'held'; detail: string }
  | { kind: 'approved' }
  | { kind: 'complained'; feedbackType: FeedbackType; userAgent: string | null; occurredAt: number }

/** The carrier of a delivery; `id` is null for our own MTA and for local delivery. */
export interface Carrier {
  id: string | null
  name: string
}
