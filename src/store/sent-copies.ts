// Records of an accepted submission in the sender's mailbox: the copy in Sent, the submission, and `$answered` on the original.

import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Tx } from '../db/db.ts'
import type { Address, ParsedMessage } from '../mime/message.ts'
import type { Accounts } from './accounts.ts'
import type { BlobNames } from './blob-names.ts'
import type { Change, ChangeLedger } from './changes.ts'
import { fileNewMessages, type MessageFiling } from './file-message.ts'
import type { Folders } from './folders.ts'
import { touchEntries } from './folders-entries.ts'
import { markAnswered, type OriginalMessage } from './messages/original.ts'
import type { Account, ChangeType, MessageAuthentication } from './records.ts'
import type { SentHours } from './sent-hours.ts'
import type { Submissions } from './submissions.ts'

/** A message accepted for sending from a mailbox. */
export interface AcceptedSubmission {
  /** `eml_…` */
  emailId: string
  subject: string
  /** Null if no copy is wanted; its content is in the blob store. */
  copy: SentContent | null
  envelope: { mailFrom: string; rcptTo: readonly string[] }
  /** Addresses of the mailbox, lower-case. */
  ownAddresses: readonly string[]
  answers: OriginalMessage | null
  /** `idn_…`: the identity it is sent as. */
  identityId: string
  /** Earliest time of the first delivery attempt, ms. */
  sendAt: number
}

export interface SentContent {
  parsed: ParsedMessage
  /** Bcc recipients, which are not in its bytes: shown to the sender and searchable. */
  bcc: readonly Address[]
  hash: Uint8Array
  sizeBytes: number
}

export interface RecordedSubmission {
  /** `sub_…` */
  submissionId: string
  /** `msg_…` of the copy; null without one. */
  messageId: string | null
  threadId: string | null
}

// Not checked: the message was not received by SMTP.
const LOCAL_AUTHENTICATION: MessageAuthentication = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  fromAligned: true,
  reasons: ['Sent from this mailbox.'],
}

interface Deps {
  clock: Clock
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
  submissions: Submissions
  sentHours: SentHours
  names: BlobNames
}

export class SentCopies {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Writes all records as part of the unit of work that accepts the message. The caller checks the quota. */
  record(tx: Tx, account: Account, sent: AcceptedSubmission): RecordedSubmission {
    const { accounts, changes, submissions, sentHours, clock } = this.#deps
    const { answers } = sent
    const answered = answers !== null && markAnswered(tx, answers.n) ? answers : null
    const types = typesOf(sent.copy !== null, answered !== null)
    const added = { bytes: sent.copy?.sizeBytes ?? 0, messages: sent.copy === null ? 0 : 1 }
    const seq = accounts.advance(tx, account.n, types, added)
    const recorded: Change[] = []
    const copy = sent.copy && this.#copy(tx, account, sent, { content: sent.copy, seq, recorded })
    const messageId = copy?.id ?? null
    const threadId = copy?.threadId ?? answers?.thread.id ?? null
    const submission = submissions.create(tx, {
      ...sent,
      account: account.n,
      messageId,
      threadId,
    })
    recorded.push({ type: 'submissions', n: submission.n, object: submission.id, kind: 'created' })
    if (answered !== null) {
      touchEntries(tx, seq, { messages: [answered.n], removed: [] })
      recorded.push({ type: 'messages', n: answered.n, object: answered.id, kind: 'updated' })
      // A thread shows the flags of its last message.
      const { n, id } = answered.thread
      if (!recorded.some(({ type, object }) => type === 'threads' && object === id)) {
        recorded.push({ type: 'threads', n, object: id, kind: 'updated' })
      }
    }
    sentHours.add(tx, account.n, sent.envelope.rcptTo.length)
    changes.record(tx, account.n, seq, recorded, clock.now())
    return { submissionId: submission.id, messageId, threadId }
  }

  #copy(
    tx: Tx,
    account: Account,
    sent: AcceptedSubmission,
    { content, seq, recorded }: { content: SentContent; seq: number; recorded: Change[] },
  ) {
    const { folders, clock, names } = this.#deps
    const id = newId('message')
    const now = clock.now()
    const filing: MessageFiling = {
      id,
      account: account.n,
      folders: [folders.byRole(account.n, 'sent', tx)],
      ownAddresses: sent.ownAddresses,
      knownThread: sent.answers?.thread.n,
      blob: content.hash,
      nameOf: names.of(account.mailboxId),
      sizeBytes: content.sizeBytes,
      // Bcc is not in the message itself (RFC 5322 §3.6.3), so it is stored in the row only.
      parsed: { ...content.parsed, bcc: [...content.bcc] },
      envelope: { mailFrom: sent.envelope.mailFrom, rcptTo: sent.envelope.rcptTo.join(', ') },
      authentication: LOCAL_AUTHENTICATION,
      spam: { score: 0, isSpam: false, reasons: [] },
      keywords: [],
      flags: { seen: true, flagged: false, draft: false, answered: false },
      receivedAt: now,
      createdAt: now,
    }
    const [filed] = fileNewMessages(tx, [filing], new Map([[account.n, seq]]))
    recorded.push(...filed!.changes)
    return { id, threadId: filed!.joined.id }
  }
}

/** The types that a submission changes. */
function typesOf(hasCopy: boolean, marksAnswered: boolean): ChangeType[] {
  const types: ChangeType[] = ['submissions', 'quotas']
  if (hasCopy || marksAnswered) types.push('messages', 'threads')
  if (hasCopy) types.push('folders')
  return types
}
