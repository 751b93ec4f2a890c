// Records of an accepted submission in the sender's mailbox: the copy in Sent, the submission, and `$answered` on the original.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import type { Tx } from '../../db/db.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import type { BlobNames } from '../content/blob-names.ts'
import { newestMessages, touchEntries } from '../entries/folders-entries.ts'
import type { SentHours } from '../log/sent-hours.ts'
import { fileNewMessages, type MessageFiling } from '../messages/file-message.ts'
import { markAnswered, messagesNamed, type OriginalMessage } from '../messages/original.ts'
import { noteAnswer } from '../messages/spam-labels.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Change, ChangeLedger } from '../rows/changes.ts'
import type { Folders } from '../rows/folders.ts'
import type { Account, ChangeType, MessageAuthentication } from '../rows/records.ts'
import type { Submissions } from './submissions.ts'

/** A message accepted for sending from a mailbox. */
export interface AcceptedSubmission {
  /** `eml_…` */
  emailId: string
  /** Message-ID without angle brackets. */
  internetMessageId: string
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
  /** Of a message that a mail program submitted whole: see `SubmittedMessage`. */
  fingerprint?: Uint8Array | null
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

/** Messages in Sent among which the one that a mail program has stored before its submission is looked for. */
const APPENDED_MAX = 100

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
  record(tx: Tx, account: Account, accepted: AcceptedSubmission): RecordedSubmission {
    const { accounts, changes, submissions, sentHours, clock } = this.#deps
    const appended = this.#appended(tx, account, accepted)
    const sent = appended === null ? accepted : { ...accepted, copy: null }
    const { answers } = sent
    const answered = answers !== null && markAnswered(tx, answers.n) ? answers : null
    const types = typesOf(sent.copy !== null, answered !== null)
    const added = { bytes: sent.copy?.sizeBytes ?? 0, messages: sent.copy === null ? 0 : 1 }
    const seq = accounts.advance(tx, account.n, types, added)
    const recorded: Change[] = []
    const copy = sent.copy && this.#copy(tx, account, sent, { content: sent.copy, seq, recorded })
    const stored = copy ?? appended
    const messageId = stored?.id ?? null
    const threadId = stored?.threadId ?? answers?.thread.id ?? null
    const keepsCopy = copy !== null
    const submission = submissions.create(tx, { ...sent, account: account.n, messageId, keepsCopy, threadId })
    recorded.push({ type: 'submissions', n: submission.n, object: submission.id, kind: 'created' })
    if (answered !== null) {
      noteAnswer(tx, account.n, { message: answered.n, now: clock.now() })
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

  /** The message of a mail program that stores a message in Sent before it submits it. */
  #appended(tx: Tx, account: Account, sent: AcceptedSubmission): { id: string; threadId: string } | null {
    // A new id of ours is in no message yet (docs/design/sending.md §12).
    if (sent.internetMessageId.startsWith(sent.emailId)) return null
    const { folders, submissions, clock } = this.#deps
    const folder = folders.byRole(account.n, 'sent', tx)
    const newest = newestMessages(tx, folder.n, { since: clock.now() - DAY_MS, limit: APPENDED_MAX })
    const found = messagesNamed(tx, newest, sent.internetMessageId)
    return found.find(({ id }) => submissions.byMessage(account, id, tx) === undefined) ?? null
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
