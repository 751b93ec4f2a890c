// Cache of list pages, valid until the account changes: clients request the same lists repeatedly.

import type { Accounts } from './accounts.ts'
import type { Account, Page } from './records.ts'

/** Maximum number of cached entries, about 2 KB each; the least recently used pages are evicted first. */
export const ENTRIES_MAX = 4000

interface CachedPage<T> {
  /** Sequence number of the account before the page was read. */
  seq: number
  page: Promise<Page<T>>
  entries: number
}

/**
 * The sequence number of an account changes with everything its lists show (docs/design/structure.md §2), so a page is valid as long as the number
 * is unchanged. Pages are shared between callers, which must not modify them.
 */
export class PageCache<T> {
  readonly #accounts: Accounts
  readonly #cached = new Map<string, CachedPage<T>>()
  #entries = 0

  constructor(accounts: Accounts) {
    this.#accounts = accounts
  }

  /**
   * Returns the cached page of a request, or reads it with `read`. Concurrent requests for the same page share one read.
   * @param request plain values that identify the list and the page
   */
  async page(account: Account, request: unknown, read: () => Promise<Page<T>>): Promise<Page<T>> {
    const key = `${account.n} ${JSON.stringify(request)}`
    const seq = this.#accounts.seq(account)
    const cached = this.#cached.get(key)
    this.#evict(key)
    if (cached?.seq === seq) {
      this.#store(key, cached)
      return cached.page
    }
    const fresh: CachedPage<T> = { seq, page: read(), entries: 0 }
    this.#store(key, fresh)
    try {
      const page = await fresh.page
      this.#count(key, fresh, page.items.length + 1)
      return page
    } catch (error) {
      if (this.#cached.get(key) === fresh) this.#evict(key)
      throw error
    }
  }

  #count(key: string, page: CachedPage<T>, entries: number): void {
    if (this.#cached.get(key) !== page) return
    page.entries = entries
    this.#entries += entries
    for (const oldest of this.#cached.keys()) {
      if (this.#entries <= ENTRIES_MAX) return
      this.#evict(oldest)
    }
  }

  #store(key: string, page: CachedPage<T>): void {
    this.#cached.set(key, page)
    this.#entries += page.entries
  }

  #evict(key: string): void {
    const page = this.#cached.get(key)
    if (!page) return
    this.#cached.delete(key)
    this.#entries -= page.entries
  }
}
