// What reports say, whatever form they came in.

import type { Stage } from './reply-class.ts'

export type FeedbackType = 'abuse' | 'fraud' | 'not_spam' | 'other' | 'virus'
/** RFC 3464 2.3.3. */
export type BounceAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** What a report says of one recipient. */
export interface ReportedRecipient {
  /** The address the report names; it may be one the mail was forwarded to. */
  finalRecipient: string
  /** The address the mail was sent to, where the report tells it apart. */
  originalRecipient: string | null
  action: BounceAction
  /** RFC 3463, as "5.1.1". */
  status: string | null
  smtpCode: number | null
  /** What the server said, one line, at most DIAGNOSTIC_MAX characters; "" when nothing. */
  diagnostic: string
  stage: Stage | null
  remoteMta: string | null
  /** ms */
  lastAttemptAt: number | null
}

/** What is known of the mail a report is about. */
export interface ReportedMail {
  /** Without angle brackets. */
  messageId: string | null
  subject: string | null
  /** Address of its From field. */
  from: string | null
  to: string[]
  /** Envelope sender, where the report gives it back. */
  returnPath: string | null
}

export interface BounceReport {
  kind: 'bounce'
  recipients: ReportedRecipient[]
  reportingMta: string | null
  /** ENVID of RFC 3461, where the report gives it back. */
  envelopeId: string | null
  /** When the other side got the mail, ms. */
  arrivedAt: number | null
  original: ReportedMail
}

export interface ComplaintReport {
  kind: 'complaint'
  feedbackType: FeedbackType
  /** As the report calls it ("abuse", "opt-out", "auth-failure"…), lower-case. */
  feedbackWord: string
  userAgent: string | null
  /** Recipients of the mail complained about, where the report does not hide them. */
  originalRecipients: string[]
  reportingMta: string | null
  /** ms */
  arrivedAt: number | null
  original: ReportedMail
}

export type Report = BounceReport | ComplaintReport

/** Characters of a diagnostic: as many as the delivery log keeps. */
export const DIAGNOSTIC_MAX = 300
/** Recipients taken from one report; the rest is left out. */
export const RECIPIENTS_MAX = 500
/** Characters of a report's text that are looked at; the returned mail behind it does not count. */
export const REPORT_TEXT_MAX = 256 * 1024
