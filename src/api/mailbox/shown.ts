// A cache of presented pages: clients request the same lists again and again while nothing changes.

import type { Page } from '../../store/records.ts'

interface Shown {
  state: string
  items: readonly unknown[]
}

const shown = new WeakMap<Page<never>, Shown>()

/**
 * Presents a page, or returns the earlier result for the same page and state. The store caches pages while their account does not
 * change (store/page-cache.ts); `present` freezes its result, so that the HTTP layer keeps its text as well (http/json-text.ts).
 */
export function presentOnce<T, J>(
  page: Page<T>,
  state: string,
  present: (items: readonly T[]) => readonly J[],
): readonly J[] {
  const key = page as Page<never>
  const before = shown.get(key)
  if (before?.state === state) return before.items as readonly J[]
  const items = present(page.items)
  shown.set(key, { state, items })
  return items
}
