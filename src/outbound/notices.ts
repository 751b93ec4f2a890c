// Tells a local sender what could not be delivered: one report per mail, once.

import type { Emails } from './log/emails.ts'
import type { OutboundParts } from './parts.ts'

export class Notices {
  constructor(_parts: OutboundParts & { emails: Emails }) {}

  /** Makes and submits the reports that are due; a failed unit leaves them due. @returns how many were made */
  run(): Promise<number> {
    throw new Error('not built')
  }
}
