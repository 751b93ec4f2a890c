// The data of delivery events (docs/design/events.md §4), in the field names and order of the API.

import { isoTime } from '../../base/clock.ts'
import { clean } from '../../mime/one-line.ts'
import { labelsOf } from '../model/message-labels.ts'
import type { Carrier, EmailSource, Outcome } from '../model/records.ts'
import { DETAIL_MAX, replyLine } from './timeline.ts'

/** The message and the delivery of an event. */
export interface EventSubject {
  emailId: string
  deliveryId: string
  source: EmailSource
  mailboxId: string | null
  carrier: Carrier | null
  fromEmail: string
  fromName: string
  to: string
  subject: string
  internetMessageId: string
  queuedAt: number
  expiresAt: number
  attempts: number
  /** JSON; null without any. */
  tags?: string | null
  metadata?: string | null
}

/** The outcome of the delivery. */
export interface EventFact {
  outcome: Outcome
  at: number
  /** True when the outcome suppresses the recipient. */
  suppressed: boolean
}

// These limits keep every body far below 64 KiB.
const NAME_MAX = 512
const SUBJECT_MAX = 998
const MTA_MAX = 255

export function bodyOf(about: EventSubject, fact: EventFact): Record<string, unknown> {
  return {
    message_id: about.emailId,
    delivery_log_id: about.deliveryId,
    source: about.source,
    mailbox_id: about.mailboxId,
    provider_id: about.carrier?.id ?? null,
    provider_name: about.carrier?.name ?? null,
    from: { email: about.fromEmail, name: cut(about.fromName, NAME_MAX) },
    recipient: about.to,
    subject: cut(about.subject, SUBJECT_MAX),
    internet_message_id: `<${about.internetMessageId}>`,
    queued_at: isoTime(about.queuedAt),
    attempt: about.attempts,
    ...labelsOf(about),
    ...detailsOf(about, fact),
  }
}

function detailsOf(about: EventSubject, { outcome, at, suppressed }: EventFact): Record<string, unknown> {
  switch (outcome.kind) {
    case 'sent':
      return { delivery: delivery(about, outcome, at) }
    case 'deferred':
      return { delay: delay(about, outcome) }
    case 'bounced':
      return { bounce: bounce(outcome, at, suppressed) }
    case 'expired':
      return { bounce: bounce(expired(outcome, at), at, false) }
    case 'rejected':
      return { rejection: { reason: outcome.reason, detail: clean(outcome.detail, DETAIL_MAX) } }
    case 'complained':
      return { complaint: complaint(outcome, at, suppressed) }
    case 'cancelled':
    case 'held':
    case 'approved':
      return {}
  }
}

function delivery(about: EventSubject, { reply, confirmation }: Extract<Outcome, { kind: 'sent' }>, at: number) {
  return {
    delivered_at: isoTime(at),
    confirmation,
    smtp_code: reply.smtpCode,
    smtp_response: replyLine(reply),
    latency_ms: Math.max(at - about.queuedAt, 0),
  }
}

function delay(about: EventSubject, { reply, cause, nextAt }: Extract<Outcome, { kind: 'deferred' }>) {
  return {
    type: cause,
    smtp_code: reply.smtpCode,
    diagnostic: replyLine(reply),
    next_attempt_at: isoTime(nextAt),
    expires_at: isoTime(about.expiresAt),
  }
}

function bounce(outcome: Extract<Outcome, { kind: 'bounced' }>, at: number, suppressed: boolean) {
  const { reply, type, subType, reportingMta, occurredAt } = outcome
  return {
    type,
    sub_type: subType,
    smtp_code: reply.smtpCode,
    enhanced_code: reply.enhancedCode,
    diagnostic: replyLine(reply),
    reporting_mta: reportingMta === null ? null : clean(reportingMta, MTA_MAX),
    occurred_at: isoTime(Math.min(occurredAt, at)),
    suppressed,
  }
}

/** An expired delivery is reported as a bounce with the last reply as its reason. */
function expired({ reply }: Extract<Outcome, { kind: 'expired' }>, at: number): Extract<Outcome, { kind: 'bounced' }> {
  return {
    kind: 'bounced',
    reply,
    type: 'transient',
    subType: 'expired',
    reportingMta: null,
    afterAccept: false,
    occurredAt: at,
  }
}

function complaint(outcome: Extract<Outcome, { kind: 'complained' }>, at: number, suppressed: boolean) {
  const { feedbackType, userAgent, occurredAt } = outcome
  return {
    feedback_type: feedbackType,
    user_agent: userAgent === null ? null : clean(userAgent, MTA_MAX),
    occurred_at: isoTime(Math.min(occurredAt, at)),
    suppressed,
  }
}

function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed()
}
