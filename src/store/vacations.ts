// Vacation responses (decisions §10.13): what a mailbox answers by itself, whom it has answered, and what is still to be answered.

import type { Clock } from '../base/clock.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { baseLocal } from '../directory/local-part.ts'
import { answerAddress, namedIn, senderKeys } from '../mime/auto-reply.ts'
import { clean } from '../mime/one-line.ts'
import type { Accounts } from './accounts.ts'
import type { Delivered, DeliverTarget, IncomingMessage } from './deliver.ts'
import type { Identities, Identity } from './identities.ts'
import type { Account } from './records.ts'

/** What is answered; a member that is null was not set. */
export interface VacationResponse {
  isEnabled: boolean
  /** From this time on (ms), and until this one. */
  fromDate: number | null
  toDate: number | null
  /** Null: "Auto: " and the subject of the mail. */
  subject: string | null
  textBody: string | null
  htmlBody: string | null
}

/** An answer that is yet to be written. */
export interface DueAnswer {
  n: number
  account: number
  /** As whom. */
  identityId: string
  to: string
  /** Of the mail that is answered; ids without angle brackets. */
  subject: string
  messageId: string | null
  references: string[]
  createdAt: number
}

/** One copy of a mail that has just been stored. */
export interface ArrivedCopy {
  message: IncomingMessage
  target: DeliverTarget
  delivered: Delivered
}

/** A sender hears it once in so long. */
export const SILENT_MS = 7 * 86_400_000
/** Senders a mailbox remembers at once; who comes after gets no answer until some are forgotten. */
export const SENDERS_MAX = 5000
export const SUBJECT_MAX = 255
export const BODY_MAX = 65_536
/** Characters of the subject a mail had, as it is repeated. */
const OLD_SUBJECT_MAX = 200
const PIECE = 500
/** They reach whoever stands in for a role (RFC 2142): that is not the person who is away. */
const ROLES = ['postmaster', 'abuse']

interface Row {
  is_enabled: number
  from_date: number | null
  to_date: number | null
  subject: string | null
  text_body: string | null
  html_body: string | null
  updated_at: number
}

interface DueRow {
  n: number
  account: number
  identity_id: string
  to_email: string
  subject: string
  message_id: string | null
  refs: string
  created_at: number
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  identities: Pick<Identities, 'list'>
}

export class Vacations {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Switched off and empty, with `updatedAt` null, until it was first set. */
  async get(
    account: Pick<Account, 'n'>,
    reader: Reader = this.#deps.db.read,
  ): Promise<VacationResponse & { updatedAt: number | null }> {
    const row = await reader.get<Row>(
      'SELECT is_enabled, from_date, to_date, subject, text_body, html_body, updated_at FROM vacation_responses WHERE account = ?',
      [account.n],
    )
    return {
      isEnabled: row?.is_enabled === 1,
      fromDate: row?.from_date ?? null,
      toDate: row?.to_date ?? null,
      subject: row?.subject ?? null,
      textBody: row?.text_body ?? null,
      htmlBody: row?.html_body ?? null,
      updatedAt: row?.updated_at ?? null,
    }
  }

  /** @param check sees to a precondition inside the unit of work */
  async set(account: Account, response: VacationResponse, check: (tx: Tx) => Promise<void>): Promise<void> {
    const { isEnabled, fromDate, toDate, subject, textBody, htmlBody } = response
    await this.#deps.db.write(async (tx) => {
      await check(tx)
      await tx.run(
        `INSERT INTO vacation_responses (account, is_enabled, from_date, to_date, subject, text_body, html_body, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (account) DO UPDATE SET is_enabled = excluded.is_enabled, from_date = excluded.from_date,
           to_date = excluded.to_date, subject = excluded.subject, text_body = excluded.text_body,
           html_body = excluded.html_body, updated_at = excluded.updated_at`,
        [account.n, isEnabled, fromDate, toDate, subject, textBody, htmlBody, this.#deps.clock.now()],
      )
      await this.#deps.accounts.setAway(tx, account.n, isEnabled)
    })
  }

  /**
   * Notes that a mail is to be answered, in the unit of work that stores it: a crash loses no answer and sends none twice. Costs
   * nothing where nobody is away, and most mail is not to be answered at all.
   * @returns whether it is
   */
  async note(tx: Tx, { message: mail, target, delivered }: ArrivedCopy): Promise<boolean> {
    if (!delivered.isAway || delivered.outcome !== 'stored' || target.junk || delivered.junk) return false
    const to = answerAddress(mail.mailFrom, mail.inspection)
    const account = to === null ? undefined : await this.#deps.accounts.byMailbox(target.mailboxId, tx)
    if (to === null || account === undefined || !isInForce(await this.get(account, tx), mail.receivedAt)) return false
    const identity = await this.#writtenTo(tx, account, mail, target)
    if (identity === null || !(await this.#remember(tx, account, mail))) return false
    const { subject, messageId, references } = mail.inspection.message
    await tx.insert('vacation_due', {
      account: account.n,
      identity_id: identity.id,
      to_email: to,
      subject: clean(subject, OLD_SUBJECT_MAX),
      message_id: messageId,
      refs: JSON.stringify(references),
      created_at: mail.receivedAt,
    })
    return true
  }

  /** Answers that are to be written, the oldest first. */
  async due(after: number, limit: number): Promise<DueAnswer[]> {
    const rows = await this.#deps.db.read.all<DueRow>(
      `SELECT n, account, identity_id, to_email, subject, message_id, refs, created_at FROM vacation_due
       WHERE n > ? ORDER BY n LIMIT ?`,
      [after, limit],
    )
    return rows.map((row) => ({
      n: row.n,
      account: row.account,
      identityId: row.identity_id,
      to: row.to_email,
      subject: row.subject,
      messageId: row.message_id,
      references: JSON.parse(row.refs) as string[],
      createdAt: row.created_at,
    }))
  }

  /** An answer is written, or nobody wants it any more. @returns false when that was so before */
  async settle(tx: Tx, n: number): Promise<boolean> {
    const { changes } = await tx.run('DELETE FROM vacation_due WHERE n = ?', [n])
    return changes > 0
  }

  /** Forgets senders who may be answered again, in pieces. @returns how many */
  async forget(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.#deps
    const before = clock.now() - SILENT_MS
    let gone = 0
    while (!signal.aborted) {
      const rows = await db.read.all<{ account: number; sender: string }>(
        'SELECT account, sender FROM vacation_senders WHERE answered_at <= ? ORDER BY answered_at LIMIT ?',
        [before, PIECE],
      )
      if (rows.length > 0) await db.write((tx) => forgetAll(tx, rows, before))
      gone += rows.length
      if (rows.length < PIECE) break
    }
    return gone
  }

  /** Forgets the next of an account that ends for good. @returns how many rows */
  async purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): Promise<number> {
    const senders = await tx.run(
      'DELETE FROM vacation_senders WHERE account = ? AND sender IN (SELECT sender FROM vacation_senders WHERE account = ? LIMIT ?)',
      [n, n, limit],
    )
    const due = await tx.run(
      'DELETE FROM vacation_due WHERE n IN (SELECT n FROM vacation_due WHERE account = ? LIMIT ?)',
      [n, limit],
    )
    const response = await tx.run('DELETE FROM vacation_responses WHERE account = ?', [n])
    return senders.changes + due.changes + response.changes
  }

  /** As whom the owner is written to, openly and by somebody else; null for a mail that is not the owner's own. */
  async #writtenTo(tx: Tx, account: Account, mail: IncomingMessage, target: DeliverTarget): Promise<Identity | null> {
    const identities = await this.#deps.identities.list(account, tx)
    const own = new Set([target.email, ...identities.map(({ email }) => email)].map(untagged))
    const rcptTo = target.rcptTo.toLowerCase()
    // The address it came to is an alias where it is none of these.
    if (!ROLES.includes(rcptTo.slice(0, Math.max(rcptTo.lastIndexOf('@'), 0)))) own.add(untagged(rcptTo))
    if (senderKeys(mail.mailFrom, mail.inspection).some((key) => own.has(untagged(key)))) return null
    const named = namedIn(mail.inspection)
    if (!named.some((email) => own.has(untagged(email)))) return null
    return identities.find(({ email }) => named.includes(email)) ?? identities[0]!
  }

  /** @returns false for a sender who was answered within the week, and where too many were */
  async #remember(tx: Tx, account: Account, mail: IncomingMessage): Promise<boolean> {
    const now = this.#deps.clock.now()
    const keys = senderKeys(mail.mailFrom, mail.inspection)
    const marks = keys.map(() => '?').join(', ')
    const known = await tx.get(
      `SELECT 1 AS known FROM vacation_senders WHERE account = ? AND sender IN (${marks}) AND answered_at > ?`,
      [account.n, ...keys, now - SILENT_MS],
    )
    if (known !== undefined) return false
    const row = await tx.get<{ count: number }>(
      'SELECT count(*) AS count FROM (SELECT 1 FROM vacation_senders WHERE account = ? LIMIT ?)',
      [account.n, SENDERS_MAX],
    )
    if (row!.count >= SENDERS_MAX) return false
    for (const key of keys) {
      await tx.run(
        `INSERT INTO vacation_senders (account, sender, answered_at) VALUES (?, ?, ?)
         ON CONFLICT (account, sender) DO UPDATE SET answered_at = excluded.answered_at`,
        [account.n, key, now],
      )
    }
    return true
  }
}

/** Whether it answers what comes at that time (ms). */
export function isInForce({ isEnabled, fromDate, toDate }: VacationResponse, at: number): boolean {
  return isEnabled && (fromDate === null || at >= fromDate) && (toDate === null || at < toDate)
}

async function forgetAll(tx: Tx, rows: readonly { account: number; sender: string }[], before: number): Promise<void> {
  for (const { account, sender } of rows) {
    // It may have been answered anew meanwhile.
    await tx.run('DELETE FROM vacation_senders WHERE account = ? AND sender = ? AND answered_at <= ?', [
      ...[account, sender],
      before,
    ])
  }
}

function untagged(email: string): string {
  const at = Math.max(email.lastIndexOf('@'), 0)
  return `${baseLocal(email.slice(0, at))}${email.slice(at).toLowerCase()}`
}
