// Snoozed threads: they wait in a folder of their own, and return unread at their time or when a message joins them (docs/design/webmail.md §7).

import type { Clock } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import type { Db, Reader, Steps, Tx } from '../../db/db.ts'
import {
  countSnoozes,
  endedSnoozes,
  joinedSnoozes,
  putSnooze,
  removeSnooze,
  type Snooze,
  snoozeOf,
} from '../entries/snooze-rows.ts'
import { countMessagesOf, messageIdsOf } from '../entries/thread-messages.ts'
import { threadIdsOf, threadRow } from '../entries/thread-rows.ts'
import type { MessageEdits } from '../messages/edits.ts'
import type { UndoEdit } from '../messages/undo-edits.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { ChangeLedger } from '../rows/changes.ts'
import type { FolderKey, Folders } from '../rows/folders.ts'
import type { Account } from '../rows/records.ts'
import type { ThreadEdits } from '../threads/edits.ts'
import type { FolderEdits } from './folders-edits.ts'

/** Name of the folder in which threads wait; mail programs show it like any other. */
export const SNOOZED_FOLDER = 'Snoozed'
/** Threads that wait in one mailbox. */
export const SNOOZES_MAX = 1000
const SEEN = '$seen'
const ENDED_AT_ONCE = 100
/** Messages moved before other code of this thread runs. */
const STEP_MESSAGES = 500

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  folderEdits: FolderEdits
  changes: ChangeLedger
  edits: MessageEdits
  threads: ThreadEdits
}

export class Snoozes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Moves the messages of a thread that are in one folder aside until a time; they stay in their other folders. A thread that waits already
   * gets the new time, and what came to the Inbox since then waits with it.
   * @param fromId of the folder that they leave; null: the Inbox, the Archive or the first of the own folders that has some
   * @returns how to undo the move; empty when only the time changed
   * @throws ProductError not_found, conflict (nothing of it is in the folder, or too many threads wait) @throws ThreadEditRefused
   */
  async snooze(account: Account, id: string, { until, fromId }: { until: number; fromId: string | null }) {
    const { db, threads } = this.#deps
    const thread = threadRow(db.read, account.n, id)
    if (thread === undefined) throw notFound('thread')
    const earlier = this.#waiting(db.read, account, thread)
    const held = earlier?.held ?? (await this.#folder(account))
    const from = this.#folderOf(account, thread, fromId, { held, waits: earlier !== undefined })
    const undo: UndoEdit[] = []
    const folders = from === null ? {} : { remove: [from.id], add: [held.id] }
    await threads.change(account, id, { inFolder: from?.n ?? held.n, folders, undo }, (tx) => {
      const waiting = this.#waiting(tx, account, thread)
      // What came to the Inbox since then returns there, and the rest of the thread with it.
      const backTo = from?.id ?? waiting?.snooze.backTo
      if (backTo === undefined) throw conflict('No message of the thread is in a folder that it can leave.')
      if (waiting === undefined && countSnoozes(tx, account.n) >= SNOOZES_MAX)
        throw conflict(`A mailbox has at most ${SNOOZES_MAX} snoozed threads.`)
      const createdAt = this.#deps.clock.now()
      putSnooze(tx, { thread: thread.n, account: account.n, heldIn: held.id, backTo, until, createdAt })
      this.#record(tx, account, thread.n, id)
    })
    return undo
  }

  /** Returns a thread to its folder at once, unread or not as it is. @throws ProductError not_found */
  async end(account: Account, id: string): Promise<void> {
    const thread = threadRow(this.#deps.db.read, account.n, id)
    const snooze = thread && snoozeOf(this.#deps.db.read, thread.n)
    if (snooze === undefined) throw notFound('thread')
    await this.#return(account, snooze, id, false)
  }

  /** Returns threads whose time has come, and those that a message of others has joined. @returns how many */
  async endDue(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.#deps
    let ended = 0
    for (;;) {
      const due = endedSnoozes(db.read, clock.now(), ENDED_AT_ONCE)
      ended += await this.#returnAll(due, signal)
      if (signal.aborted || due.length < ENDED_AT_ONCE) break
    }
    for (let after = 0; !signal.aborted; ) {
      const page = joinedSnoozes(db.read, after, ENDED_AT_ONCE)
      ended += await this.#returnAll(page, signal)
      if (page.length < ENDED_AT_ONCE) break
      after = page.at(-1)!.thread
    }
    return ended
  }

  async #returnAll(snoozes: readonly Snooze[], signal: AbortSignal): Promise<number> {
    const { db, accounts } = this.#deps
    const ids = threadIdsOf(
      db.read,
      snoozes.map(({ thread }) => thread),
    )
    for (const snooze of snoozes) {
      if (signal.aborted) break
      const id = ids.get(snooze.thread)
      const account = accounts.byNumber(snooze.account)
      const isGone = id === undefined || account === undefined || threadRow(db.read, account.n, id) === undefined
      if (isGone) await db.writeFreeing((tx) => removeSnooze(tx, snooze.thread))
      else await this.#return(account, snooze, id, true)
    }
    return snoozes.length
  }

  /** Moves what still waits back. Messages that were moved elsewhere stay there. */
  #return(account: Account, snooze: Snooze, id: string, asUnread: boolean): Promise<void> {
    // As for any other move: it must be possible on a full disk.
    return this.#deps.db.writeInSteps((tx) => this.#moveBack(tx, account, { snooze, id, asUnread }), {
      mayUseReserve: true,
    })
  }

  /** However many they are: a thread that failed would keep all others waiting. */
  *#moveBack(
    tx: Tx,
    account: Account,
    { snooze, id, asUnread }: { snooze: Snooze; id: string; asUnread: boolean },
  ): Steps<void> {
    const { thread, heldIn, backTo, until, createdAt } = snooze
    const current = snoozeOf(tx, thread)
    // It may have returned, or have a new time, since its row was read.
    if (current?.until !== until || current.createdAt !== createdAt) return
    removeSnooze(tx, thread)
    const keys = this.#deps.folders.keys(account, tx)
    const held = keys.find((key) => key.id === heldIn)
    if (held === undefined) return
    const back = keys.find((key) => key.id === backTo) ?? keys.find(({ role }) => role === 'inbox')!
    this.#record(tx, account, thread, id)
    const { edits } = this.#deps
    const ids = messageIdsOf(tx, thread, isListed(tx, account, id), held.n)
    const folders = { remove: [held.id], add: [back.id] }
    for (let at = 0; at < ids.length; at += STEP_MESSAGES) {
      edits.changeIn(tx, account, ids.slice(at, at + STEP_MESSAGES), { folders })
      yield
    }
    const last = ids.at(-1)
    if (asUnread && last !== undefined) edits.changeIn(tx, account, [last], { keywords: { remove: [SEEN] } })
  }

  /** The snooze of a thread of which messages still wait, and their folder; undefined also where all of them were moved elsewhere. */
  #waiting(
    reader: Reader,
    account: Account,
    thread: { n: number; listed: number },
  ): { snooze: Snooze; held: FolderKey } | undefined {
    const snooze = snoozeOf(reader, thread.n)
    const held = snooze && this.#deps.folders.keys(account, reader).find(({ id }) => id === snooze.heldIn)
    if (snooze === undefined || held === undefined) return undefined
    return countMessagesOf(reader, thread.n, thread.listed === 1, held.n) > 0 ? { snooze, held } : undefined
  }

  /** The folder that a snoozed thread leaves; null when none of its messages is in one that it can leave. */
  #folderOf(
    account: Account,
    thread: { n: number; listed: number },
    fromId: string | null,
    { held, waits }: { held: FolderKey; waits: boolean },
  ) {
    const keys = this.#deps.folders.keys(account)
    const byRole = (role: string) => keys.filter((key) => key.role === role)
    const own = keys.filter(({ role, id }) => role === null && id !== held.id)
    const ordered = waits ? byRole('inbox') : [...byRole('inbox'), ...byRole('archive'), ...own]
    const candidates = fromId === null ? ordered : (waits ? ordered : keys).filter(({ id }) => id === fromId)
    const has = ({ n }: FolderKey) => countMessagesOf(this.#deps.db.read, thread.n, thread.listed === 1, n) > 0
    return candidates.find((key) => key.id !== held.id && has(key)) ?? null
  }

  /** Makes the folder with the first thread that waits. */
  async #folder(account: Account): Promise<FolderKey> {
    const find = (reader?: Reader): FolderKey | undefined =>
      this.#deps.folders.paths(account, reader).find(({ path, role }) => path === SNOOZED_FOLDER && role === null)
    const existing = find()
    if (existing !== undefined) return existing
    return this.#deps.db.write((tx) => {
      if (find(tx) === undefined) this.#deps.folderEdits.createIn(tx, account, { name: SNOOZED_FOLDER, parentId: null })
      return find(tx)!
    })
  }

  #record(tx: Tx, account: Account, thread: number, id: string): void {
    const { accounts, changes, clock } = this.#deps
    const seq = accounts.advance(tx, account.n, ['threads'], { bytes: 0, messages: 0 })
    changes.record(tx, account.n, seq, [{ type: 'threads', n: thread, object: id, kind: 'updated' }], clock.now())
  }
}

const isListed = (reader: Reader, account: Account, id: string) => threadRow(reader, account.n, id)?.listed === 1
