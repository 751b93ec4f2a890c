// What a sender's mailbox keeps of a mail: the copy in Sent, the submission, and the mark on the message that is answered.

import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Tx } from '../db/db.ts'
import type { Address, ParsedMessage } from '../mime/message.ts'
import type { Accounts } from './accounts.ts'
import type { BlobNames } from './blob-names.ts'
import type { Change, ChangeLedger } from './changes.ts'
import type { Folders } from './folders.ts'
import { markAnswered, type Original } from './messages/answered.ts'
import { fileNewMessage } from './place.ts'
import type { Account, MessageAuthentication } from './records.ts'
import type { SentHours } from './sent-hours.ts'
import type { Submissions } from './submissions.ts'

/** A mail that was accepted from a mailbox. */
export interface AcceptedSubmission {
  /** `eml_…` */
  emailId: string
  subject: string
  /** Null when no copy is wanted; its content is in the blob store. */
  copy: SentContent | null
  envelope: { mailFrom: string; rcptTo: readonly string[] }
  /** Addresses of the mailbox, lower-case. */
  own: readonly string[]
  answers: Original | null
  /** `idn_…`: as whom it is sent. */
  identityId: string
  /** Earliest time it leaves, ms. */
  sendAt: number
}

export interface SentContent {
  mail: ParsedMessage
  /** Who gets it without being named in its bytes: shown to the sender, found by a search. */
  bcc: readonly Address[]
  hash: Uint8Array
  sizeBytes: number
}

/** What was made of it. */
export interface RecordedSubmission {
  /** `sub_…` */
  submissionId: string
  /** `msg_…` of the copy, null without one. */
  messageId: string | null
  threadId: string | null
}

// Nobody checked it, because it never came in.
const OWN_WORD: MessageAuthentication = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  fromAligned: true,
  reasons: ['Written in this mailbox.'],
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

  /** Writes all of it as part of the unit of work that accepts the mail. Room in the mailbox is the caller's question. */
  async keep(tx: Tx, account: Account, sent: AcceptedSubmission): Promise<RecordedSubmission> {
    const { accounts, changes, submissions, sentHours, clock } = this.#deps
    const { answers } = sent
    const told: Change[] = []
    const copy = sent.copy && (await this.#copy(tx, account, sent, sent.copy, told))
    const messageId = copy?.id ?? null
    const threadId = copy?.threadId ?? answers?.thread.id ?? null
    const submission = await submissions.create(tx, {
      ...sent,
      account: account.n,
      messageId,
      threadId,
    })
    told.push({ type: 'submissions', n: submission.n, object: submission.id, kind: 'created' })
    if (answers !== null && (await markAnswered(tx, answers.n))) {
      told.push({ type: 'messages', n: answers.n, object: answers.id, kind: 'updated' })
      // A thread shows the flags of its last message.
      const { n, id } = answers.thread
      if (!told.some(({ type, object }) => type === 'threads' && object === id)) {
        told.push({ type: 'threads', n, object: id, kind: 'updated' })
      }
    }
    const came = { bytes: sent.copy?.sizeBytes ?? 0, messages: copy === null ? 0 : 1 }
    await sentHours.add(tx, account.n, sent.envelope.rcptTo.length)
    const types = new Set(told.map(({ type }) => type)).add('quotas')
    const seq = await accounts.advance(tx, account.n, [...types], came)
    await changes.record(tx, account.n, seq, told, clock.now())
    return { submissionId: submission.id, messageId, threadId }
  }

  async #copy(tx: Tx, account: Account, sent: AcceptedSubmission, content: SentContent, told: Change[]) {
    const { folders, clock, names } = this.#deps
    const id = newId('message')
    const now = clock.now()
    const { joined, changes } = await fileNewMessage(tx, {
      id,
      account: account.n,
      folders: [await folders.byRole(account.n, 'sent', tx)],
      own: sent.own,
      into: sent.answers?.thread.n,
      blob: content.hash,
      nameOf: names.of(account.mailboxId),
      sizeBytes: content.sizeBytes,
      // No mail names them (RFC 5322 3.6.3), so that the record alone does.
      mail: { ...content.mail, bcc: [...content.bcc] },
      envelope: { mailFrom: sent.envelope.mailFrom, rcptTo: sent.envelope.rcptTo.join(', ') },
      authentication: OWN_WORD,
      spam: { score: 0, isSpam: false, reasons: [] },
      keywords: [],
      flags: { seen: true, flagged: false, draft: false, answered: false },
      receivedAt: now,
      createdAt: now,
    })
    told.push(...changes)
    return { id, threadId: joined.id }
  }
}
