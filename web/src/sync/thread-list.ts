// One list of threads with random access: ids by position in pages that are asked for when they come into view, kept in order by the
// server's own account of what changed.

import { signal } from '@preact/signals'
import type { Api } from '../api/client.ts'
import { type ApiError, toApiError } from '../api/errors.ts'
import { readListChanges, readThreadPage, readThreads, type ThreadFilter, type ThreadPage } from '../api/mail.ts'
import type { ThreadRecords } from './records.ts'

export const PAGE = 100
/** Requests of one list that are under way at a time. */
const MOST_ASKED = 4

/** A page that is read for all ids is asked for this often while the list changes. */
const MOST_TURNS = 5

/** Removed ids with the places they had, to be put back when the change is refused. */
type Removed = { id: string; index: number }[]

export class ThreadList {
  readonly filter: ThreadFilter
  /** Length of the list; null before it is known. */
  readonly total = signal<number | null>(null)
  /** Changes when ids or their places change. */
  readonly version = signal(0)
  readonly error = signal<ApiError | null>(null)
  readonly #api: Api
  readonly #records: ThreadRecords
  /** Holes are places that were not read. */
  #ids: (string | undefined)[] = []
  #queryState: string | null = null
  readonly #asked = new Map<number, AbortController>()
  #following: Promise<void> | null = null
  /** Threads that a change under way took out: the server still lists them. */
  readonly #taken = new Set<string>()
  /** Told the state of the threads with the first page. */
  readonly #onState: (state: string) => void

  constructor(api: Api, records: ThreadRecords, filter: ThreadFilter, onState: (state: string) => void) {
    this.#api = api
    this.#records = records
    this.filter = filter
    this.#onState = onState
  }

  idAt(index: number): string | undefined {
    return this.#ids[index]
  }

  /** -1 when it is not among the places that were read. */
  indexOf(id: string): number {
    return this.#ids.indexOf(id)
  }

  /** Asks for what is missing between two places; requests for pages out of view are ended. */
  show(first: number, last: number): void {
    const pages: number[] = []
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page++) pages.push(page)
    for (const [page, request] of this.#asked) {
      if (!pages.includes(page) && this.#asked.size >= MOST_ASKED) request.abort()
    }
    for (const page of pages) if (this.#isMissing(page) && !this.#asked.has(page)) void this.#ask(page)
  }

  /** Reads the page of a place. @returns what is there */
  async showThen(index: number): Promise<string | undefined> {
    const page = Math.floor(index / PAGE)
    if (this.#isMissing(page) && !this.#asked.has(page)) await this.#ask(page)
    return this.#ids[index]
  }

  /** The ids of the list in its order; pages that were not read are. @param most of the list @throws ApiError */
  async firstIds(most: number): Promise<string[]> {
    const end = () => Math.min(most, this.total.peek() ?? 0)
    for (let page = 0; page * PAGE < end(); page++) {
      for (let turn = 0; turn < MOST_TURNS && this.#isMissing(page); turn++) {
        await this.showThen(page * PAGE)
        // The list may have changed under the page: then it is asked for again.
        await this.#following
      }
      if (this.error.peek() !== null) throw this.error.peek()
    }
    return this.#ids.slice(0, end()).filter((id) => id !== undefined)
  }

  /** Whether a place of a page within the list was not read. */
  #isMissing(page: number): boolean {
    if (this.#queryState === null) return page === 0 || this.total.value === null
    const end = Math.min(this.total.value ?? 0, (page + 1) * PAGE)
    for (let index = page * PAGE; index < end; index++) if (this.#ids[index] === undefined) return true
    return false
  }

  async #ask(page: number): Promise<void> {
    const request = new AbortController()
    this.#asked.set(page, request)
    try {
      const place = { position: page * PAGE }
      const part = await readThreadPage(this.#api, this.filter, place, PAGE, request.signal)
      this.#take(part)
    } catch (error) {
      if (!request.signal.aborted) this.error.value = toApiError(error)
    } finally {
      this.#asked.delete(page)
    }
  }

  #take({ items, queryState, state, total, position }: ThreadPage): void {
    // The page was read before a change: it is asked for again after it.
    if (items.some(({ id }) => this.#taken.has(id))) return
    if (this.#queryState === null) {
      this.#queryState = queryState
      this.#onState(state)
    } else if (this.#queryState !== queryState) {
      // It is a page of another state of the list: the changes come first, then the page is asked for again.
      void this.follow()
      return
    }
    this.#records.put(items)
    this.error.value = null
    if (total !== null) this.total.value = total
    else this.total.value ??= position + items.length
    for (const [index, { id }] of items.entries()) this.#ids[position + index] = id
    this.version.value++
  }

  /** Follows what changed at the server since the last answer. */
  follow(): Promise<void> {
    this.#following ??= this.#follow().finally(() => {
      this.#following = null
    })
    return this.#following
  }

  async #follow(): Promise<void> {
    const since = this.#queryState
    if (since === null) return
    try {
      const changes = await readListChanges(this.#api, this.filter, since)
      const isAdded = new Set(changes.added.map(({ id }) => id))
      // All are removed, also after an unknown one.
      const unknown = changes.removed.filter(
        (id) => this.#remove(id) === null && !isAdded.has(id) && !this.#taken.delete(id),
      )
      if (unknown.length > 0) this.#keepFirstRun()
      await this.#readUnknown(changes.added.map(({ id }) => id))
      for (const { id, index } of [...changes.added].sort((a, b) => a.index - b.index)) {
        this.#remove(id)
        // What is not known is a hole, which is read when it comes into view.
        if (index <= this.#ids.length) this.#ids.splice(index, 0, this.#records.has(id) ? id : undefined)
      }
      this.#queryState = changes.new_query_state
      this.total.value = changes.total
      this.#ids.length = Math.min(this.#ids.length, changes.total)
      this.version.value++
    } catch (error) {
      if (toApiError(error).status !== 409) throw error
      await this.reload()
    }
  }

  async #readUnknown(ids: readonly string[]): Promise<void> {
    const unknown = ids.filter((id) => !this.#records.has(id)).slice(0, PAGE)
    if (unknown.length > 0) this.#records.put((await readThreads(this.#api, unknown)).list)
  }

  /** Reads the list again; what is shown stays until the answer. */
  async reload(): Promise<void> {
    const page = await readThreadPage(this.#api, this.filter, { position: 0 }, PAGE)
    this.#ids = []
    this.#taken.clear()
    this.#queryState = page.queryState
    this.#onState(page.state)
    this.total.value = page.total
    this.#take(page)
  }

  #remove(id: string): number | null {
    const index = this.#ids.indexOf(id)
    if (index < 0) return null
    this.#ids.splice(index, 1)
    return index
  }

  /** A thread left a part that was not read: places behind it are not known any more. */
  #keepFirstRun(): void {
    let end = 0
    while (end < this.#ids.length && this.#ids[end] !== undefined) end++
    this.#ids.length = end
  }

  /** Takes threads out before the server has answered. @returns puts them back */
  take(ids: ReadonlySet<string>): () => void {
    const removed: Removed = []
    const rest: (string | undefined)[] = []
    for (let index = 0; index < this.#ids.length; index++) {
      const id = this.#ids[index]
      if (id === undefined || !ids.has(id)) rest.push(id)
      else removed.push({ id, index })
    }
    if (removed.length === 0) return () => {}
    this.#ids = rest
    for (const { id } of removed) this.#taken.add(id)
    if (this.total.value !== null) this.total.value -= removed.length
    this.version.value++
    return () => this.#putBack(removed)
  }

  #putBack(removed: Removed): void {
    for (const { id, index } of removed) {
      this.#taken.delete(id)
      if (this.#ids.includes(id)) continue
      this.#ids.splice(index, 0, id)
      if (this.total.value !== null) this.total.value++
    }
    this.version.value++
  }
}
