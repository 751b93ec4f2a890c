// Vacation responses (RFC 5230, docs/design/mailbox.md §13): settings, senders already replied to, and the queue of due replies.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { isUnlisted } from '../../directory/mailboxes/receiver.ts'
import { answerAddress, namedIn, senderKeys } from '../../mime/auto-reply.ts'
import { untagged } from '../../mime/local-part.ts'
import { clean } from '../../mime/one-line.ts'
import type { ScriptVacation } from '../../sieve/script.ts'
import { replySlots, vacationIds } from '../../sieve/vacation.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Account } from '../rows/records.ts'
import type { DeliveryResult, DeliveryTarget, IncomingMessage } from './delivery.ts'
import { type Identities, type Identity, identityFor } from './identities.ts'
import type { ScriptIds } from './script-ids.ts'

/** Settings of a vacation response; null: not set. */
export interface VacationResponse {
  isEnabled: boolean
  /** Start (inclusive) and end (exclusive), ms. */
  fromDate: number | null
  toDate: number | null
  /** Null: "Auto: " and the subject of the message (RFC 5230 §4.6). */
  subject: string | null
  textBody: string | null
  htmlBody: string | null
}

/** A reply that is still to be sent. */
export interface DueReply {
  n: number
  account: number
  /** Sender identity. */
  identityId: string
  to: string
  /** Of the original message; ids without angle brackets. */
  subject: string
  messageId: string | null
  references: string[]
  createdAt: number
  /** Null: the setting of the mailbox answers. */
  script: ScriptVacation | null
}

/** A copy of a message that was just delivered. */
export interface StoredCopy {
  message: IncomingMessage
  target: DeliveryTarget
  delivered: DeliveryResult
}

/** Each sender gets at most one reply within this time, ms (RFC 5230 §4.1). */
export const REPLY_INTERVAL_MS = 7 * 86_400_000
/** Maximum number of senders stored per mailbox; further senders get no reply until some are pruned. */
export const SENDERS_MAX = 5000
export const SUBJECT_MAX = 255
export const BODY_MAX = 65_536
/** Characters of the original subject that are kept; a reply quotes less (`quotedSubject`). */
const ORIGINAL_SUBJECT_MAX = 200
const ROWS_PER_BATCH = 500
/** Role addresses (RFC 2142) are not personal, so messages to them get no reply. */
const ROLE_LOCAL_PARTS = ['postmaster', 'abuse']

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
  script: string | null
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  identities: Pick<Identities, 'list'>
  scriptIds: Pick<ScriptIds, 'has' | 'record'>
}

export class Vacations {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Disabled and empty, with `updatedAt` null, until it is first set. */
  get(
    account: Pick<Account, 'n'>,
    reader: Reader = this.#deps.db.read,
  ): VacationResponse & { updatedAt: number | null } {
    const row = reader.get<Row>(
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

  /** @param check checks a precondition inside the unit of work */
  async set(account: Account, response: VacationResponse, check: (tx: Tx) => void): Promise<void> {
    const { isEnabled, fromDate, toDate, subject, textBody, htmlBody } = response
    await this.#deps.db.write((tx) => {
      check(tx)
      tx.run(
        `INSERT INTO vacation_responses (account, is_enabled, from_date, to_date, subject, text_body, html_body, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (account) DO UPDATE SET is_enabled = excluded.is_enabled, from_date = excluded.from_date,
           to_date = excluded.to_date, subject = excluded.subject, text_body = excluded.text_body,
           html_body = excluded.html_body, updated_at = excluded.updated_at`,
        [account.n, isEnabled, fromDate, toDate, subject, textBody, htmlBody, this.#deps.clock.now()],
      )
      this.#deps.accounts.setAway(tx, account.n, isEnabled)
    })
  }

  /**
   * Enqueues a reply in the unit of work that stores the message, so that a crash neither loses nor repeats a reply. Makes no query
   * for mailboxes whose response is disabled.
   * @param at when the message arrived, ms: the expected time while the clock is in doubt
   * @returns whether a reply was enqueued
   */
  enqueueReply(tx: Tx, { message, target, delivered }: StoredCopy, at: number): boolean {
    const vacation = vacationOf(target, delivered)
    if (!delivered.isAway && vacation === undefined) return false
    const isFiled = delivered.outcome === 'stored' || (delivered.outcome === 'discarded' && vacation !== undefined)
    if (!isFiled || target.junk || delivered.junk || isUnlisted(target.step)) return false
    const to = answerAddress(message.mailFrom, message.inspection)
    const account = to === null ? undefined : this.#deps.accounts.byMailbox(target.mailboxId, tx)
    if (to === null || account === undefined) return false
    // The reply of the script stands in place of the setting.
    if (vacation === undefined && !isActiveAt(this.get(account, tx), at)) return false
    const identity = this.#replyIdentity(tx, account, message, target, vacation?.addresses)
    if (identity === null || !this.#isFirst(tx, account, { message, at }, vacation)) return false
    const { subject, messageId, references } = message.inspection.message
    tx.insert('vacation_due', {
      account: account.n,
      identity_id: identity.id,
      to_email: to,
      subject: clean(subject, ORIGINAL_SUBJECT_MAX),
      message_id: messageId,
      refs: JSON.stringify(references),
      created_at: at,
      script: vacation === undefined ? null : JSON.stringify(vacation),
    })
    return true
  }

  /** Due replies, oldest first. */
  dueReplies(after: number, limit: number): DueReply[] {
    const rows = this.#deps.db.read.all<DueRow>(
      `SELECT n, account, identity_id, to_email, subject, message_id, refs, created_at, script FROM vacation_due
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
      script: row.script === null ? null : (JSON.parse(row.script) as ScriptVacation),
    }))
  }

  /** Removes a due reply that was sent or is no longer wanted. @returns false if it was removed before */
  complete(tx: Tx, n: number): boolean {
    const { changes } = tx.run('DELETE FROM vacation_due WHERE n = ?', [n])
    return changes > 0
  }

  /** Deletes senders past the reply interval, in batches. @returns how many */
  async pruneSenders(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.#deps
    const before = clock.now() - REPLY_INTERVAL_MS
    let deleted = 0
    while (!signal.aborted) {
      const rows = db.read.all<{ account: number; sender: string }>(
        'SELECT account, sender FROM vacation_senders WHERE answered_at <= ? ORDER BY answered_at LIMIT ?',
        [before, ROWS_PER_BATCH],
      )
      if (rows.length > 0) await db.write((tx) => deleteSenders(tx, rows, before))
      deleted += rows.length
      if (rows.length < ROWS_PER_BATCH) break
    }
    return deleted
  }

  /** Deletes the next rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): number {
    const senders = tx.run(
      'DELETE FROM vacation_senders WHERE account = ? AND sender IN (SELECT sender FROM vacation_senders WHERE account = ? LIMIT ?)',
      [n, n, limit],
    )
    const due = tx.run('DELETE FROM vacation_due WHERE n IN (SELECT n FROM vacation_due WHERE account = ? LIMIT ?)', [
      n,
      limit,
    ])
    const response = tx.run('DELETE FROM vacation_responses WHERE account = ?', [n])
    return senders.changes + due.changes + response.changes
  }

  /** The identity that replies: an address of the owner in To or Cc. Null if the owner is not named there, or is the sender (RFC 5230 §4.5). */
  #replyIdentity(
    tx: Tx,
    account: Account,
    message: IncomingMessage,
    target: DeliveryTarget,
    more: readonly string[] = [],
  ): Identity | null {
    const identities = this.#deps.identities.list(account, tx)
    const own = new Set([target.email, ...identities.map(({ email }) => email), ...more].map(untagged))
    const rcptTo = target.rcptTo.toLowerCase()
    // Any other recipient address is an alias of the mailbox.
    if (!ROLE_LOCAL_PARTS.includes(rcptTo.slice(0, Math.max(rcptTo.lastIndexOf('@'), 0)))) own.add(untagged(rcptTo))
    if (senderKeys(message.mailFrom, message.inspection).some((key) => own.has(untagged(key)))) return null
    const named = namedIn(message.inspection)
    if (!named.some((email) => own.has(untagged(email)))) return null
    const addressed = named.find((email) => own.has(untagged(email)))!
    return identityFor(identities, identities.find(({ email }) => named.includes(email))?.email ?? addressed)
  }

  /** Whether the sender gets their first reply within the time of the script or of the setting; stores that they do. */
  #isFirst(
    tx: Tx,
    account: Account,
    { message, at }: Pick<StoredCopy, 'message'> & { at: number },
    vacation: ScriptVacation | undefined,
  ): boolean {
    if (vacation === undefined) return this.#recordSender(tx, account, { message, at })
    const { scriptIds } = this.#deps
    const senders = senderKeys(message.mailFrom, message.inspection)
    const ids = vacationIds(vacation, senders)
    if (ids.some(({ id }) => scriptIds.has(tx, account, id, at))) return false
    // A text with variables is another reply to each message.
    const slots = replySlots(senders)
    const slot = slots.find((ids) => !ids.some(({ id }) => scriptIds.has(tx, account, id, at)))
    if (slot === undefined || !this.#hasRoom(tx, account)) return false
    this.#noteSender(tx, account, senders, at)
    scriptIds.record(tx, account, [...ids, ...slot], at)
    return true
  }

  /** Stores that the sender gets a reply. @returns false if they had one within the interval, or too many senders are stored */
  #recordSender(tx: Tx, account: Account, { message, at: now }: Pick<StoredCopy, 'message'> & { at: number }): boolean {
    const keys = senderKeys(message.mailFrom, message.inspection)
    const list = placeholders(keys)
    const recent = tx.get(
      `SELECT 1 AS known FROM vacation_senders WHERE account = ? AND sender IN (${list}) AND answered_at > ?`,
      [account.n, ...keys, now - REPLY_INTERVAL_MS],
    )
    if (recent !== undefined || !this.#hasRoom(tx, account)) return false
    this.#noteSender(tx, account, keys, now)
    return true
  }

  #hasRoom(tx: Tx, account: Account): boolean {
    const row = tx.get<{ count: number }>(
      'SELECT count(*) AS count FROM (SELECT 1 FROM vacation_senders WHERE account = ? LIMIT ?)',
      [account.n, SENDERS_MAX],
    )
    return row!.count < SENDERS_MAX
  }

  #noteSender(tx: Tx, account: Account, keys: readonly string[], now: number): void {
    for (const key of keys) {
      tx.run(
        `INSERT INTO vacation_senders (account, sender, answered_at) VALUES (?, ?, ?)
         ON CONFLICT (account, sender) DO UPDATE SET answered_at = excluded.answered_at`,
        [account.n, key, now],
      )
    }
  }
}

/** The reply that the script of a target asks for, once it is decided which of its outcomes holds. */
function vacationOf({ scriptOutcome }: DeliveryTarget, delivered: DeliveryResult): ScriptVacation | undefined {
  return delivered.vacation ?? (scriptOutcome?.question === undefined ? scriptOutcome?.vacation : undefined)
}

/** Whether the response applies to a message received at that time (ms). */
export function isActiveAt({ isEnabled, fromDate, toDate }: VacationResponse, at: number): boolean {
  return isEnabled && (fromDate === null || at >= fromDate) && (toDate === null || at < toDate)
}

function deleteSenders(tx: Tx, rows: readonly { account: number; sender: string }[], before: number): void {
  for (const { account, sender } of rows) {
    // It may have got another reply in the meantime.
    tx.run('DELETE FROM vacation_senders WHERE account = ? AND sender = ? AND answered_at <= ?', [
      ...[account, sender],
      before,
    ])
  }
}
