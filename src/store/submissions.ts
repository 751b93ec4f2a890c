// Submissions: what a mailbox asked to be sent. Status and recipients follow from the log of deliveries; here is what was asked.

import type { Db, Reader, Tx } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import type { ChangeLedger } from './changes.ts'
import type { Account, Page, PageKey } from './records.ts'

/** What is kept of a submission (decisions §10.7). */
export interface Submission {
  /** `sub_…` */
  id: string
  /** `eml_…`: its deliveries tell what became of it. */
  emailId: string
  /** The copy in Sent (`msg_…`), null when none was kept. */
  messageId: string | null
  threadId: string | null
  identityId: string | null
  envelope: { mailFrom: string; rcptTo: string[] }
  subject: string
  /** Earliest time it leaves, ms. */
  sendAt: number
  canceledAt: number | null
  createdAt: number
  updatedAt: number
}

export interface NewSubmission {
  account: number
  emailId: string
  /** The copy in Sent with its thread; null when none was kept. */
  message: { n: number; id: string; threadId: string } | null
  identityId: string | null
  /** Envelope; "" where it is made per mail. */
  mailFrom: string
  rcptTo: readonly string[]
  subject: string
  sendAt: number
}

interface Parts {
  db: Db
  clock: { now(): number }
  accounts: Accounts
  changes: ChangeLedger
}

export class Submissions {
  constructor(_parts: Parts) {}

  /** Writes one as part of a unit of work; the caller tells the ledger of changes. @returns its key and id */
  create(_tx: Tx, _submission: NewSubmission): Promise<{ n: number; id: string }> {
    throw new Error('not built')
  }

  /** Tells the ledger that something about the submission of a mail changed; nothing for mails that have none. */
  touch(_tx: Tx, _emailId: string): Promise<void> {
    throw new Error('not built')
  }

  get(_account: Account, _id: string, _reader?: Reader): Promise<Submission | undefined> {
    throw new Error('not built')
  }

  /** The submission a message in Sent is the copy of. */
  ofMessage(_account: Account, _messageId: string): Promise<Submission | undefined> {
    throw new Error('not built')
  }

  /** Newest first. */
  list(_account: Account, _page: { limit: number; after: PageKey | null }): Promise<Page<Submission>> {
    throw new Error('not built')
  }
}
