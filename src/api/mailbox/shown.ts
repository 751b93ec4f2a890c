// What was shown of a page, kept as long as the page is: lists are asked for again and again while nothing changes.

import type { Page } from '../../store/records.ts'

interface Shown {
  state: string
  items: readonly unknown[]
}

const shown = new WeakMap<Page<never>, Shown>()

/**
 * Presents a page, or gives what it gave before for the same page and state. The store keeps pages while their account stands
 * still (store/kept-pages.ts); frozen items let the surface keep their text as well.
 */
export function presentOnce<T>(page: Page<T>, state: string, present: (item: T) => unknown): readonly unknown[] {
  const key = page as Page<never>
  const before = shown.get(key)
  if (before?.state === state) return before.items
  const items = Object.freeze(page.items.map(present))
  shown.set(key, { state, items })
  return items
}
