// What a mailbox sent, counted by the hour: a day of it is 24 numbers, however much it was.

import type { Clock } from '../base/clock.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { Account } from './records.ts'

const HOUR_MS = 3_600_000
const HOURS_PER_DAY = 24

/** Mails and their recipients. */
export interface SentCount {
  mails: number
  recipients: number
}

export class SentHours {
  readonly #db: Db
  readonly #clock: Clock

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Counts a mail in the unit of work that accepts it, and with the first of an hour forgets those nobody asks for any more. */
  async add(tx: Tx, account: number, recipients: number): Promise<void> {
    const hour = this.#hour
    const row = await tx.get<{ mails: number }>(
      `INSERT INTO sent_hours (account, hour, mails, recipients) VALUES (?, ?, 1, ?)
       ON CONFLICT (account, hour) DO UPDATE SET mails = mails + 1, recipients = recipients + excluded.recipients
       RETURNING mails`,
      [account, hour, recipients],
    )
    if (row!.mails > 1) return
    await tx.run('DELETE FROM sent_hours WHERE account = ? AND hour <= ?', [account, hour - HOURS_PER_DAY])
  }

  /** What was sent within a day, this hour included. */
  async inDay(account: Pick<Account, 'n'>, reader: Reader = this.#db.read): Promise<SentCount> {
    const row = await reader.get<SentCount>(
      `SELECT coalesce(sum(mails), 0) AS mails, coalesce(sum(recipients), 0) AS recipients FROM sent_hours
       WHERE account = ? AND hour > ?`,
      [account.n, this.#hour - HOURS_PER_DAY],
    )
    return row!
  }

  /** Forgets all of an account that ends for good. @returns how many hours there were */
  async purgeIn(tx: Tx, account: Pick<Account, 'n'>): Promise<number> {
    const { changes } = await tx.run('DELETE FROM sent_hours WHERE account = ?', [account.n])
    return changes
  }

  get #hour(): number {
    return Math.floor(this.#clock.now() / HOUR_MS)
  }
}
