// A cache of presented pages: clients request the same lists again and again while nothing changes.

import type { Page } from '../../store/rows/records.ts'

interface Shown {
  state: string
  presented: unknown
}

const shown = new WeakMap<Page<never>, Shown>()

/**
 * Presents a page, or returns the earlier result for the same page and state. The store caches pages while their account does not
 * change (store/rows/page-cache.ts); `present` renders or freezes its result, so that its text is kept as well (http/json-text.ts).
 */
export function presentOnce<T, P>(page: Page<T>, state: string, present: (items: readonly T[]) => P): P {
  const key = page as Page<never>
  const before = shown.get(key)
  if (before?.state === state) return before.presented as P
  const presented = present(page.items)
  shown.set(key, { state, presented })
  return presented
}
