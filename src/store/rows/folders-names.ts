// Subscriptions to names without a folder (RFC 9051 §6.3.7): a mail program may subscribe to what does not exist, or no longer.

import type { Notifier } from '../../base/notifier.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { Account } from './records.ts'

/** Names of an account. */
export const SUBSCRIBED_NAMES_MAX = 1000

export class SubscribedNames {
  readonly #db: Db

  readonly #notifier: Pick<Notifier, 'notify'>

  constructor(db: Db, notifier: Pick<Notifier, 'notify'>) {
    this.#db = db
    this.#notifier = notifier
  }

  /** Paths in ascending order. */
  list(account: Account, reader: Reader = this.#db.read): string[] {
    const rows = reader.all<{ path: string }>('SELECT path FROM subscribed_names WHERE account = ? ORDER BY path', [
      account.n,
    ])
    return rows.map(({ path }) => path)
  }

  /** @returns false when the account has too many */
  add(tx: Tx, account: Account, path: string): boolean {
    const { changes } = tx.run(
      `INSERT OR IGNORE INTO subscribed_names (account, path)
       SELECT ?, ? WHERE (SELECT count(*) FROM subscribed_names WHERE account = ?) < ${SUBSCRIBED_NAMES_MAX}`,
      [account.n, path, account.n],
    )
    this.#notifyOf(tx, account, changes)
    return changes > 0 || this.#has(tx, account, path)
  }

  #has(tx: Tx, account: Account, path: string): boolean {
    return tx.get('SELECT 1 FROM subscribed_names WHERE account = ? AND path = ?', [account.n, path]) !== undefined
  }

  /** @returns whether there was one */
  remove(tx: Tx, account: Account, path: string): boolean {
    const sql = 'DELETE FROM subscribed_names WHERE account = ? AND path = ?'
    const { changes } = tx.run(sql, [account.n, path])
    this.#notifyOf(tx, account, changes)
    return changes > 0
  }

  /** No state of the account changes, but sessions may have asked for it. */
  #notifyOf(tx: Tx, account: Account, changes: number): void {
    if (changes > 0) tx.afterCommit(() => this.#notifier.notify('accounts', account.n))
  }

  /** See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    return tx.run('DELETE FROM subscribed_names WHERE account = ?', [account.n]).changes
  }
}
