// The event of a mail that came to rest in a mailbox (decisions §9.4).

import type { Tx } from '../db/db.ts'
import type { AuthResult, ParsedMail } from '../mail/mail.ts'
import type { Outbox } from './outbox.ts'

/** One copy, as whoever stored it knows it. */
export interface ReceivedCopy {
  teamId: string
  /** `mdom_…` of the mailbox. */
  domainId: string
  mail: { inspection: { mail: ParsedMail; sizeBytes: number }; mailFrom: string; receivedAt: number }
  target: {
    mailboxId: string
    /** Address of the mailbox. */
    email: string
    rcptTo: string
    junk: boolean
    authentication: { spf: AuthResult; dkim: AuthResult; dmarc: AuthResult }
    spam: { score: number; reasons: string[] }
  }
  delivered: {
    outcome: 'stored' | 'duplicate' | 'full'
    messageId: string | null
    threadId: string | null
    folderId: string | null
    /** In the order of the mail's attachments. */
    attachmentIds: readonly string[]
  }
}

/** Tells of a copy in the unit of work that stored it; copies that were there already or found no room are told by nobody. */
export function recordReceived(_tx: Tx, _outbox: Outbox, _copy: ReceivedCopy): Promise<void> {
  throw new Error('not built')
}
