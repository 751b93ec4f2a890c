// Notifications that scripts ask for (RFC 5435): the queue of due ones, and how many a mailbox and a sender cause within a day.

import { DAY_MS } from '../../base/durations.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import { clean } from '../../mime/one-line.ts'
import type { ScriptNotification } from '../../sieve/script.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Account } from '../rows/records.ts'
import type { StoredCopy } from './vacations.ts'

/** Notifications within 24 hours: of a mailbox, and those that the messages of one domain cause in it. */
export const NOTIFICATIONS_PER_DAY = 100
export const NOTIFICATIONS_PER_SOURCE = 20
/** Characters of the author and of the subject that are kept. */
const AUTHOR_MAX = 320
const SUBJECT_MAX = 200

export const SCRIPT_NOTIFICATIONS = table('script_notifications', {
  n: key(),
  account: integer(),
  /** Domain of the envelope sender, lower-case. */
  source: text(),
  /** Null once it was sent, or is no longer wanted: the row counts for a day. */
  notification: json<ScriptNotification>().orNull(),
  /** Of the message: its first author, and its subject. */
  author: text(),
  subject: text(),
  created_at: time(),
})

/** A notification that is still to be sent. */
export type DueNotification = RecordOf<typeof SCRIPT_NOTIFICATIONS> & { notification: ScriptNotification }

interface Deps {
  accounts: Pick<Accounts, 'byMailbox'>
}

export class ScriptNotifications {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Records the notifications of a copy in the unit of work that stores it, as far as the limits of the day allow.
   * @param at when the message arrived, ms
   * @returns how many were recorded, and how many are above a limit
   */
  enqueue(tx: Tx, copy: StoredCopy, at: number): { recorded: number; refused: number } {
    const notifications = notificationsOf(copy)
    const account = notifications.length === 0 ? undefined : this.#deps.accounts.byMailbox(copy.target.mailboxId, tx)
    if (account === undefined || !mayNotify(copy)) return { recorded: 0, refused: 0 }
    const { mailFrom, inspection } = copy.message
    const source = mailFrom.slice(mailFrom.lastIndexOf('@') + 1).toLowerCase()
    const [author] = inspection.message.from
    let recorded = 0
    for (const notification of notifications) {
      if (!this.#isWithinLimits(tx, account, source, at)) break
      SCRIPT_NOTIFICATIONS.insert(tx, {
        account: account.n,
        source,
        notification,
        author: clean(author?.email ?? '', AUTHOR_MAX),
        subject: clean(inspection.message.subject, SUBJECT_MAX),
        createdAt: at,
      })
      recorded++
    }
    return { recorded, refused: notifications.length - recorded }
  }

  /** Due notifications, oldest first. */
  due(reader: Reader, after: number, limit: number): DueNotification[] {
    const rest = 'WHERE n > ? AND notification IS NOT NULL ORDER BY n LIMIT ?'
    return SCRIPT_NOTIFICATIONS.all(reader, rest, [after, limit]).flatMap(({ notification, ...row }) =>
      notification === null ? [] : [{ ...row, notification }],
    )
  }

  /** @returns false if it was completed before */
  complete(tx: Tx, n: number): boolean {
    const sql = 'UPDATE script_notifications SET notification = NULL WHERE n = ? AND notification IS NOT NULL'
    return tx.run(sql, [n]).changes > 0
  }

  /** The next account with rows; undefined behind the last one. */
  accountAfter(reader: Reader, account: number): number | undefined {
    const sql = 'SELECT account FROM script_notifications WHERE account > ? ORDER BY account LIMIT 1'
    return reader.get<{ account: number }>(sql, [account])?.account
  }

  /** Deletes what no longer counts. @param account its number @param now ms */
  forgetIn(tx: Tx, account: number, now: number): number {
    const sql = 'DELETE FROM script_notifications WHERE account = ? AND created_at <= ? AND notification IS NULL'
    return tx.run(sql, [account, now - DAY_MS]).changes
  }

  /** Deletes the next rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): number {
    const sql =
      'DELETE FROM script_notifications WHERE n IN (SELECT n FROM script_notifications WHERE account = ? LIMIT ?)'
    return tx.run(sql, [n, limit]).changes
  }

  #isWithinLimits(tx: Tx, { n }: Account, source: string, at: number): boolean {
    const { total, same } = tx.get<{ total: number; same: number }>(
      `SELECT count(*) AS total, coalesce(sum(source = ?), 0) AS same FROM script_notifications
       WHERE account = ? AND created_at > ?`,
      [source, n, at - DAY_MS],
    )!
    return total < NOTIFICATIONS_PER_DAY && same < NOTIFICATIONS_PER_SOURCE
  }
}

/** Those of the outcome that holds, once it is decided. */
function notificationsOf({ target: { scriptOutcome }, delivered }: StoredCopy): readonly ScriptNotification[] {
  if (delivered.notifications !== undefined) return delivered.notifications
  return scriptOutcome?.question === undefined ? (scriptOutcome?.notifications ?? []) : []
}

/** RFC 5436 §2.7.1, RFC 3834 §2: nothing automatic causes automatic mail, and neither do spam and forged authors. */
function mayNotify({ message, target, delivered }: StoredCopy): boolean {
  const isFiled = delivered.outcome === 'stored' || delivered.outcome === 'discarded'
  const { dmarc } = target.authentication
  if (!isFiled || target.junk || delivered.junk || (dmarc !== 'pass' && dmarc !== 'none')) return false
  return message.mailFrom !== '' && !message.inspection.traits.autoSubmitted
}
