// The copy a sender keeps of what was sent.

import type { Db, Tx } from '../db/db.ts'
import type { Address, ParsedMail } from '../mail/mail.ts'
import type { Accounts } from './accounts.ts'
import type { Change, ChangeLedger } from './changes.ts'
import type { Folders } from './folders.ts'
import type { Account } from './records.ts'

/** A composed mail whose content is in the blob store. */
export interface SentMail {
  mail: ParsedMail
  hash: Uint8Array
  sizeBytes: number
  /** Who got it without being named in it. */
  bcc: readonly Address[]
  envelope: { mailFrom: string; rcptTo: readonly string[] }
  /** The sending mailbox's own addresses. */
  own: readonly string[]
  /** Thread of the message that is answered; null: found by its ids. */
  thread: string | null
}

/** A copy that was made. */
export interface SentCopy {
  n: number
  id: string
  threadId: string
}

interface Parts {
  db: Db
  clock: { now(): number }
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
}

export class SentCopies {
  constructor(_parts: Parts) {}

  /**
   * Puts a copy into Sent, seen, as part of a unit of work.
   * @returns the copy and the changes the caller has to tell the ledger
   */
  keep(_tx: Tx, _account: Account, _sent: SentMail): Promise<{ copy: SentCopy; changes: Change[] }> {
    throw new Error('not built')
  }
}
