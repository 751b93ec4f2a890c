// Ids of messages that scripts have seen (RFC 7352), by mailbox, for as long as the script says.

import type { Reader, Tx } from '../../db/db.ts'
import type { Account } from '../rows/records.ts'

/** Ids that one mailbox remembers; the ones that expire first make room. */
export const IDS_MAX = 20_000

export class ScriptIds {
  /** @param id in hexadecimal @param now ms */
  has(reader: Reader, { n }: Pick<Account, 'n'>, id: string, now: number): boolean {
    const sql = 'SELECT 1 AS found FROM script_ids WHERE account = ? AND id = ? AND expires_at > ?'
    return reader.get(sql, [n, Buffer.from(id, 'hex'), now]) !== undefined
  }

  /** Remembers ids in the unit of work that stores the message, and forgets what has expired. @param now ms */
  record(tx: Tx, { n }: Pick<Account, 'n'>, ids: readonly { id: string; seconds: number }[], now: number): void {
    this.forgetIn(tx, n, now)
    for (const { id, seconds } of ids) {
      tx.run(
        `INSERT INTO script_ids (account, id, expires_at) VALUES (?, ?, ?)
         ON CONFLICT (account, id) DO UPDATE SET expires_at = excluded.expires_at`,
        [n, Buffer.from(id, 'hex'), now + seconds * 1000],
      )
    }
    tx.run(
      `DELETE FROM script_ids WHERE account = ? AND id IN
         (SELECT id FROM script_ids WHERE account = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)`,
      [n, n, IDS_MAX],
    )
  }

  /** The next account with rows; undefined behind the last one. */
  accountAfter(reader: Reader, account: number): number | undefined {
    return reader.get<{ account: number }>(
      'SELECT account FROM script_ids WHERE account > ? ORDER BY account LIMIT 1',
      [account],
    )?.account
  }

  /** Deletes what has expired, also where no script asks any more. @param account its number @param now ms */
  forgetIn(tx: Tx, account: number, now: number): number {
    return tx.run('DELETE FROM script_ids WHERE account = ? AND expires_at <= ?', [account, now]).changes
  }

  /** Deletes the next rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): number {
    const sql =
      'DELETE FROM script_ids WHERE account = ? AND id IN (SELECT id FROM script_ids WHERE account = ? LIMIT ?)'
    return tx.run(sql, [n, n, limit]).changes
  }
}
