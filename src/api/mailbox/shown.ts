// A cache of presented pages: clients request the same lists again and again while nothing changes.

import type { Page } from '../../store/records.ts'

interface Shown {
  state: string
  items: readonly unknown[]
}

const shown = new WeakMap<Page<never>, Shown>()

/**
 * Presents a page, or returns the earlier result for the same page and state. The store caches pages while their account does not
 * change (store/kept-pages.ts); frozen items let the HTTP layer cache their text as well.
 */
export function presentOnce<T>(page: Page<T>, state: string, present: (item: T) => unknown): readonly unknown[] {
  const key = page as Page<never>
  const before = shown.get(key)
  if (before?.state === state) return before.items
  const items = Object.freeze(page.items.map(present))
  shown.set(key, { state, items })
  return items
}
