// Deletes the remaining data of deleted mailboxes from the store, in batches.

import type { Db, Tx } from '../../db/db.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Account } from '../rows/records.ts'

/**
 * Deletes the next rows of one kind of a deleted account. Counts and the change ledger are not updated: no client can read them any more.
 * @returns how many, at most `limit`; 0 when none are left
 */
export type PurgeStep = (tx: Tx, account: Pick<Account, 'n' | 'mailboxId'>, limit: number) => number

/** Rows deleted in one unit of work; a message is deleted with its attachments, keywords and search text. */
const ROWS_PER_BATCH = 100

export class Purge {
  readonly #deps: { db: Db; accounts: Accounts; steps: readonly PurgeStep[] }

  /** @param deps `steps` cover all tables with rows of an account; dependent rows come before the rows they depend on */
  constructor(deps: { db: Db; accounts: Accounts; steps: readonly PurgeStep[] }) {
    this.#deps = deps
  }

  /**
   * Deletes one batch in one unit of work; the purge can be interrupted after each. Content is deleted by the next sweep of
   * unreferenced blobs.
   * @returns how many rows were deleted; 0 when nothing is left
   */
  async next(mailboxId: string): Promise<number> {
    const { db, accounts, steps } = this.#deps
    return db.writeFreeing((tx) => {
      const account = accounts.byMailbox(mailboxId, tx)
      // The inbox of an agent whose setup was never completed.
      if (account === undefined) return 0
      for (const step of steps) {
        const deleted = step(tx, account, ROWS_PER_BATCH)
        if (deleted > 0) return deleted
      }
      return 0
    })
  }
}
