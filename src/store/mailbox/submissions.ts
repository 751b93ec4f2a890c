// Submissions (RFC 8621 §7): the messages a mailbox has sent. Their delivery status is in the delivery log.

import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, SqlValue, Tx } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import { Where } from '../../db/sql-text.ts'
import { bytes, flag, integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { ChangeLedger } from '../rows/changes.ts'
import type { Account, Page, PageKey } from '../rows/records.ts'

export const SUBMISSIONS = table('submissions', {
  n: key(),
  /** `sub_…` */
  id: text(),
  account: integer().hidden(),
  /** `eml_…` of the message in the delivery log. */
  email_id: text(),
  /** The copy in Sent (`msg_…`); null without one. */
  message_id: text().orNull(),
  thread_id: text().orNull(),
  identity_id: text().orNull(),
  mail_from: text(),
  rcpt_to: json<readonly string[]>(),
  subject: text(),
  /** Earliest time of the first delivery attempt. */
  send_at: time(),
  canceled_at: time().orNull(),
  created_at: time(),
  updated_at: time(),
  /** SHA-256 of the message of a mail program and its recipients. */
  fingerprint: bytes().orNull().hidden(),
  /** Without angle brackets. */
  internet_message_id: text().orNull().hidden(),
  /** The message is a copy that the appliance keeps. */
  keeps_copy: flag().or(0).hidden(),
})
type StoredSubmission = RecordOf<typeof SUBMISSIONS>

/** A submission (docs/design/mailbox.md §7). */
export interface Submission extends Omit<StoredSubmission, 'mailFrom' | 'rcptTo'> {
  envelope: { mailFrom: string; rcptTo: string[] }
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

const LINKABLE = SUBMISSIONS.only('n', 'email_id', 'message_id', 'keeps_copy')
/** A submission that a message of a mail program may belong to. */
export type LinkableSubmission = RecordOf<typeof LINKABLE>

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

export class Submissions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Inserts a submission as part of a unit of work; the caller records the change in the ledger. @returns its number and id */
  create(tx: Tx, { envelope, ...submission }: NewSubmission): { n: number; id: string } {
    const id = newId('submission')
    const now = this.#deps.clock.now()
    const n = SUBMISSIONS.insert(tx, { ...submission, ...envelope, id, createdAt: now, updatedAt: now })
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

  /** The newest submissions with a Message-ID, without those that were canceled. @param since ms */
  withMessageId(
    reader: Reader,
    account: Account,
    { internetMessageId, since, limit }: { internetMessageId: string; since: number; limit: number },
  ): LinkableSubmission[] {
    return LINKABLE.all(
      reader,
      `WHERE account = ? AND created_at >= ? AND internet_message_id = ? AND canceled_at IS NULL
       ORDER BY created_at DESC, n DESC LIMIT ?`,
      [account.n, since, internetMessageId, limit],
    )
  }

  /** Makes a message of a mail program that of a submission, and records the change in the ledger. */
  link(tx: Tx, { n, emailId }: LinkableSubmission, message: { id: string; threadId: string }): void {
    tx.run('UPDATE submissions SET message_id = ?, thread_id = ?, keeps_copy = 0 WHERE n = ?', [
      ...[message.id, message.threadId, n],
    ])
    this.touch(tx, emailId)
  }

  get(account: Account, id: string): Submission | undefined {
    return find(this.#deps.db.read, `WHERE id = ? AND account = ?`, [id, account.n])
  }

  /** The submission of a message (`eml_…`). */
  byEmail(account: Account, emailId: string): Submission | undefined {
    return find(this.#deps.db.read, `WHERE email_id = ? AND account = ?`, [emailId, account.n])
  }

  /** The newest submission of a mail program with this Message-ID (without angle brackets) since a time (ms). Reads by index. */
  byInternetId(
    reader: Reader,
    account: Pick<Account, 'n'>,
    { internetMessageId, since }: { internetMessageId: string; since: number },
  ): Submission | undefined {
    return find(
      reader,
      `WHERE account = ? AND internet_message_id = ? AND created_at >= ?
       ORDER BY n DESC LIMIT 1`,
      [account.n, internetMessageId, since],
    )
  }

  /** The submission of the same message to the same recipients since a time (ms). Reads by index. */
  repeatedOf(
    reader: Reader,
    account: Pick<Account, 'n'>,
    { internetMessageId, fingerprint, since }: SubmittedMessage & { since: number },
  ): Submission | undefined {
    if (fingerprint === null) return undefined
    return find(
      reader,
      `WHERE account = ? AND internet_message_id = ? AND created_at >= ?
       AND fingerprint = ? ORDER BY n DESC LIMIT 1`,
      [account.n, internetMessageId, since, fingerprint],
    )
  }

  /** The submission whose copy in Sent is this message. */
  byMessage(account: Account, messageId: string, reader: Reader = this.#deps.db.read): Submission | undefined {
    return find(reader, `WHERE message_id = ? AND account = ?`, [messageId, account.n])
  }

  /** Newest first. */
  list(account: Account, { limit, cursor, ...filter }: SubmissionFilter): Page<Submission> {
    const where = new Where().add('account = ?', account.n)
    if (filter.after !== undefined) where.add('created_at >= ?', filter.after)
    if (filter.before !== undefined) where.add('created_at < ?', filter.before)
    if (filter.threadId !== undefined) where.add('thread_id = ?', filter.threadId)
    if (cursor !== null) where.add('(created_at, n) < (?, ?)', ...cursor)
    const stored = SUBMISSIONS.all(this.#deps.db.read, `WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`, [
      ...where.values,
      limit + 1,
    ])
    return pageOf(stored, limit, ({ createdAt, n }) => [createdAt, n], submissionOf)
  }

  /** How many submissions of a thread there were since a time (ms). */
  countOfThread(reader: Reader, account: Pick<Account, 'n'>, threadId: string, since: number): number {
    const sql = 'SELECT count(*) AS count FROM submissions WHERE account = ? AND created_at >= ? AND thread_id = ?'
    return reader.get<{ count: number }>(sql, [account.n, since, threadId])!.count
  }

  /** Marks a submission as canceled. @returns false if it was already */
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

function find(reader: Reader, rest: string, values: readonly SqlValue[]): Submission | undefined {
  const stored = SUBMISSIONS.get(reader, rest, values)
  return stored && submissionOf(stored)
}

function submissionOf({ mailFrom, rcptTo, ...submission }: StoredSubmission): Submission {
  return { ...submission, envelope: { mailFrom, rcptTo: [...rcptTo] } }
}
