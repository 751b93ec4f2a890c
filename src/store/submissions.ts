// Submissions: what a mailbox asked to be sent. What became of it is told by the log of deliveries; here is what was asked.

import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Db, SqlValue, Tx } from '../db/db.ts'
import { pageOf } from '../db/page.ts'
import type { Accounts } from './accounts.ts'
import type { ChangeLedger } from './changes.ts'
import type { Account, Page, PageKey } from './records.ts'

/** What is kept of a submission (decisions §10.7). */
export interface Submission {
  n: number
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

export interface SubmissionFilter {
  /** ms, inclusive, on the time it was asked for. */
  after?: number
  /** ms, exclusive. */
  before?: number
  threadId?: string
  limit: number
  /** Where the page before ended. */
  cursor: PageKey | null
}

export interface NewSubmission {
  account: number
  emailId: string
  messageId: string | null
  threadId: string | null
  identityId: string | null
  envelope: { mailFrom: string; rcptTo: readonly string[] }
  subject: string
  sendAt: number
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

  /** Writes one as part of a unit of work; the caller tells the ledger of changes. @returns its key and id */
  async create(tx: Tx, submission: NewSubmission): Promise<{ n: number; id: string }> {
    const id = newId('submission')
    const now = this.#deps.clock.now()
    const n = await tx.insert('submissions', {
      id,
      account: submission.account,
      email_id: submission.emailId,
      message_id: submission.messageId,
      thread_id: submission.threadId,
      identity_id: submission.identityId,
      mail_from: submission.envelope.mailFrom,
      rcpt_to: JSON.stringify(submission.envelope.rcptTo),
      subject: submission.subject,
      send_at: submission.sendAt,
      created_at: now,
      updated_at: now,
    })
    return { n, id }
  }

  /** Tells the ledger that something about the submission of a mail changed; nothing for mails that have none. */
  async touch(tx: Tx, emailId: string): Promise<void> {
    const { accounts, changes, clock } = this.#deps
    const now = clock.now()
    const row = await tx.get<{ n: number; id: string; account: number }>(
      'UPDATE submissions SET updated_at = ? WHERE email_id = ? RETURNING n, id, account',
      [now, emailId],
    )
    if (row === undefined) return
    const seq = await accounts.advance(tx, row.account, ['submissions'], { bytes: 0, messages: 0 })
    const change = { type: 'submissions', n: row.n, object: row.id, kind: 'updated' } as const
    await changes.record(tx, row.account, seq, [change], now)
  }

  async get(account: Account, id: string): Promise<Submission | undefined> {
    const row = await this.#deps.db.read.get<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE id = ? AND account = ?`,
      [id, account.n],
    )
    return row && present(row)
  }

  /** The submission a message in Sent is the copy of. */
  async ofMessage(account: Account, messageId: string): Promise<Submission | undefined> {
    const row = await this.#deps.db.read.get<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE message_id = ? AND account = ?`,
      [messageId, account.n],
    )
    return row && present(row)
  }

  /** Newest first. */
  async list(account: Account, { limit, cursor, ...filter }: SubmissionFilter): Promise<Page<Submission>> {
    const where = ['account = ?']
    const values: SqlValue[] = [account.n]
    const ask = (condition: string, ...asked: SqlValue[]) => {
      where.push(condition)
      values.push(...asked)
    }
    if (filter.after !== undefined) ask('created_at >= ?', filter.after)
    if (filter.before !== undefined) ask('created_at < ?', filter.before)
    if (filter.threadId !== undefined) ask('thread_id = ?', filter.threadId)
    if (cursor !== null) ask('(created_at, n) < (?, ?)', ...cursor)
    const rows = await this.#deps.db.read.all<SubmissionRow>(
      `SELECT ${COLUMNS} FROM submissions WHERE ${where.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, limit + 1],
    )
    return pageOf(rows, limit, (row) => [row.created_at, row.n], present)
  }

  /** Notes that it was taken back, once. @returns false when it was before */
  async cancel(tx: Tx, account: Account, id: string): Promise<boolean> {
    const now = this.#deps.clock.now()
    const { changes } = await tx.run(
      'UPDATE submissions SET canceled_at = ?, updated_at = ? WHERE id = ? AND account = ? AND canceled_at IS NULL',
      [now, now, id, account.n],
    )
    return changes > 0
  }

  /** Forgets the next submissions of an account that ends for good. See `PurgePart`. */
  async purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
    const { changes } = await tx.run(
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
