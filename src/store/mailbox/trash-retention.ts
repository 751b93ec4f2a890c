// Retention of Trash and Junk: deletes messages that were filed there long enough ago (docs/design/mailbox.md §6).

import type { Db } from '../../db/db.ts'
import { entriesFiledBefore, type FilingLimits, foldersFiledBefore, resetFiledAt } from '../entries/folders-entries.ts'
import { idsOf } from '../messages/edit-rows.ts'
import type { MessageEdits } from '../messages/edits.ts'
import type { Accounts } from '../rows/accounts.ts'
import { HIDDEN_ROLES } from '../rows/folders.ts'
import type { Account } from '../rows/records.ts'

/** Folders read per query, and messages removed in one unit of work. */
const FOLDERS_PER_PAGE = 100
const MESSAGES_PER_BATCH = 100

interface Deps {
  db: Db
  accounts: Accounts
  edits: MessageEdits
}

type ExpiredFolder = Awaited<ReturnType<typeof foldersFiledBefore>>[number]

export class TrashRetention {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Removes messages filed there before a time, in batches. The filing time counts, not the time of receipt, so that old messages can
   * be restored for as long as new ones. A message that is also in another folder stays there.
   * @param before ms
   * @param isKept accounts whose Trash and Junk are emptied elsewhere
   * @returns how many messages were removed
   */
  async run(before: number, signal: AbortSignal, isKept: (account: Account) => boolean = () => false): Promise<number> {
    let removed = 0
    for (let after = 0; !signal.aborted; ) {
      const page = { after, limit: FOLDERS_PER_PAGE }
      const folders = await foldersFiledBefore(this.#deps.db.scan, HIDDEN_ROLES, before, page)
      for (const folder of folders) {
        const owner = this.#deps.accounts.byNumber(folder.account)
        if (owner !== undefined && !isKept(owner)) removed += await this.#empty(folder, before, signal)
      }
      if (folders.length < FOLDERS_PER_PAGE) break
      after = folders.at(-1)!.n
    }
    return removed
  }

  async #empty(folder: ExpiredFolder, before: number, signal: AbortSignal): Promise<number> {
    let removed = 0
    for (let after = 0; !signal.aborted; ) {
      const rows = await this.#removeBatch(folder, before, after)
      removed += rows.length
      if (rows.length < MESSAGES_PER_BATCH) break
      after = rows.at(-1)!.uid
    }
    return removed
  }

  /** Corrects filing times written while the clock was wrong, so that messages are not deleted too early or too late. @param limits ms */
  async resetFiledAt(limits: FilingLimits): Promise<void> {
    await this.#deps.db.write((tx) => resetFiledAt(tx, HIDDEN_ROLES, limits))
  }

  /** Removes the next batch after a UID. */
  #removeBatch({ n, id, account }: ExpiredFolder, before: number, after: number) {
    const { db, accounts, edits } = this.#deps
    return db.writeFreeing((tx) => {
      const owner = accounts.byNumber(account, tx)
      const rows = entriesFiledBefore(tx, n, before, { after, limit: MESSAGES_PER_BATCH })
      if (owner === undefined || rows.length === 0) return []
      const ids = idsOf(
        tx,
        rows.map(({ message }) => message),
      )
      edits.removeFromFolder(tx, owner, id, ids, false)
      return rows
    })
  }
}
