// Submissions (RFC 8621 §7): the messages a mailbox has sent. Their delivery status is in the delivery log.

import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import { Where } from '../../db/sql-text.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { ChangeLedger } from '../rows/changes.ts'
import type { Account, Page, PageKey } from '../rows/records.ts'

/** A submission (docs/design/mailbox.md §7). */
export interface Submission {
  n: number
  /** `sub_…` */
  id: string
  /** `eml_…` of the message in the delivery log. */
  emailId: string
  /** The copy in Sent (`msg_…`); null without one. */
  messageId: string | null
  threadId: string | null
  identityId: string | null
  envelope: { mailFrom: string; rcptTo: string[] }
  subject: string
  /** Earliest time of the first delivery attempt, ms. */
  sendAt: number
  canceledAt: number | null
  createdAt: number
  updatedAt: number
}

export interface SubmissionFilter {
  /** ms, inclusive, on `createdAt`. */
  after?: number
  /** ms, exclusive. */
  before?: number
  threadId?: string
  limit: number
  /** End of the previous page. */
  cursor: PageKey | null
}

export interface NewSubmission {
  account: number
  emailId: string
  /** Message-ID without angle brackets. */
  internetMessageId: string
  messageId: string | null
  /** The message is a copy that the appliance keeps. */
  keepsCopy: boolean
  threadId: string | null
  identityId: string | null
  envelope: { mailFrom: string; rcptTo: readonly string[] }
  subject: string
  sendAt: number
  /** See {@link SubmittedMessage}. */
  fingerprint?: Uint8Array | null
}

/** What identifies a message that a mail program submitted. */
export interface SubmittedMessage {
  /** Without angle brackets. */
  internetMessageId: string
  /** SHA-256 of the message and its recipients; null when the program gave no Message-ID. */
  fingerprint: Uint8Array | null
}

/** A submission that a message of a mail program may belong to. */
export interface LinkableSubmission {
  n: number
  emailId: string
  /** `msg_…` */
  messageId: string | null
  /** The message is a copy that the appliance keeps. */
  keepsCopy: boolean
}

interface SubmissionRow {
  n: number
  id: string
  email_id: string
  message_id: string | null
  thread_id: string | null
  identity_id: string | null
  mail_from: string
  rcpt_to: string
  subject: string
  send_at: number
  canceled_at: number | null
  created_at: number
  updated_at: number
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

const COLUMNS =
  'n, id, email_id, message_id, thread_id, identity_id, mail_from, rcpt_to, subject, send_at, canceled_at, created_at, updated_at'

export class Submissions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Inserts a submission as part of a unit of work; the caller records the change in the ledger. @returns its number and id */
  create(tx: Tx, submission: NewSubmission): { n: number; id: string } {
    const id = newId('submission')
    const now = this.#deps.clock.now()
    const n = tx.insert('submissions', {
      id,
      account: submission.account,
      email_id: submission.emailId,
      internet_message_id: submission.internetMessageId,
      message_id: submission.messageId,
      keeps_copy: submission.keepsCopy,
      thread_id: submission.threadId,
      identity_id: submission.identityId,
      mail_from: submission.envelope.mailFrom,
      rcpt_to: JSON.stringify(submission.envelope.rcptTo),
      subject: submission.subject,
      send_at: submission.sendAt,
      fingerprint: submission.fingerprint ?? null,
      created_at: now,
      updated_at: now,
    })
    return { n, id }
  }

  /** Records in the ledger that the submission of a sent message changed; does nothing for messages without one. */
  touch(tx: Tx, emailId: string): void {
    const { accounts, changes, clock } = this.#deps
    const now = clock.now()
    const row = tx.get<{ n: number; id: string; account: number }>(
      'UPDATE submissions SET updated_at = ? WHERE email_id = ? RETURNING n, id, account',
      [now, emailId],
    )
    if (row === undefined) return
    const seq = accounts.advance(tx, row.account, ['submissions'], { bytes: 0, messages: 0 })
    const change = { type: 'submissions', n: row.n, object: row.id, kind: 'updated' } as const
    changes.record(tx, row.account, seq, [change], now)
  }

  /** The newest submissions with a Message-ID, without those that were cancelled. @param since ms */
  withMessageId(
    reader: Reader,
    account: Account,
    { internetMessageId, since, limit }: { internetMessageId: string; since: number; limit: number },
  ): LinkableSubmission[] {
    const rows = reader.all<{ n: number; email_id: string; message_id: string | null; keeps_copy: number }>(
      `SELECT n, email_id, message_id, keeps_copy FROM submissions
       WHERE account = ? AND created_at >= ? AND internet_message_id = ? AND canceled_at IS NULL
       ORDER BY created_at DESC, n DESC LIMIT ?`,
      [account.n, since, internetMessageId, limit],
    )
    return rows.map((row) => ({
      ...{ n: row.n, emailId: row.email_id, messageId: row.message_id, keepsCopy: row.keeps_copy === 1 },
    }))
  }

  /** Makes a message of a mail program that of a submission, and records the change in the ledger. */
  link(tx: Tx, { n, emailId }: LinkableSubmission, message: { id: string; threadId: string }): void {
    tx.run('UPDATE submissions SET message_id = ?, thread_id = ?, keeps_copy = 0 WHERE n = ?', [
      ...[message.id, message.threadId, n],
    ])
    this.touch(tx, emailId)
  }

  get(account: Account, id: string): Submission | undefined {
    const row = this.#deps.db.read.get<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE id = ? AND account = ?`,
      [id, account.n],
    )
    return row && present(row)
  }

  /** The submission of a message (`eml_…`). */
  byEmail(account: Account, emailId: string): Submission | undefined {
    const row = this.#deps.db.read.get<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE email_id = ? AND account = ?`,
      [emailId, account.n],
    )
    return row && present(row)
  }

  /** The newest submission of a mail program with this Message-ID (without angle brackets) since a time (ms). Reads by index. */
  byInternetId(
    reader: Reader,
    account: Pick<Account, 'n'>,
    { internetMessageId, since }: { internetMessageId: string; since: number },
  ): Submission | undefined {
    const row = reader.get<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE account = ? AND internet_message_id = ? AND created_at >= ?
       ORDER BY n DESC LIMIT 1`,
      [account.n, internetMessageId, since],
    )
    return row && present(row)
  }

  /** The submission of the same message to the same recipients since a time (ms). Reads by index. */
  repeatedOf(
    reader: Reader,
    account: Pick<Account, 'n'>,
    { internetMessageId, fingerprint, since }: SubmittedMessage & { since: number },
  ): Submission | undefined {
    if (fingerprint === null) return undefined
    const row = reader.get<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE account = ? AND internet_message_id = ? AND created_at >= ?
       AND fingerprint = ? ORDER BY n DESC LIMIT 1`,
      [account.n, internetMessageId, since, fingerprint],
    )
    return row && present(row)
  }

  /** The submission whose copy in Sent is this message. */
  byMessage(account: Account, messageId: string, reader: Reader = this.#deps.db.read): Submission | undefined {
    const row = reader.get<SubmissionRow>(`SELECT ${COLUMNS} FROM submissions WHERE message_id = ? AND account = ?`, [
      messageId,
      account.n,
    ])
    return row && present(row)
  }

  /** Newest first. */
  list(account: Account, { limit, cursor, ...filter }: SubmissionFilter): Page<Submission> {
    const where = new Where().add('account = ?', account.n)
    if (filter.after !== undefined) where.add('created_at >= ?', filter.after)
    if (filter.before !== undefined) where.add('created_at < ?', filter.before)
    if (filter.threadId !== undefined) where.add('thread_id = ?', filter.threadId)
    if (cursor !== null) where.add('(created_at, n) < (?, ?)', ...cursor)
    const rows = this.#deps.db.read.all<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, limit + 1],
    )
    return pageOf(rows, limit, (row) => [row.created_at, row.n], present)
  }

  /** Marks a submission as cancelled. @returns false if it was already */
  cancel(tx: Tx, account: Account, id: string): boolean {
    const now = this.#deps.clock.now()
    const { changes } = tx.run(
      'UPDATE submissions SET canceled_at = ?, updated_at = ? WHERE id = ? AND account = ? AND canceled_at IS NULL',
      [now, now, id, account.n],
    )
    return changes > 0
  }

  /** Deletes the next submissions of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
    const { changes } = tx.run(
      'DELETE FROM submissions WHERE n IN (SELECT n FROM submissions WHERE account = ? LIMIT ?)',
      [account.n, limit],
    )
    return changes
  }
}

function present(row: SubmissionRow): Submission {
  return {
    n: row.n,
    id: row.id,
    emailId: row.email_id,
    messageId: row.message_id,
    threadId: row.thread_id,
    identityId: row.identity_id,
    envelope: { mailFrom: row.mail_from, rcptTo: JSON.parse(row.rcpt_to) as string[] },
    subject: row.subject,
    sendAt: row.send_at,
    canceledAt: row.canceled_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
