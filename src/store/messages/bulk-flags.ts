// Sets or clears flags and keywords of many messages of a folder in one unit of work, with statements over sets. The rows it leaves are
// those that `edits.ts` leaves for the same change of keywords.

import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { markDeleted, touchEntries } from '../entries/folders-entries.ts'
import type { FolderEntry, FolderViews } from '../entries/folders-views.ts'
import {
  applySetChange,
  ENTRY_FLAGS,
  FLAG_KEYWORDS,
  isSameSet,
  isTooMany,
  type SetChange,
  withoutOpposite,
} from '../entries/keywords.ts'
import { addUnreadOfThreads, threadsOf } from '../entries/thread-rows.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Change, ChangeLedger } from '../rows/changes.ts'
import { addUnread } from '../rows/folder-counts.ts'
import type { FolderKey } from '../rows/folders.ts'
import { rangesOf } from '../rows/folders-expunged.ts'
import type { Account, ChangeType } from '../rows/records.ts'
import { type EditedMessage, type EditRow, editRowsByNumber, writeEdits } from './edit-rows.ts'
import { type LabelSource, labelingBy, noteLabels } from './spam-labels.ts'

/** More are refused: the caller works in pieces, each a unit of work. */
export const FLAGGED_MAX = 500

/** Messages of a folder by UID. */
export interface FlagTarget {
  /** Number of a folder of the account. */
  folder: number
  /** Distinct, at most {@link FLAGGED_MAX}. */
  uids: readonly number[]
  /** Leaves entries alone that were changed after this modification number (RFC 7162 §3.1.3). */
  unchangedSince?: number
}

export interface FlagChange {
  /** Those of the messages, lower-case, `$seen` and the like included; they are shared by all folders of a message. */
  keywords?: SetChange
  /** `\Deleted` of the entries, which is of this folder alone. */
  deleted?: boolean
  /** See `MessageChange.teaches`. */
  teaches?: LabelSource
}

export interface FlagResult {
  /** Sequence number of the unit of work; null when nothing changed. */
  modSeq: number | null
  /** The entries after the change in order of UID, also those that were so already. */
  entries: FolderEntry[]
  /** UIDs left alone because of `unchangedSince`. */
  modified: number[]
  /** UIDs that are not in the folder. */
  missing: number[]
  /** UIDs left alone because their message would have too many keywords. */
  refused: number[]
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
  views: FolderViews
}

/** What the change does to the messages of a folder. */
interface Plan {
  edits: EditedMessage[]
  /** Entries whose `\Deleted` changes, with the rows of their messages. */
  marked: { uid: number; row: EditRow }[]
  /** UIDs. */
  refused: number[]
}

export class FlagEdits {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** One unit of work. @throws RangeError for more UIDs than {@link FLAGGED_MAX} */
  change(account: Account, target: FlagTarget, change: FlagChange): Promise<FlagResult> {
    return this.#deps.db.writeFreeing((tx) => this.changeIn(tx, account, target, change))
  }

  /** {@link change} inside a unit of work of the caller. */
  changeIn(tx: Tx, account: Account, target: FlagTarget, change: FlagChange): FlagResult {
    const { folder, uids, unchangedSince = Number.POSITIVE_INFINITY } = target
    if (uids.length > FLAGGED_MAX) throw new RangeError(`At most ${FLAGGED_MAX} messages at a time.`)
    const ranges = rangesOf(uids)
    const read = () => this.#deps.views.entries(folder, ranges, FLAGGED_MAX, tx)
    const before = read()
    const rows = editRowsByNumber(
      tx,
      account,
      before.map(({ message }) => message),
    )
    // Entries of another account are none of this one.
    const found = before.filter(({ message }) => rows.has(message))
    const known = new Set(found.map(({ uid }) => uid))
    const isModified = ({ modSeq }: FolderEntry) => modSeq > unchangedSince
    const plan = planOf(
      found.filter((entry) => !isModified(entry)),
      rows,
      change,
    )
    const modSeq = this.#apply(tx, account, folder, plan, change.deleted === true)
    if (change.teaches !== undefined) this.#teach(tx, account, plan.edits, change.teaches)
    const modified = found.filter(isModified).map(({ uid }) => uid)
    const untouched = new Set([...modified, ...plan.refused])
    return {
      modSeq,
      entries: (modSeq === null ? found : read()).filter(({ uid }) => known.has(uid) && !untouched.has(uid)),
      modified,
      missing: uids.filter((uid) => !known.has(uid)),
      refused: plan.refused,
    }
  }

  /** The folders stay as they are. */
  #teach(tx: Tx, account: Account, edits: readonly EditedMessage[], source: LabelSource): void {
    const labelings = edits.flatMap(({ row, keywords }) => {
      const folders: FolderKey[] = []
      return labelingBy(row.n, { keywords: row.keywords, folders }, { keywords, folders }) ?? []
    })
    noteLabels(tx, account.n, labelings, { source, now: this.#deps.clock.now() })
  }

  /** @returns the sequence number; null when nothing changed */
  #apply(tx: Tx, account: Account, folder: number, { edits, marked }: Plan, deleted: boolean): number | null {
    const { accounts, changes, clock } = this.#deps
    const touched = new Map([...edits, ...marked].map(({ row }) => [row.n, row.id]))
    if (touched.size === 0) return null
    writeEdits(tx, account, edits)
    const recorded = [...touched].map(([n, object]): Change => ({ type: 'messages', n, object, kind: 'updated' }))
    recorded.push(...recount(tx, edits))
    const types = new Set<ChangeType>(recorded.map(({ type }) => type))
    const seq = accounts.advance(tx, account.n, [...types], { bytes: 0, messages: 0 })
    changes.record(tx, account.n, seq, recorded, clock.now())
    const uids = marked.map(({ uid }) => uid)
    if (uids.length > 0) markDeleted(tx, folder, uids, { deleted, modSeq: seq })
    touchEntries(tx, seq, { messages: edits.map(({ row }) => row.n), removed: [] })
    return seq
  }
}

function planOf(entries: readonly FolderEntry[], rows: ReadonlyMap<number, EditRow>, change: FlagChange): Plan {
  const plan: Plan = { edits: [], marked: [], refused: [] }
  for (const { uid, message, flags } of entries) {
    const row = rows.get(message)!
    const wanted = applySetChange(row.keywords, change.keywords)
    if (isTooMany(row.keywords, wanted)) {
      plan.refused.push(uid)
      continue
    }
    const keywords = withoutOpposite(row.keywords, wanted)
    if (!isSameSet(keywords, row.keywords)) plan.edits.push({ row, keywords, listed: row.listed })
    const isDeleted = (flags & ENTRY_FLAGS.deleted) !== 0
    if (change.deleted !== undefined && change.deleted !== isDeleted) plan.marked.push({ uid, row })
  }
  return plan
}

/** Updates the unread counts of threads and folders. @returns the changes of both for the ledger */
function recount(tx: Tx, edits: readonly EditedMessage[]): Change[] {
  const threads = threadsOf(tx, [...new Set(edits.map(({ row }) => row.thread))])
  const unread = edits.flatMap(({ row, keywords }) => {
    const [before, after] = [row.keywords, keywords].map((list) => list.includes(FLAG_KEYWORDS.seen))
    return before === after ? [] : [{ message: row.n, thread: row.thread, listed: row.listed, delta: before ? 1 : -1 }]
  })
  const byThread = new Map<number, number>()
  for (const { thread, listed, delta } of unread) {
    // Counts cover the messages outside Trash and Junk, or all messages if there are none outside (docs/design/mailbox.md §5).
    if (threads.get(thread)?.listed === listed) byThread.set(thread, (byThread.get(thread) ?? 0) + delta)
  }
  addUnreadOfThreads(tx, byThread)
  return [
    ...[...threads].map(([n, { id }]): Change => ({ type: 'threads', n, object: id, kind: 'updated' })),
    ...addUnread(tx, unread).map(
      ({ n, id }): Change => ({ type: 'folders', n, object: id, kind: 'updated', countsOnly: true }),
    ),
  ]
}
