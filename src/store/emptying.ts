// Empties Trash and Junk of mail that has lain there long enough (decisions §10.6).

import type { Db } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import { HIDDEN_ROLES } from './folders.ts'
import { filedBefore, foldersFiledBefore, redateFiled } from './folders-filing.ts'
import { idsOf } from './messages/edit-rows.ts'
import type { MessageEdits } from './messages/edits.ts'

/** Folders looked up at a time, and messages taken out of one in one unit of work. */
const FOLDERS_AT_ONCE = 100
const PIECE = 100

interface Deps {
  db: Db
  accounts: Accounts
  edits: MessageEdits
}

type Old = Awaited<ReturnType<typeof foldersFiledBefore>>[number]

export class TrashRetention {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Takes out what was put there before a time, in pieces. What counts is when it was put there, not when it came in: whoever throws
   * old mail away has as long as anybody to take it back. What lies in a folder of another kind as well stays there.
   * @param before ms
   * @returns how many messages were taken out
   */
  async run(before: number, signal: AbortSignal): Promise<number> {
    let taken = 0
    for (let after = 0; !signal.aborted; ) {
      const page = { after, limit: FOLDERS_AT_ONCE }
      const folders = await foldersFiledBefore(this.#deps.db.scan, HIDDEN_ROLES, before, page)
      for (const folder of folders) taken += await this.#empty(folder, before, signal)
      if (folders.length < FOLDERS_AT_ONCE) break
      after = folders.at(-1)!.n
    }
    return taken
  }

  async #empty(folder: Old, before: number, signal: AbortSignal): Promise<number> {
    let taken = 0
    for (let after = 0; !signal.aborted; ) {
      const rows = await this.#piece(folder, before, after)
      taken += rows.length
      if (rows.length < PIECE) break
      after = rows.at(-1)!.uid
    }
    return taken
  }

  /** What was thrown away by a wrong clock is not taken for old, nor kept for years. @param limits ms */
  async redate(limits: { now: number; earliest: number; slackMs: number }): Promise<void> {
    await this.#deps.db.write((tx) => redateFiled(tx, HIDDEN_ROLES, limits))
  }

  /** The next piece behind a UID. */
  #piece({ n, id, account }: Old, before: number, after: number) {
    const { db, accounts, edits } = this.#deps
    return db.write(async (tx) => {
      const owner = await accounts.byNumber(account, tx)
      const rows = await filedBefore(tx, n, before, { after, limit: PIECE })
      if (owner === undefined || rows.length === 0) return []
      const ids = await idsOf(
        tx,
        rows.map(({ message }) => message),
      )
      await edits.leaveFolder(tx, owner, id, ids, false)
      return rows
    })
  }
}
