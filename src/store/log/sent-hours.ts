// Hourly counts of messages sent by a mailbox, for its daily limit.

import type { Clock } from '../../base/clock.ts'
import { HOUR_MS } from '../../base/durations.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { Account } from '../rows/records.ts'

const HOURS_PER_DAY = 24

/** Number of messages, and of their recipients. */
export interface SentCount {
  messages: number
  recipients: number
}

export class SentHours {
  readonly #db: Db
  readonly #clock: Clock

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Counts a message in the unit of work that accepts it. The first one of an hour deletes the counts older than a day. */
  add(tx: Tx, account: number, recipients: number): void {
    const hour = this.#hour
    const row = tx.get<{ mails: number }>(
      `INSERT INTO sent_hours (account, hour, mails, recipients) VALUES (?, ?, 1, ?)
       ON CONFLICT (account, hour) DO UPDATE SET mails = mails + 1, recipients = recipients + excluded.recipients
       RETURNING mails`,
      [account, hour, recipients],
    )
    if (row!.mails > 1) return
    tx.run('DELETE FROM sent_hours WHERE account = ? AND hour <= ?', [account, hour - HOURS_PER_DAY])
  }

  /** Counts of the last 24 hours including the current one. */
  lastDay(account: Pick<Account, 'n'>, reader: Reader = this.#db.read): SentCount {
    const row = reader.get<SentCount>(
      `SELECT coalesce(sum(mails), 0) AS messages, coalesce(sum(recipients), 0) AS recipients FROM sent_hours
       WHERE account = ? AND hour > ?`,
      [account.n, this.#hour - HOURS_PER_DAY],
    )
    return row!
  }

  /** Recipients of the current hour. */
  recipientsOfHour(account: Pick<Account, 'n'>, reader: Reader): number {
    const sql = 'SELECT recipients FROM sent_hours WHERE account = ? AND hour = ?'
    return reader.get<{ recipients: number }>(sql, [account.n, this.#hour])?.recipients ?? 0
  }

  /** Deletes the counts of a deleted account. @returns how many rows. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    const { changes } = tx.run('DELETE FROM sent_hours WHERE account = ?', [account.n])
    return changes
  }

  get #hour(): number {
    return Math.floor(this.#clock.now() / HOUR_MS)
  }
}
