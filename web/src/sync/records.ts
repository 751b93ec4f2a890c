// The threads that are known, one signal each: what the server said, with the changes that wait for its answer applied over it.

import { type Signal, signal } from '@preact/signals'
import type { Thread } from '../api/types.ts'

/** More are forgotten, those that were not asked for the longest time first. */
const MOST_KEPT = 20_000

/** How one change that is under way makes threads look. */
export interface Patch {
  ids: ReadonlySet<string>
  apply(thread: Thread): Thread
}

export class ThreadRecords {
  readonly #said = new Map<string, Thread>()
  readonly #shown = new Map<string, Signal<Thread | undefined>>()
  readonly #patches: Patch[] = []

  /** A thread as it is shown; undefined while it is not known. */
  get(id: string): Signal<Thread | undefined> {
    const known = this.#shown.get(id)
    if (known !== undefined) return known
    const shown = signal<Thread | undefined>(undefined)
    this.#shown.set(id, shown)
    return shown
  }

  has(id: string): boolean {
    return this.#said.has(id)
  }

  /** Takes what the server said. */
  put(threads: readonly Thread[]): void {
    for (const thread of threads) {
      this.#said.delete(thread.id)
      this.#said.set(thread.id, thread)
      this.#show(thread.id)
    }
    for (const id of this.#said.keys()) {
      if (this.#said.size <= MOST_KEPT) break
      this.#said.delete(id)
      this.#shown.delete(id)
    }
  }

  addPatch(patch: Patch): void {
    this.#patches.push(patch)
    for (const id of patch.ids) this.#show(id)
  }

  removePatch(patch: Patch): void {
    const at = this.#patches.indexOf(patch)
    if (at >= 0) this.#patches.splice(at, 1)
    for (const id of patch.ids) this.#show(id)
  }

  #show(id: string): void {
    const said = this.#said.get(id)
    if (said === undefined) return
    const patches = this.#patches.filter(({ ids }) => ids.has(id))
    this.get(id).value = patches.reduce((thread, patch) => patch.apply(thread), said)
  }
}
