// What reports that came back mean for the deliveries they are about.

import type { Report } from '../mail/report/report.ts'
import type { Emails } from './log/emails.ts'
import type { Fate } from './log/fate.ts'
import type { OutboundParts } from './parts.ts'
import type { Email } from './records.ts'

/** A report that came in. */
export interface ArrivedReport {
  report: Report
  /** The mail whose own address it came to (see bounce-address.ts); null when it came to the feedback address. */
  emailN: number | null
  /** ms */
  receivedAt: number
}

/** What came of it. */
export interface Applied {
  /** The mail it is about; null when nobody knows or it may not be believed. */
  email: Email | null
  /** How many deliveries it changed. */
  moved: number
  /** One sentence for the log. */
  detail: string
}

export class Feedback {
  constructor(_parts: OutboundParts & { emails: Emails; fate: Fate }) {}

  /** Applies a report to the recipients of the one mail it is about, in one unit of work. */
  receive(_arrived: ArrivedReport): Promise<Applied> {
    throw new Error('not built')
  }
}
