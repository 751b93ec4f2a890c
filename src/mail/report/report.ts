// Reports about mail that was sent: bounces and complaints, read from whatever form the other side writes them in.

export type FeedbackType = 'abuse' | 'fraud' | 'not_spam' | 'other' | 'virus'
export type BounceAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** What a report says of one recipient. */
export interface ReportedRecipient {
  /** The address the report names, as written there but for its domain's case; it may be one the mail was forwarded to. */
  finalRecipient: string
  /** The address the mail was sent to, where the report tells it apart. */
  originalRecipient: string | null
  action: BounceAction
  /** RFC 3463, as "5.1.1". */
  status: string | null
  smtpCode: number | null
  /** What the server said, one line, at most 300 characters. */
  diagnostic: string
  remoteMta: string | null
  /** ms */
  lastAttemptAt: number | null
}

/** What is known of the mail a report is about. */
export interface ReportedMail {
  /** Without angle brackets. */
  messageId: string | null
  subject: string | null
  from: string | null
  to: string[]
}

export interface BounceReport {
  kind: 'bounce'
  recipients: ReportedRecipient[]
  reportingMta: string | null
  /** ENVID of RFC 3461, where the report gives it back. */
  envelopeId: string | null
  /** ms */
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
  originalMailFrom: string | null
  reportingMta: string | null
  /** ms */
  arrivedAt: number | null
  original: ReportedMail
}

export type Report = BounceReport | ComplaintReport

/** Reads a mail as a report; null when it is none. Never throws, and bounded like every parser of foreign bytes. */
export function readReport(_bytes: Uint8Array): Report | null {
  throw new Error('not built')
}
