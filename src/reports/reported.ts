// Types of parsed reports.

import type { ReplyStage } from './reply-class.ts'

export type FeedbackType = 'abuse' | 'fraud' | 'not_spam' | 'other' | 'virus'
/** RFC 3464 2.3.3. */
export type BounceAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** A recipient in a report. */
export interface ReportedRecipient {
  /** The address the report names; it may be one the message was forwarded to. */
  finalRecipient: string
  /** The address the message was sent to, when the report names it separately. */
  originalRecipient: string | null
  action: BounceAction
  /** RFC 3463, as "5.1.1". */
  status: string | null
  smtpCode: number | null
  /** The reply of the server, one line, at most DIAGNOSTIC_MAX characters; "" when there is none. */
  diagnostic: string
  stage: ReplyStage | null
  remoteMta: string | null
  /** ms */
  lastAttemptAt: number | null
}

/** The message a report is about, as far as known. */
export interface ReportedMessage {
  /** Without angle brackets. */
  messageId: string | null
  subject: string | null
  /** Address of its From field. */
  from: string | null
  to: string[]
  /** Envelope sender, when the report contains it. */
  returnPath: string | null
}

export interface BounceReport {
  kind: 'bounce'
  recipients: ReportedRecipient[]
  reportingMta: string | null
  /** ENVID of RFC 3461, when the report contains it. */
  envelopeId: string | null
  /** When the remote server received the message, ms. */
  arrivedAt: number | null
  original: ReportedMessage
}

export interface ComplaintReport {
  kind: 'complaint'
  feedbackType: FeedbackType
  /** The feedback type in the report ("abuse", "opt-out", "auth-failure"…), lower-case. */
  feedbackWord: string
  userAgent: string | null
  /** Recipients of the reported message, when the report does not redact them. */
  originalRecipients: string[]
  reportingMta: string | null
  /** ms */
  arrivedAt: number | null
  original: ReportedMessage
}

export type Report = BounceReport | ComplaintReport

/** Characters of a diagnostic, as in the delivery log. */
export const DIAGNOSTIC_MAX = 300
/** Recipients read from one report; further ones are ignored. */
export const RECIPIENTS_MAX = 500
/** Examined characters of a report's text, the returned message not included. */
export const REPORT_TEXT_MAX = 256 * 1024
