// The current UIDs of folders, shared by all sessions on them: read once, then kept up to date from what was added and removed.

import type { FolderViews } from '../store/folders-views.ts'
import { type NumberRange, rangesOf } from './grammar/sets.ts'
import { subtractRanges, toRun, UidView } from './views.ts'

/** A view and what it is current as of. */
export interface CurrentView {
  view: UidView
  modSeq: number
  uidNext: number
}

interface CachedView {
  current: CurrentView
  /** Sessions on the folder. */
  users: number
}

/** With more UIDs than this to add, the folder is read again. */
const ADDED_MAX = 10_000

export class ViewCache {
  readonly #views: FolderViews
  readonly #storeRecent: (folder: number) => Promise<void>
  /** UIDs below are recent to no further session, by folder, as far as that is not stored. */
  readonly #recentFrom = new Map<number, number>()
  /** By number of the folder. */
  readonly #cached = new Map<number, CachedView>()
  readonly #loading = new Map<number, Promise<CurrentView | undefined>>()

  /** @param storeRecent stores that the messages of a folder are recent to no further session */
  constructor(views: FolderViews, storeRecent: (folder: number) => Promise<void>) {
    this.#views = views
    this.#storeRecent = storeRecent
  }

  get size(): number {
    return this.#cached.size
  }

  /** The current view of a folder; undefined when the folder does not exist (any more). */
  async current(folder: number): Promise<CurrentView | undefined> {
    const head = this.#views.head(folder)
    if (head === undefined) return undefined
    const cached = this.#cached.get(folder)
    const updated = cached === undefined ? null : this.#updated(folder, cached.current, head)
    if (cached !== undefined && updated !== null) {
      cached.current = updated
      return updated
    }
    // Sessions that need the same folder at the same time share one scan.
    const loading = this.#loading.get(folder) ?? this.#load(folder)
    this.#loading.set(folder, loading)
    return loading
  }

  /** Keeps the view of a folder while a session has it selected. @returns ends it */
  hold(folder: number, current: CurrentView): () => void {
    const cached = this.#cached.get(folder) ?? { current, users: 0 }
    cached.users++
    this.#cached.set(folder, cached)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      cached.users--
      if (cached.users > 0) return
      this.#cached.delete(folder)
      if (this.#recentFrom.has(folder)) void this.#endRecent(folder)
    }
  }

  /**
   * Makes the messages from a UID up to UIDNEXT recent to the session that asks first.
   * @returns the first of them that are recent to it
   */
  takeRecent(folder: number, from: number, uidNext: number): number {
    const first = this.recentFrom(folder, from)
    if (first < uidNext) this.#recentFrom.set(folder, uidNext)
    return first
  }

  /** From which UID on messages are recent to the next session. @param stored as the store has it */
  recentFrom(folder: number, stored: number): number {
    return Math.max(stored, this.#recentFrom.get(folder) ?? 0)
  }

  /** Stores what is recent to no further session; until then it is kept here. */
  async #endRecent(folder: number): Promise<void> {
    const from = this.#recentFrom.get(folder)
    await this.#storeRecent(folder)
    if (this.#recentFrom.get(folder) === from && !this.#cached.has(folder)) this.#recentFrom.delete(folder)
  }

  async #load(folder: number): Promise<CurrentView | undefined> {
    try {
      const loaded = await this.#views.view(folder)
      if (loaded === undefined) return undefined
      const current = { view: UidView.of(loaded), modSeq: loaded.modSeq, uidNext: loaded.uidNext }
      const cached = this.#cached.get(folder)
      if (cached !== undefined && cached.current.modSeq < current.modSeq) cached.current = current
      return current
    } finally {
      this.#loading.delete(folder)
    }
  }

  /** @returns null when reading the folder again is cheaper, or what left it is not known */
  #updated(folder: number, current: CurrentView, head: { modSeq: number; uidNext: number }): CurrentView | null {
    if (head.modSeq === current.modSeq) return current
    const added = head.uidNext - current.uidNext
    if (added > ADDED_MAX) return null
    const removed = this.#views.expungedSince(folder, current.modSeq)
    if (removed === null) return null
    // Another thread may have committed since `head` was read: what is read twice is the same.
    const from = { first: current.uidNext, last: 2 ** 32 - 1 }
    const entries = added === 0 ? [] : this.#views.entries(folder, [from], ADDED_MAX)
    const gone = removed.map(({ first, last }): NumberRange => [first, last])
    const left = gone.length === 0 ? current.view.ranges() : subtractRanges(current.view.ranges(), gone)
    const last = current.view.lastUid
    const tail = rangesOf(entries.map(({ uid }) => uid).filter((uid) => uid > last))
    const view = gone.length === 0 && tail.length === 0 ? current.view : new UidView([...left, ...tail].map(toRun))
    return { view, ...head }
  }
}
