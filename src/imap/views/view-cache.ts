// The current UIDs of folders, shared by all sessions on them: read once, then kept up to date from what was added and removed.

import type { Clock, Timer } from '../../base/clock.ts'
import type { NumberRange } from '../../base/number-ranges.ts'
import { RowCache, type WatchedDb } from '../../db/row-cache.ts'
import type { FolderViews } from '../../store/entries/folders-views.ts'
import { rangesOf } from '../grammar/sets.ts'
import { subtractRanges, toRun, UidView } from './views.ts'

/** A view and what it is current as of. */
export interface CurrentView {
  view: UidView
  modSeq: number
  uidNext: number
}

/** What changes with every change of a folder. */
type FolderHead = Pick<CurrentView, 'modSeq' | 'uidNext'>

interface CachedView {
  current: CurrentView
  /** Sessions on the folder. */
  users: number
  /** Drops it, when no session has been on the folder for a minute. */
  dropping: Timer | null
}

/** How long a view without sessions is kept, ms, and how many of them. */
export const IDLE_VIEW_MS = 60_000
export const IDLE_VIEWS_MAX = 100

/** Folders whose modification number is kept while nothing is committed. */
const HEADS_MAX = 1000

/** With more UIDs than this to add, the folder is read again. */
const ADDED_MAX = 5000

export class ViewCache {
  readonly #views: FolderViews
  readonly #clock: Pick<Clock, 'after'>
  /** Commands that follow each other in a turn of the event loop look at the same folder. */
  readonly #heads: RowCache<number, FolderHead>
  readonly #storeRecent: (folder: number) => Promise<void>
  /** UIDs below are recent to no further session, by folder, as far as that is not stored. */
  readonly #recentFrom = new Map<number, number>()
  /** By number of the folder. */
  readonly #cached = new Map<number, CachedView>()
  readonly #loading = new Map<number, Promise<CurrentView | undefined>>()

  /** @param db of the views @param storeRecent stores that the messages of a folder are recent to no further session */
  constructor(
    { views, db, clock }: { views: FolderViews; db: WatchedDb; clock: Pick<Clock, 'after'> },
    storeRecent: (folder: number) => Promise<void>,
  ) {
    this.#views = views
    this.#heads = new RowCache(db, HEADS_MAX)
    this.#clock = clock
    this.#storeRecent = storeRecent
  }

  get size(): number {
    return this.#cached.size
  }

  /** The current view of a folder; undefined when the folder does not exist (any more). */
  async current(folder: number): Promise<CurrentView | undefined> {
    const head = this.#heads.get(folder, () => this.#views.head(folder))
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
    const cached = this.#cached.get(folder) ?? { current, users: 0, dropping: null }
    cached.users++
    cached.dropping?.cancel()
    cached.dropping = null
    this.#cached.set(folder, cached)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      cached.users--
      if (cached.users > 0) return
      this.#keepIdle(folder, cached)
      if (this.#recentFrom.has(folder)) void this.#endRecent(folder)
    }
  }

  /** Keeps a view for the program that comes back soon. */
  #keepIdle(folder: number, cached: CachedView): void {
    cached.dropping = this.#clock.after(IDLE_VIEW_MS, () => this.#cached.delete(folder))
    // The last one to become idle is the last one in the map.
    this.#cached.delete(folder)
    this.#cached.set(folder, cached)
    const idle = [...this.#cached].filter(([, { users }]) => users === 0)
    for (const [oldest, { dropping }] of idle.slice(0, Math.max(0, idle.length - IDLE_VIEWS_MAX))) {
      dropping?.cancel()
      this.#cached.delete(oldest)
    }
  }

  /** Drops the views without sessions. */
  close(): void {
    for (const [folder, { dropping }] of this.#cached) {
      dropping?.cancel()
      if (dropping !== null) this.#cached.delete(folder)
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
    if (this.#recentFrom.get(folder) === from && !this.#cached.get(folder)?.users) this.#recentFrom.delete(folder)
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
  #updated(folder: number, current: CurrentView, head: FolderHead): CurrentView | null {
    // The head may be older: it is kept for a turn of the event loop, while the folder is read in another thread.
    if (head.modSeq <= current.modSeq) return current
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
    const view = gone.length === 0 && tail.length === 0 ? current.view : UidView.ofRuns([...left, ...tail].map(toRun))
    return { view, ...head }
  }
}
