// Notifies sessions of annotations that another session of their mailbox has set: NOTIFY announces them (RFC 5465 §5.6 and §5.7).

import type { Account } from '../../store/rows/records.ts'

/** What SETMETADATA has changed. */
export interface AnnotationChange {
  /** Number of the folder; null for the server: the annotations of the mailbox itself. */
  folder: number | null
  entries: readonly string[]
  /** The session that did it. */
  by: object
}

export type AnnotationListener = (change: AnnotationChange) => void

/** Annotations are changed by mail programs alone, so that nothing is stored of their changes. */
export class AnnotationChanges {
  /** By number of the account; only those that are watched. */
  readonly #listeners = new Map<number, Set<AnnotationListener>>()

  /** @returns ends it */
  subscribe({ n }: Pick<Account, 'n'>, listener: AnnotationListener): () => void {
    const listeners = this.#listeners.get(n) ?? new Set()
    this.#listeners.set(n, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(n) === listeners) this.#listeners.delete(n)
    }
  }

  changed({ n }: Pick<Account, 'n'>, change: AnnotationChange): void {
    for (const listener of this.#listeners.get(n) ?? []) listener(change)
  }
}
