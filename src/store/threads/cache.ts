// Cache of single threads: a change of one thread makes all pages of its account stale, but not the other threads on them.

import type { Db } from '../../db/db.ts'
import { readState } from '../rows/accounts.ts'
import { objectsChangedSince } from '../rows/changes-history.ts'
import type { Account, Thread } from '../rows/records.ts'

/** Maximum number of cached threads, about 4 KB each with their JSON; those of the least recently used accounts are evicted first. */
export const THREADS_MAX = 2000
/** After more changes than this all threads of an account are read again. */
const CHANGES_MAX = 200

interface AccountThreads {
  /** As it was when the threads were looked at last: accounts are kept in memory while nothing changes. */
  account: Account
  /** All changes up to this sequence number are taken into account. */
  seq: number
  threads: Map<number, Thread>
}

/**
 * A thread is valid until the ledger has a change of it; each change of a message or its folders is recorded as one of its thread
 * (docs/design/structure.md §2). The order of folders and their roles concern all threads: when a folder changes in more than its counts,
 * none stays.
 * Threads are shared between callers, which must not modify them.
 */
export class ThreadCache {
  readonly #db: Db
  readonly #accounts = new Map<number, AccountThreads>()
  #count = 0

  constructor(db: Db) {
    this.#db = db
  }

  /** How many threads are cached. */
  get size(): number {
    return this.#count
  }

  /**
   * The threads with these numbers; those that are not cached are read with `read`, which leaves out deleted ones.
   * @param account as read before `read` is called
   */
  threads(
    account: Account,
    numbers: readonly number[],
    read: (missing: readonly number[]) => Map<number, Thread>,
  ): Thread[] {
    const { threads } = this.#current(account)
    const missing = numbers.filter((n) => !threads.has(n))
    if (missing.length === 0) return numbers.map((n) => threads.get(n)!)
    const found = read(missing)
    const result = numbers.flatMap((n) => threads.get(n) ?? found.get(n) ?? [])
    for (const [n, thread] of found) threads.set(n, thread)
    this.#count += found.size
    if (this.#count > THREADS_MAX) this.#evict()
    return result
  }

  /** The cached threads of an account without those that changed, as the most recently used ones. */
  #current(account: Account): AccountThreads {
    const before = this.#accounts.get(account.n)
    const newest = before?.account === account ? null : newestChanges(account)
    const seq = newest === null ? before!.seq : Math.max(newest.threads, newest.folders)
    const cached = before ?? { account, seq, threads: new Map<number, Thread>() }
    cached.account = account
    this.#accounts.delete(account.n)
    this.#accounts.set(account.n, cached)
    if (newest === null) return cached
    // A request that read its account earlier finds the cache ahead of it.
    if (seq <= cached.seq) return cached
    const changed = objectsChangedSince(this.#db.read, account.n, { since: cached.seq, newest }, CHANGES_MAX)
    const isFolderAltered = changed?.some(({ type, altered }) => type === 'folders' && altered > cached.seq)
    if (changed === null || isFolderAltered) this.#clear(cached)
    else for (const { type, n } of changed) if (type === 'threads' && cached.threads.delete(n)) this.#count--
    cached.seq = seq
    return cached
  }

  #clear({ threads }: AccountThreads): void {
    this.#count -= threads.size
    threads.clear()
  }

  #evict(): void {
    for (const [n, cached] of this.#accounts) {
      if (this.#count <= THREADS_MAX) return
      this.#clear(cached)
      this.#accounts.delete(n)
    }
  }
}

/** The sequence numbers of the last change of a thread and of a folder. */
function newestChanges({ states }: Account): { threads: number; folders: number } {
  return { threads: readState('threads', states.threads) ?? 0, folders: readState('folders', states.folders) ?? 0 }
}
