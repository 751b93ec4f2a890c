// Erases everything a mailbox that ended for good still has in the store, one piece after another.

import type { Db, Tx } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import type { Account } from './records.ts'

/**
 * Erases the next few rows a part of the store keeps of an account: whatever its clients knew of them is of no use any more, so that
 * nothing is counted and told.
 * @returns how many of `limit` at most; 0 when none are left
 */
export type PurgePart = (tx: Tx, account: Pick<Account, 'n'>, limit: number) => Promise<number>

/** Rows of a part that go in one unit of work; a message takes its files, keywords and search text with it. */
const PIECE = 100

export class Purge {
  readonly #deps: { db: Db; accounts: Accounts; steps: readonly PurgePart[] }

  /** @param deps `steps`: every part of the store that keeps something of an account, whatever hangs on other things before these */
  constructor(deps: { db: Db; accounts: Accounts; steps: readonly PurgePart[] }) {
    this.#deps = deps
  }

  /**
   * One piece as one unit of work. Who stops in between goes on with the next piece; contents go with the next clean-up of what
   * nothing names.
   * @returns how many rows went; 0 when nothing is left
   */
  async next(mailboxId: string): Promise<number> {
    const { db, accounts, steps } = this.#deps
    return db.write(async (tx) => {
      const account = await accounts.byMailbox(mailboxId, tx)
      // The inbox of an agent that was never set up.
      if (account === undefined) return 0
      for (const part of steps) {
        const erased = await part(tx, account, PIECE)
        if (erased > 0) return erased
      }
      return 0
    })
  }
}
