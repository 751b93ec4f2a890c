// What mail programs read of folders: their status, which UIDs they hold, pages of entries, and what changed or left since a number.

import type { AnyReader, DbReads, Reader, Tx } from '../../db/db.ts'
import { seqOf } from '../rows/accounts-numbers.ts'
import { changedSince } from '../rows/changes.ts'
import { floorOf } from '../rows/changes-history.ts'
import { pathOf } from '../rows/folders.ts'
import { expungedSince, type UidRange } from '../rows/folders-expunged.ts'
import type { Account, FolderRole } from '../rows/records.ts'
import { type OrderCriterion, type ThreadRow, threadRows, uidsInOrder } from './folders-orders.ts'
import { type EntryCondition, type MatchingUids, matchingUids } from './folders-search.ts'
import { ENTRY_FLAGS } from './keywords.ts'
import { threadOf } from './thread-messages.ts'

/** A message in a folder, as listings need it. */
export interface FolderEntry {
  uid: number
  /** Number of the message in the store. */
  message: number
  modSeq: number
  /** Sum of `ENTRY_FLAGS`; `labelled` says that the message has keywords, see {@link MailReads.labels}. */
  flags: number
  /** RFC822.SIZE. */
  sizeBytes: number
  /** INTERNALDATE, ms. */
  receivedAt: number
  /** SAVEDATE, ms; null for entries of early versions. */
  filedAt: number | null
}

/** A folder as SELECT, STATUS and LIST need it. */
export interface FolderStatus {
  n: number
  /** MAILBOXID. */
  id: string
  /** Names from the top level down, joined by "/". */
  path: string
  role: FolderRole | null
  isSubscribed: boolean
  uidValidity: number
  uidNext: number
  /** HIGHESTMODSEQ: at least that of every entry. */
  modSeq: number
  /** Entries from this UID on are \Recent to the next read-write session. */
  recentFrom: number
  messages: number
  unread: number
  hasChildren: boolean
}

/** The UIDs of a folder as runs: `firsts[i]` starts a run, before which there are `counts[i]` UIDs. Immutable. */
export interface FolderView {
  folder: number
  /** Sequence number of the account as of which it was read. */
  seq: number
  modSeq: number
  uidNext: number
  /** How many UIDs. */
  size: number
  firsts: Uint32Array
  counts: Uint32Array
}

/** Sums over the entries of a folder (STATUS SIZE, DELETED, DELETED-STORAGE). */
export interface FolderSums {
  sizeBytes: number
  deleted: number
  deletedBytes: number
}

const ENTRY = `e.uid, e.message, e.mod_seq AS modSeq, e.flags, e.size_bytes AS sizeBytes, e.received_at AS receivedAt,
  e.filed_at AS filedAt`
/** With more changed messages than this a pass over the folder is cheaper than the ledger. */
const LEDGER_MAX = 1000
/** UIDs that are counted in the calling thread. */
const COUNTED_HERE = 1000

interface StatusRow extends Omit<FolderStatus, 'path' | 'isSubscribed' | 'hasChildren'> {
  parent: number | null
  name: string
  subscribed: number
}

export class FolderViews {
  readonly #db: DbReads

  constructor(db: DbReads) {
    this.#db = db
  }

  /** All folders of an account in display order. */
  statuses(account: Account, reader: Reader = this.#db.read): FolderStatus[] {
    const rows = reader.all<StatusRow>(
      `SELECT n, id, parent, name, role, is_subscribed AS subscribed, uid_validity AS uidValidity, uid_next AS uidNext,
         mod_seq AS modSeq, recent_from AS recentFrom, total_messages AS messages, unread_messages AS unread
       FROM folders WHERE account = ? ORDER BY sort_order, name, n`,
      [account.n],
    )
    const byNumber = new Map(rows.map((row) => [row.n, row]))
    const parents = new Set(rows.map(({ parent }) => parent))
    return rows.map(({ parent, name, subscribed, ...row }) => ({
      ...row,
      path: pathOf({ parent, name }, byNumber),
      isSubscribed: subscribed === 1,
      hasChildren: parents.has(row.n),
    }))
  }

  /** @returns undefined when the account has no such folder (any more) */
  status(account: Account, folder: number, reader: Reader = this.#db.read): FolderStatus | undefined {
    return this.statuses(account, reader).find(({ n }) => n === folder)
  }

  /** What changes with every change of a folder. @returns undefined when it does not exist (any more) */
  head(folder: number, reader: Reader = this.#db.read): Pick<FolderStatus, 'modSeq' | 'uidNext'> | undefined {
    return reader.get('SELECT mod_seq AS modSeq, uid_next AS uidNext FROM folders WHERE n = ?', [folder])
  }

  /** A pass over the folder, in the scan thread. */
  async sums(folder: number): Promise<FolderSums> {
    const { deleted } = ENTRY_FLAGS
    const row = await this.#db.scan.get<FolderSums>(
      `SELECT coalesce(sum(size_bytes), 0) AS sizeBytes, coalesce(sum((flags & ${deleted}) <> 0), 0) AS deleted,
         coalesce(sum(CASE WHEN flags & ${deleted} THEN size_bytes END), 0) AS deletedBytes
       FROM message_folders WHERE folder = ?`,
      [folder],
    )
    return row!
  }

  /** How many entries have UIDs from `from` up to the one before `uidNext`: of many, counted in the scan thread. */
  async countFrom(folder: number, from: number, uidNext: number): Promise<number> {
    if (from >= uidNext) return 0
    const reader: AnyReader = uidNext - from <= COUNTED_HERE ? this.#db.read : this.#db.scan
    const row = await reader.get<{ count: number }>(
      'SELECT count(*) AS count FROM message_folders WHERE folder = ? AND uid >= ? AND uid < ?',
      [folder, from, uidNext],
    )
    return row!.count
  }

  /** The lowest UID of an unseen message; null when all are seen. In the scan thread. */
  async firstUnseen(folder: number): Promise<number | null> {
    const row = await this.#db.scan.get<{ uid: number }>(
      `SELECT uid FROM message_folders WHERE folder = ? AND flags & ${ENTRY_FLAGS.seen} = 0 ORDER BY uid LIMIT 1`,
      [folder],
    )
    return row?.uid ?? null
  }

  /**
   * The UIDs of entries marked `\Deleted`, in an order that is cheap to remove: those of messages in other folders, which stay, and then
   * thread by thread those that are erased, because a thread is counted again for each unit of work. In the scan thread.
   * @param uids only these; null for all
   */
  async deletedUids(folder: number, uids: readonly number[] | null): Promise<number[]> {
    const { sql, values } =
      uids === null
        ? { sql: '', values: [] }
        : { sql: 'AND e.uid IN (SELECT value FROM json_each(?))', values: [JSON.stringify(uids)] }
    const { uid } = await this.#db.scan.columns(
      `SELECT e.uid, NOT EXISTS (SELECT 1 FROM message_folders o WHERE o.message = e.message AND o.folder <> e.folder) AS only
       FROM message_folders e WHERE e.folder = ? AND e.flags & ${ENTRY_FLAGS.deleted} ${sql}
       ORDER BY only, CASE WHEN only THEN (${threadOf('e.message')}) END, e.uid`,
      [folder, ...values],
    )
    return Array.from(uid ?? [])
  }

  /**
   * Which UIDs a folder holds, in one statement in the scan thread. All UIDs that are added later are from `uidNext` on: a view is
   * brought up to date by {@link expungedSince} its `modSeq` and a view from its `uidNext`.
   * @param from only UIDs from this one on
   * @returns undefined when the folder does not exist
   */
  async view(folder: number, from = 1): Promise<FolderView | undefined> {
    const { seq, modSeq, uidNext, first, size } = await this.#db.scan.columns(
      `SELECT (${seqOf('f.account')}) AS seq, f.mod_seq AS modSeq, f.uid_next AS uidNext, r.first, r.size FROM folders f
       LEFT JOIN (SELECT min(uid) AS first, count(*) AS size
         FROM (SELECT uid, uid - row_number() OVER (ORDER BY uid) AS gap FROM message_folders WHERE folder = ? AND uid >= ?) GROUP BY gap) r
       WHERE f.n = ? ORDER BY r.first`,
      [folder, from, folder],
    )
    if (seq === undefined) return undefined
    // A folder without UIDs is one row without a run.
    const runs = Number.isNaN(first![0]) ? 0 : first!.length
    const counts = new Uint32Array(runs)
    let total = 0
    for (let run = 0; run < runs; run++) {
      counts[run] = total
      total += size![run]!
    }
    const head = { seq: seq[0]!, modSeq: modSeq![0]!, uidNext: uidNext![0]! }
    return { folder, ...head, size: total, firsts: Uint32Array.from(first!.subarray(0, runs)), counts }
  }

  /**
   * The entries with UIDs in the ranges, ascending, at most `limit` of them.
   * @param ranges ascending, without overlaps: as many as `limit` UIDs need, not those of all pages
   */
  entries(folder: number, ranges: readonly UidRange[], limit: number, reader: Reader = this.#db.read): FolderEntry[] {
    const [range] = ranges
    if (range === undefined) return []
    if (ranges.length === 1) {
      return reader.all<FolderEntry>(
        `SELECT ${ENTRY} FROM message_folders e WHERE e.folder = ? AND e.uid BETWEEN ? AND ? ORDER BY e.uid LIMIT ?`,
        [folder, range.first, range.last, limit],
      )
    }
    // A cross join is done in the order written: range by range.
    return reader.all<FolderEntry>(
      `SELECT ${ENTRY} FROM json_each(?) r CROSS JOIN message_folders e
       WHERE e.folder = ? AND e.uid BETWEEN r.value ->> 0 AND r.value ->> 1 LIMIT ?`,
      [JSON.stringify(ranges.map(({ first, last }) => [first, last])), folder, limit],
    )
  }

  /**
   * The entries of a folder whose modification number is above `modSeq`, by ascending UID: found by the ledger when few messages changed,
   * else by a pass in the scan thread.
   * @param page `after` is the last UID of the previous page, 0 for the first
   */
  async changedSince(
    account: Account,
    folder: number,
    modSeq: number,
    { after, limit }: { after: number; limit: number },
  ): Promise<FolderEntry[]> {
    const { read, scan } = this.#db
    const { sql, values } = changedSince(account.n, 'messages', modSeq, LEDGER_MAX + 1)
    const numbers = read.all<{ n: number }>(sql, values).map(({ n }) => n)
    if (numbers.length <= LEDGER_MAX && floorOf(read, account.n, 'messages') <= modSeq) {
      return read.all<FolderEntry>(
        `SELECT ${ENTRY} FROM message_folders e WHERE e.message IN (SELECT value FROM json_each(?)) AND e.folder = ?
           AND e.uid > ? AND e.mod_seq > ? ORDER BY e.uid LIMIT ?`,
        [JSON.stringify(numbers), folder, after, modSeq, limit],
      )
    }
    return scan.all<FolderEntry>(
      `SELECT ${ENTRY} FROM message_folders e WHERE e.folder = ? AND e.uid > ? AND e.mod_seq > ? ORDER BY e.uid LIMIT ?`,
      [folder, after, modSeq, limit],
    )
  }

  /** See {@link matchingUids}. */
  matchingUids(folder: number, condition: EntryCondition, uids: UidRange): Promise<MatchingUids> {
    return matchingUids(this.#db, folder, condition, uids)
  }

  /** See {@link uidsInOrder}. */
  inOrder(folder: number, criteria: readonly OrderCriterion[]): Uint32Array<ArrayBuffer> | null {
    return uidsInOrder(this.#db.read, folder, criteria)
  }

  /** See {@link threadRows}. */
  threadRows(folder: number, uids: UidRange): Iterable<ThreadRow> {
    return threadRows(this.#db.read, folder, uids)
  }

  /** See {@link expungedSince}: null means that every UID below UIDNEXT that is not in the folder counts as gone. */
  expungedSince(folder: number, modSeq: number, reader: Reader = this.#db.read): UidRange[] | null {
    return expungedSince(reader, folder, modSeq)
  }

  /** Takes \Recent of all present entries for one session. @returns the first UID that was recent */
  takeRecent(tx: Tx, folder: number): number {
    const row = tx.get<{ recent: number; next: number }>(
      'SELECT recent_from AS recent, uid_next AS next FROM folders WHERE n = ?',
      [folder],
    )
    if (row !== undefined && row.recent < row.next) {
      tx.run('UPDATE folders SET recent_from = uid_next WHERE n = ?', [folder])
    }
    return row?.recent ?? 1
  }
}
