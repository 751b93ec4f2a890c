// Pages of lists that were shown, kept while nothing in their account changes: clients ask for the same list again and again.

import type { Accounts } from './accounts.ts'
import type { Account, Page } from './records.ts'

/** Entries kept in all, some 2 KB each; the pages asked for longest ago go first. */
export const ENTRIES_KEPT = 4000

interface Kept<T> {
  /** The account's counter before the page was read. */
  seq: number
  page: Promise<Page<T>>
  entries: number
}

/**
 * The counter of an account moves with every change of what its lists show (architecture §5), so a page is the same as long as the
 * counter is. Pages are shared: nobody may change them.
 */
export class PageCache<T> {
  readonly #accounts: Accounts
  readonly #kept = new Map<string, Kept<T>>()
  #entries = 0

  constructor(accounts: Accounts) {
    this.#accounts = accounts
  }

  /**
   * The page that answers `asked` (plain values that say all there is to a list), read anew with `read` when it has to be. Who asks
   * for the same while it is read waits for the same.
   */
  async page(account: Account, asked: unknown, read: () => Promise<Page<T>>): Promise<Page<T>> {
    const key = `${account.n} ${JSON.stringify(asked)}`
    const seq = await this.#accounts.seq(account)
    const known = this.#kept.get(key)
    this.#drop(key)
    if (known?.seq === seq) {
      this.#keep(key, known)
      return known.page
    }
    const fresh: Kept<T> = { seq, page: read(), entries: 0 }
    this.#keep(key, fresh)
    try {
      const page = await fresh.page
      this.#count(key, fresh, page.items.length + 1)
      return page
    } catch (error) {
      if (this.#kept.get(key) === fresh) this.#drop(key)
      throw error
    }
  }

  #count(key: string, kept: Kept<T>, entries: number): void {
    if (this.#kept.get(key) !== kept) return
    kept.entries = entries
    this.#entries += entries
    for (const oldest of this.#kept.keys()) {
      if (this.#entries <= ENTRIES_KEPT) return
      this.#drop(oldest)
    }
  }

  #keep(key: string, kept: Kept<T>): void {
    this.#kept.set(key, kept)
    this.#entries += kept.entries
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (!kept) return
    this.#kept.delete(key)
    this.#entries -= kept.entries
  }
}
