// Subscriptions to names without a folder (RFC 9051 §6.3.7): a mail program may subscribe to what does not exist, or no longer.

import type { Db, Reader, Tx } from '../db/db.ts'
import type { Account } from './records.ts'

export class SubscribedNames {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Paths in ascending order. */
  list(account: Account, reader: Reader = this.#db.read): string[] {
    const rows = reader.all<{ path: string }>('SELECT path FROM subscribed_names WHERE account = ? ORDER BY path', [
      account.n,
    ])
    return rows.map(({ path }) => path)
  }

  add(tx: Tx, account: Account, path: string): void {
    tx.run('INSERT OR IGNORE INTO subscribed_names (account, path) VALUES (?, ?)', [account.n, path])
  }

  remove(tx: Tx, account: Account, path: string): void {
    tx.run('DELETE FROM subscribed_names WHERE account = ? AND path = ?', [account.n, path])
  }

  /** See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    return tx.run('DELETE FROM subscribed_names WHERE account = ?', [account.n]).changes
  }
}
